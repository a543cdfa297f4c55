#include <QtTest>
#include <atomic>

#include "app/transfer/import_conversations.h"

using namespace glmchat;
using What = ImportReport::What;

namespace {

qint64 count(const ImportReport& report, What what, const QString& name = {}) {
    for (const ImportReport::Entry& entry : report.entries) {
        if (entry.what == what && entry.name == name) return entry.count;
    }
    return 0;
}

ImportResult import(const QByteArray& json) {
    auto result = importConversations(json, QStringLiteral("file.json"));
    if (!result) qWarning("%s", qUtf8Printable(result.error().message));
    return result.value_or(ImportResult{});
}

QStringList activeTexts(const ConversationDocument& conversation) {
    QStringList texts;
    for (const qsizetype row : activePath(conversation)) texts << conversation.messages[row].text;
    return texts;
}

}  // namespace

class TestTransferImport : public QObject {
    Q_OBJECT

  private slots:
    void oneListOfMessages() {
        const ImportResult result = import(R"([{"role":"system","content":"Be brief."},
            {"role":"user","content":"你好\n第二行"},{"role":"assistant","content":"Hello"},
            {"role":"system","content":"Later."},{"role":"tool","content":"42","tool_call_id":"t"},
            {"role":"assistant","content":null,"tool_calls":[{"id":"t"}]},
            {"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"x"}},
                                      {"type":"input_text","text":"b"}]}])");
        QCOMPARE(result.conversations.size(), 1);
        const ConversationDocument& conversation = result.conversations.first();
        QCOMPARE(conversation.systemPrompt, QStringLiteral("Be brief."));
        QCOMPARE(conversation.title, QStringLiteral("你好 第二行"));
        QCOMPARE(activeTexts(conversation), (QStringList{"你好\n第二行", "Hello", "a\nb"}));
        QCOMPARE(conversation.messages[1].role, DocumentRole::Assistant);
        QCOMPARE(count(result.report, What::LaterSystemPrompt), 1);
        QCOMPARE(count(result.report, What::DroppedMessage, "tool"), 1);
        QCOMPARE(count(result.report, What::DroppedField, "message.tool_call_id"), 1);
        QCOMPARE(count(result.report, What::DroppedField, "message.tool_calls"), 1);
        QCOMPARE(count(result.report, What::EmptyMessage), 1);
        QCOMPARE(count(result.report, What::DroppedPart, "image_url"), 1);
    }

    void manyLists_data() {
        QTest::addColumn<QByteArray>("json");
        const auto row = [](const char* name, QByteArray json) {
            QTest::newRow(name) << json.replace('\'', '"');
        };
        row("lists in a list", "[[{'role':'user','content':'a'}],[{'role':'user','content':'b'}]]");
        row("objects in a list",
            "[{'messages':[{'role':'user','content':'a'}]},{'messages':[{'role':'user','content':'b'}]}]");
        row("objects, one per line",
            "{'messages':[{'role':'user','content':'a'}]}\n{'messages':[{'role':'user','content':'b'}]}\n");
        row("ShareGPT",
            "[{'id':'1','conversations':[{'from':'human','value':'a'}]},"
            "{'conversations':[{'from':'human','value':'b'}]}]");
        row("lists in an object",
            "{'conversations':[[{'role':'user','content':'a'}],{'messages':[{'role':'user','content':'b'}]}]"
            "}");
    }

    void manyLists() {
        QFETCH(QByteArray, json);
        const ImportResult result = import(json);
        QCOMPARE(result.conversations.size(), 2);
        QCOMPARE(activeTexts(result.conversations[0]), QStringList{"a"});
        QCOMPARE(activeTexts(result.conversations[1]), QStringList{"b"});
        QVERIFY(result.report.entries.isEmpty());
        QVERIFY(result.conversations[0].id != result.conversations[1].id);
    }

    void shareGptInOneObject() {
        const ImportResult result = import(R"({"id":"abc","system":"S","dataset":"d","conversations":[
            {"from":"human","value":"问"},{"from":"gpt","value":"答","weight":1},{"from":"function_call","value":"{}"}]})");
        QCOMPARE(result.conversations.size(), 1);
        QCOMPARE(result.conversations.first().id, QStringLiteral("abc"));
        QCOMPARE(result.conversations.first().systemPrompt, QStringLiteral("S"));
        QCOMPARE(activeTexts(result.conversations.first()), (QStringList{"问", "答"}));
        QCOMPARE(count(result.report, What::DroppedField, "conversation.dataset"), 1);
        QCOMPARE(count(result.report, What::DroppedField, "message.weight"), 1);
        QCOMPARE(count(result.report, What::DroppedMessage, "function_call"), 1);
    }

    void chatGptTree() {
        const ImportResult result = import(chatGptFile());
        QCOMPARE(result.conversations.size(), 1);
        const ConversationDocument& conversation = result.conversations.first();
        QCOMPARE(conversation.id, QStringLiteral("conv-1"));
        QCOMPARE(conversation.title, QStringLiteral("树"));
        QCOMPARE(conversation.createdMs, 1700000000250);
        QCOMPARE(conversation.systemPrompt, QStringLiteral("You are kind."));
        QCOMPARE(conversation.messages.size(), 4);
        QCOMPARE(activeTexts(conversation), (QStringList{"Q\nsecond part", "A2", "thanks"}));
        QCOMPARE(conversation.messages[2].answer->modelName, QStringLiteral("gpt-4"));
        const QList<SiblingPlace> places = siblingPlaces(conversation);
        QCOMPARE(places[1].count, 2);
        QCOMPARE(places[2].index, 1);
        QVERIFY(!conversation.messages[1].active);
        QCOMPARE(count(result.report, What::DroppedPart, "image_asset_pointer"), 1);
        QCOMPARE(count(result.report, What::DroppedMessage, "tool"), 1);
        QCOMPARE(count(result.report, What::DroppedMessage, "hidden"), 1);
        QCOMPARE(count(result.report, What::DroppedMessage, "to python"), 1);
        QCOMPARE(count(result.report, What::DroppedField, "conversation.gizmo_id"), 1);
    }

    void chatGptInCirclesEnds() {
        const ImportResult result = import(R"([{"title":"t","current_node":"a","mapping":{
            "a":{"parent":"b","children":["b"],"message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["x"]}}},
            "b":{"parent":"a","children":["a"]},"r":{"children":["r","r","gone"]}}}])");
        QCOMPARE(result.conversations.size(), 1);
        QCOMPARE(count(result.report, What::LostParent), 2);
    }

    void otherJsonIsRefused_data() {
        QTest::addColumn<QByteArray>("json");
        for (const char* json : {"{}", "[]", "3", "\"text\"", "[1,2,[3]]", "{\"conversations\":3}",
                                 "[{\"name\":\"x\",\"value\":1}]"}) {
            QTest::newRow(json) << QByteArray(json);
        }
    }

    void otherJsonIsRefused() {
        QFETCH(QByteArray, json);
        const auto result = importConversations(json, QStringLiteral("file.json"));
        QVERIFY(!result);
        QCOMPARE(result.error().kind, TransferError::Kind::NoConversations);
        QVERIFY(result.error().message.contains("file.json"));
    }

    void filesThatCannotBeRead() {
        const QTemporaryDir folder;
        for (const QString& path : {folder.filePath("没有.json"), folder.path()}) {
            const auto result = importFile(path);
            QVERIFY(!result);
            QCOMPARE(result.error().kind, TransferError::Kind::CannotRead);
            QVERIFY(result.error().message.contains(path));
        }
        QFile big(folder.filePath("big.json"));
        QVERIFY(big.open(QIODevice::WriteOnly) && big.resize(kMaxImportBytes + 1));  // sparse
        const auto result = importFile(big.fileName());
        QVERIFY(!result);
        QCOMPARE(result.error().kind, TransferError::Kind::TooBig);
    }

    void bigFilesTellProgressAndStop() {
        QByteArray json = "[";
        const QByteArray element =
            "{\"messages\":[{\"role\":\"user\",\"content\":\"" + QByteArray(10'000, 'x') + "\"}]},";
        for (int i = 0; i < 1000; ++i) json += element;
        json.back() = ']';
        qint64 last = -1;
        bool grows = true;
        const auto result = importConversations(json, {}, {}, [&](qint64 done, qint64 total) {
            grows = grows && done > last && total == json.size();
            last = done;
        });
        QVERIFY(result && grows && last > json.size() / 2);
        QCOMPARE(result->conversations.size(), 1000);

        std::stop_source source;
        const auto stopped = importConversations(json, {}, source.get_token(), [&](qint64 done, qint64) {
            if (done > 1'000'000) source.request_stop();
        });
        QVERIFY(!stopped);
        QCOMPARE(stopped.error().kind, TransferError::Kind::Cancelled);
    }

  private:
    static QByteArray chatGptFile() {
        return R"json([{"title":"树","create_time":1700000000.25,"update_time":1700000100,"conversation_id":"conv-1",
        "gizmo_id":"g","moderation_results":[],"is_archived":false,"current_node":"n6","mapping":{
        "root":{"id":"root","message":null,"parent":null,"children":["sys"]},
        "sys":{"id":"sys","parent":"root","children":["n1"],"message":{"author":{"role":"system"},
            "content":{"content_type":"text","parts":["You are kind."]},"metadata":{}}},
        "n1":{"id":"n1","parent":"sys","children":["a1","hid"],"message":{"author":{"role":"user"},
            "create_time":1700000001,"content":{"content_type":"multimodal_text",
            "parts":[{"content_type":"image_asset_pointer"},"Q","second part"]}}},
        "a1":{"id":"a1","parent":"n1","children":[],"message":{"author":{"role":"assistant"},
            "content":{"content_type":"text","parts":["A1"]},"recipient":"all"}},
        "hid":{"id":"hid","parent":"n1","children":["call"],"message":{"author":{"role":"user"},
            "content":{"content_type":"text","parts":["secret"]},
            "metadata":{"is_visually_hidden_from_conversation":true}}},
        "call":{"id":"call","parent":"hid","children":["tool"],"message":{"author":{"role":"assistant"},
            "content":{"content_type":"code","text":"print(1)"},"recipient":"python"}},
        "tool":{"id":"tool","parent":"call","children":["a2"],"message":{"author":{"role":"tool","name":"python"},
            "content":{"content_type":"text","parts":["1"]}}},
        "a2":{"id":"a2","parent":"tool","children":["n6"],"message":{"author":{"role":"assistant"},
            "content":{"content_type":"text","parts":["A2"]},"metadata":{"model_slug":"gpt-4"}}},
        "n6":{"id":"n6","parent":"a2","children":[],"message":{"author":{"role":"user"},
            "content":{"content_type":"text","parts":["thanks"]}}}}}])json";
    }
};

QTEST_GUILESS_MAIN(TestTransferImport)
#include "tst_transfer_import.moc"
