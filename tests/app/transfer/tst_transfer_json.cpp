#include <QtTest>
#include <random>

#include "tests/app/transfer/sample_conversations.h"

#include "app/transfer/document_json.h"
#include "app/transfer/import_conversations.h"
#include "app/transfer/json_reader.h"

using namespace glmchat;
using What = ImportReport::What;

namespace {

constexpr unsigned kSeed = 20240607;
constexpr int kNumConversations = 400;

QByteArray exported(const ConversationDocument& conversation) {
    return toJson({&conversation, 1}, QStringLiteral("0.1.0"));
}

ConversationDocument imported(const QByteArray& json) {
    const auto result = importConversations(json, QStringLiteral("test.json"));
    if (!result) qWarning("%s", qUtf8Printable(result.error().message));
    return result && result->conversations.size() == 1 ? result->conversations.first()
                                                       : ConversationDocument{};
}

bool isUtf8(const QByteArray& bytes) {
    QStringDecoder decoder(QStringDecoder::Utf8);
    const QString text = decoder(bytes);
    return !text.isEmpty() && !decoder.hasError();
}

qint64 count(const ImportReport& report, What what, const QString& name = {}) {
    qint64 sum = 0;
    for (const ImportReport::Entry& entry : report.entries) {
        if (entry.what == what && (name.isEmpty() || entry.name == name)) sum += entry.count;
    }
    return sum;
}

}  // namespace

class TestTransferJson : public QObject {
    Q_OBJECT

  private slots:
    void roundTripIsIdentical() {
        std::mt19937 random(kSeed);
        for (int i = 0; i < kNumConversations; ++i) {
            const ConversationDocument original = test::randomConversation(random);
            const QByteArray json = exported(original);
            QVERIFY2(isUtf8(json), qPrintable(QString::number(i)));
            const ConversationDocument back = imported(json);
            QVERIFY2(back == original, qPrintable(QString::number(i)));
            QVERIFY2(exported(back) == json, qPrintable(QString::number(i)));
        }
    }

    void severalConversationsKeepTheirOrder() {
        std::mt19937 random(kSeed + 1);
        QList<ConversationDocument> conversations;
        for (int i = 0; i < 20; ++i) conversations << test::randomConversation(random);
        const auto result = importConversations(toJson(conversations, {}), {});
        QVERIFY(result);
        QVERIFY(result->conversations == conversations);
    }

    void anEmptyFileOfOursIsEmpty() {
        const auto result = importConversations(toJson({}, QStringLiteral("1")), {});
        QVERIFY(result);
        QVERIFY(result->conversations.isEmpty());
        QVERIFY(result->report.entries.isEmpty());
    }

    void aLineOfOneMegabyte() {
        ConversationDocument conversation = test::sampleConversation();
        conversation.messages[0].text = QStringLiteral("字\u0001").repeated(500'000);
        const QByteArray json = exported(conversation);
        QVERIFY(imported(json) == conversation);
        QCOMPARE(exported(imported(json)), json);
    }

    void infiniteNumbersAreLeftOut() {
        ConversationDocument conversation = test::sampleConversation();
        conversation.messages[1].answer->decodeMs = qInf();
        conversation.messages[1].answer->firstTokenMs = qQNaN();
        const ConversationDocument back = imported(exported(conversation));
        QVERIFY(!back.messages[1].answer->decodeMs);
        QVERIFY(!back.messages[1].answer->firstTokenMs);
    }

    void fieldsOfANewerVersionAreKeptAndReported() {
        const QByteArray json = R"({"format":"glmchat-conversations","version":7,"app_version":"9","mood":1,
            "conversations":[{"id":"c","title":"t","colour":"red","pinned":"perhaps","messages":[
            {"id":"m","role":"tool","text":"x","answer":{"model":"m","entropy":[1.50, 2e3]},"text":"again"}]}]})";
        const auto result = importConversations(json, {});
        QVERIFY(result);
        const ImportReport& report = result->report;
        QCOMPARE(count(report, What::NewerVersion, "7"), 1);
        QCOMPARE(count(report, What::DroppedField, "mood"), 1);
        QCOMPARE(count(report, What::KeptField, "conversation.colour"), 1);
        QCOMPARE(count(report, What::KeptField, "conversation.pinned"), 1);
        QCOMPARE(count(report, What::KeptField, "message.role"), 1);
        QCOMPARE(count(report, What::KeptField, "answer.entropy"), 1);
        QCOMPARE(count(report, What::DroppedField, "message.text"), 1);
        const QByteArray again = exported(result->conversations.first());
        for (const char* kept :
             {R"("colour": "red")", R"("pinned": "perhaps")", R"("role": "tool")", "1.50", "2e3"}) {
            QVERIFY2(again.contains(kept), kept);
        }
        QCOMPARE(again.count("\"role\""), 1);
    }

    void brokenTreesAreMendedAndReported() {
        const QByteArray json = R"({"conversations":[{"id":"c","title":"t","messages":[
            {"id":"b","parent":"a","text":"2","role":"assistant"},{"id":"a","text":"1"},
            {"id":"a","parent":"a","text":"same id"},{"id":"x","parent":"nobody","text":"lost"},
            {"id":"p","parent":"q","text":"circle"},{"id":"q","parent":"p","text":"circle"}]}]})";
        const auto result = importConversations(json, {});
        QVERIFY(result);
        ConversationDocument conversation = result->conversations.first();
        QCOMPARE(conversation.messages.size(), 6);
        QCOMPARE(count(result->report, What::NewId), 1);
        QCOMPARE(count(result->report, What::LostParent), 2);
        QVERIFY(count(result->report, What::MovedMessage) > 0);
        QVERIFY(count(result->report, What::ChangedActive) > 0);
        const ConversationDocument mended = conversation;
        repairTree(conversation);
        QVERIFY(conversation == mended);
        QVERIFY(imported(exported(conversation)) == conversation);
    }

    void longChainsNeedNoStack() {
        ConversationDocument conversation;
        conversation.id = QStringLiteral("c");
        for (int i = 0; i < 100'000; ++i) {
            MessageDocument message;
            message.id = QString::number(i);
            if (i > 0) message.parentId = QString::number(i - 1);
            conversation.messages << message;
        }
        std::reverse(conversation.messages.begin(), conversation.messages.end());
        QCOMPARE(repairTree(conversation).movedMessages, 99'999);
        QCOMPARE(activePath(conversation).size(), 100'000);
    }

    void brokenJsonIsPlaced_data() {
        QTest::addColumn<QByteArray>("json");
        QTest::addColumn<qint64>("line");
        QTest::addColumn<qint64>("column");
        QTest::newRow("empty") << QByteArray("") << qint64{1} << qint64{1};
        QTest::newRow("cut array") << QByteArray("[1,\n2") << qint64{2} << qint64{2};
        QTest::newRow("cut string") << QByteArray("[\"abc") << qint64{1} << qint64{6};
        QTest::newRow("cut escape") << QByteArray("[\"\\") << qint64{1} << qint64{4};
        QTest::newRow("cut unicode escape") << QByteArray("[\"\\u12") << qint64{1} << qint64{4};
        QTest::newRow("bad escape") << QByteArray("[\n \"\\x\"]") << qint64{2} << qint64{4};
        QTest::newRow("no comma") << QByteArray("[1 2]") << qint64{1} << qint64{4};
        QTest::newRow("comma at the end") << QByteArray("[1,]") << qint64{1} << qint64{4};
        QTest::newRow("no colon") << QByteArray("{\"a\" 1}") << qint64{1} << qint64{6};
        QTest::newRow("key without quotes") << QByteArray("{a:1}") << qint64{1} << qint64{2};
        QTest::newRow("wrong bracket") << QByteArray("[1}") << qint64{1} << qint64{3};
        QTest::newRow("word") << QByteArray("[nul]") << qint64{1} << qint64{2};
        QTest::newRow("leading zero") << QByteArray("[01]") << qint64{1} << qint64{3};
        QTest::newRow("point without digits") << QByteArray("[1.]") << qint64{1} << qint64{4};
        QTest::newRow("exponent without digits") << QByteArray("[1e+]") << qint64{1} << qint64{5};
        QTest::newRow("line feed in a string") << QByteArray("[\"a\nb\"]") << qint64{1} << qint64{4};
        QTest::newRow("something after it") << QByteArray("[]\n]") << qint64{2} << qint64{1};
        QTest::newRow("zeros") << QByteArray(4096, '\0') << qint64{1} << qint64{1};
    }

    void brokenJsonIsPlaced() {
        QFETCH(QByteArray, json);
        QFETCH(qint64, line);
        QFETCH(qint64, column);
        const auto result = importConversations(json, QStringLiteral("/data/文件.json"));
        QVERIFY(!result);
        QCOMPARE(result.error().kind, TransferError::Kind::NotJson);
        QVERIFY(result.error().message.contains(QStringLiteral("文件.json")));
        const QString place = QStringLiteral("(line %1, column %2)").arg(line).arg(column);
        QVERIFY2(result.error().message.contains(place), qPrintable(result.error().message));
    }

    void nestingIsLimited() {
        const int half = 100'000;
        const auto result = importConversations(QByteArray(half, '[') + QByteArray(half, ']'), {});
        QVERIFY(!result);
        QCOMPARE(result.error().kind, TransferError::Kind::TooDeep);
        const int fits = JsonReader::kMaxDepth;
        const QByteArray deep = QByteArray(fits, '[') + QByteArray(fits, ']');
        QVERIFY(JsonReader(deep).readValue());
    }

    void bytesThatAreNotUtf8AreReported() {
        const auto result = importConversations("[{\"role\":\"user\",\"content\":\"a\xFF\xC0z\"}]", {});
        QVERIFY(result);
        QCOMPARE(count(result->report, What::InvalidBytes), 2);
        QCOMPARE(result->conversations.first().messages.first().text, QStringLiteral("a\uFFFD\uFFFDz"));
    }

    void byteOrderMarkOfTheFileIsPassedOver() {
        QVERIFY(importConversations("\xEF\xBB\xBF[{\"role\":\"user\",\"content\":\"a\"}]", {}));
    }
};

QTEST_GUILESS_MAIN(TestTransferJson)
#include "tst_transfer_json.moc"
