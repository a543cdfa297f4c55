#include <QtTest>

#include "app/storage/conversation_store.h"
#include "app/storage/message_search.h"

using namespace glmchat;

namespace {

MessageRecord message(const QString& id, Author::Value author, const QString& text, qint64 createdMs) {
    MessageRecord record;
    record.id = id;
    record.author = author;
    record.text = text;
    record.createdMs = record.changedMs = createdMs;
    return record;
}

QStringList idsOf(const SearchPage& page) {
    QStringList ids;
    for (const SearchHit& hit : page.hits) ids.append(hit.messageId);
    return ids;
}

}  // namespace

class TestMessageSearch : public QObject {
    Q_OBJECT

  private slots:
    void init() {
        m_temporary = std::make_unique<QTemporaryDir>();
        Database::Opening opening = Database::open(m_temporary->path());
        QVERIFY(opening.database);
        m_store = std::make_unique<ConversationStore>(std::move(opening.database));
        m_search = std::make_unique<MessageSearch>(m_store->database());
        save("c",
             {message("m1", Author::User, QStringLiteral("今天天气如何？"), 100),
              message("m2", Author::Assistant, QStringLiteral("Sunny. 明天也是好天气"), 200),
              message("m3", Author::User, QStringLiteral("Write Go code, quoted \"as is\" 100%_"), 300)});
        save("d", {message("m4", Author::User, QStringLiteral("好"), 400)});
    }

    void cleanup() {
        m_search.reset();  // before the connection it uses
        m_store.reset();
    }

    void finds_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QStringList>("ids");
        QTest::newRow("one character") << QStringLiteral("天") << QStringList{"m2", "m1"};
        QTest::newRow("two") << QStringLiteral("天气") << QStringList{"m2", "m1"};
        QTest::newRow("two at the end") << QStringLiteral("好天") << QStringList{"m2"};
        QTest::newRow("the whole text") << QStringLiteral("好") << QStringList{"m4", "m2"};
        QTest::newRow("three") << QStringLiteral("天天气") << QStringList{"m1"};
        QTest::newRow("longer than three") << QStringLiteral("天天气如何") << QStringList{"m1"};
        QTest::newRow("trigrams apart") << QStringLiteral("天天气？") << QStringList{};
        QTest::newRow("case") << QStringLiteral("sUNNY") << QStringList{"m2"};
        QTest::newRow("two letters") << QStringLiteral("gO") << QStringList{"m3"};
        QTest::newRow("two words") << QStringLiteral("code write") << QStringList{"m3"};
        QTest::newRow("long and short") << QStringLiteral("sunny 好") << QStringList{"m2"};
        QTest::newRow("phrase") << QStringLiteral("\"Go code\"") << QStringList{"m3"};
        QTest::newRow("no phrase") << QStringLiteral("\"code Go\"") << QStringList{};
        QTest::newRow("signs") << QStringLiteral("100%_") << QStringList{"m3"};
        QTest::newRow("operators are text") << QStringLiteral("AND OR NOT NEAR(") << QStringList{};
        QTest::newRow("quote") << QStringLiteral("\"") << QStringList{};
        QTest::newRow("nothing") << QStringLiteral(" \n") << QStringList{};
    }
    void finds() {
        QFETCH(QString, text);
        QFETCH(QStringList, ids);
        QCOMPARE(idsOf(find({text})), ids);
    }

    void filters() {
        QCOMPARE(idsOf(find({QStringLiteral("好"), "c"})), QStringList{"m2"});
        QCOMPARE(idsOf(find({QStringLiteral("天"), {}, "the model"})), QStringList{"m2"});
        QCOMPARE(idsOf(find({QStringLiteral("天"), {}, "another"})), QStringList{});
        QCOMPARE(idsOf(find({QStringLiteral("天"), {}, {}, 100, 200})), QStringList{"m1"});
    }

    void whatIsDeletedIsNotFound() {
        QVERIFY(m_store->apply(DeleteMessage{"m1", 1}));
        QCOMPARE(idsOf(find({QStringLiteral("天气")})), QStringList{"m2"});
        QVERIFY(m_store->apply(MoveToTrash{{"c"}, 1}));
        QCOMPARE(idsOf(find({QStringLiteral("天气")})), QStringList{});
        QVERIFY(m_store->apply(RestoreFromTrash{{"c"}}));
        QVERIFY(m_store->apply(Purge{{"d"}}));
        QCOMPARE(idsOf(find({QStringLiteral("好")})), QStringList{"m2"});
    }

    void pagesGoOn() {
        SearchQuery query{QStringLiteral("天")};
        query.limit = 1;
        const SearchPage first = find(query);
        QCOMPARE(idsOf(first), QStringList{"m2"});
        query.before = first.next;
        const SearchPage second = find(query);
        QCOMPARE(idsOf(second), QStringList{"m1"});
    }

    void snippetsShowWhatWasFound() {
        const QString text = QString(100, u'x') + QStringLiteral("😀\n天气 and 天") + QString(300, u'y');
        const Snippet snippet = makeSnippet(text, {QStringLiteral("天气"), QStringLiteral("天")});
        QVERIFY(snippet.text.startsWith(QChar(0x2026)) && snippet.text.endsWith(QChar(0x2026)));
        QVERIFY(snippet.text.isValidUtf16());
        QVERIFY(!snippet.text.contains(u'\n'));
        QCOMPARE(snippet.highlights.size(), 2);
        QCOMPARE(snippet.text.mid(snippet.highlights[0].start, snippet.highlights[0].length),
                 QStringLiteral("天气"));
        QCOMPARE(snippet.text.mid(snippet.highlights[1].start, snippet.highlights[1].length),
                 QStringLiteral("天"));
    }

  private:
    void save(const QString& id, QList<MessageRecord> messages) {
        ConversationRecord conversation;
        conversation.id = id;
        for (int i = 0; i < messages.size(); ++i) {
            if (i > 0) messages[i].parentId = messages[i - 1].id;
            if (messages[i].author == Author::Assistant) {
                messages[i].answer.modelName = QStringLiteral("the model");
            }
        }
        QVERIFY(m_store->save(conversation, messages));
    }
    SearchPage find(const SearchQuery& query) { return m_search->page(query).value(); }

    std::unique_ptr<QTemporaryDir> m_temporary;
    std::unique_ptr<ConversationStore> m_store;
    std::unique_ptr<MessageSearch> m_search;
};

QTEST_GUILESS_MAIN(TestMessageSearch)
#include "tst_message_search.moc"
