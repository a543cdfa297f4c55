#include <QFile>
#include <QSqlQuery>
#include <QtTest>

#include "app/storage/conversation_store.h"
#include "app/storage/migrations.h"

using namespace glmchat;

namespace {

MessageRecord message(const QString& id, const QString& parentId, Author::Value author, const QString& text,
                      MessageStatus::Value status = MessageStatus::Complete) {
    MessageRecord record;
    record.id = id;
    record.parentId = parentId;
    record.author = author;
    record.text = text;
    record.status = status;
    record.createdMs = record.changedMs = 1;
    return record;
}

ConversationRecord conversation(const QString& id, qint64 changedMs = 1) {
    ConversationRecord record;
    record.id = id;
    record.title = QStringLiteral("title of ") + id;
    record.createdMs = record.changedMs = changedMs;
    return record;
}

QStringList idsOf(const ConversationSnapshot& snapshot) {
    QStringList ids;
    for (const MessageRecord& record : snapshot.messages) ids.append(record.id);
    return ids;
}

QStringList idsOf(const QList<MessageTree::PathStep>& path) {
    QStringList ids;
    for (const auto& step : path) ids.append(step.id);
    return ids;
}

constexpr qint64 kDayMs = 24LL * 60 * 60 * 1000;

}  // namespace

class TestConversationStore : public QObject {
    Q_OBJECT

  private slots:
    void init() {
        m_temporary = std::make_unique<QTemporaryDir>();
        m_folder = m_temporary->filePath(QStringLiteral("data"));
        open();
    }
    void cleanup() {
        QCOMPARE(value("PRAGMA integrity_check").toString(), QStringLiteral("ok"));
        QCOMPARE(value("PRAGMA foreign_key_check").toString(), QString());
        // The search has exactly what the messages say.
        QVERIFY(run("INSERT INTO message_search(message_search, rank) VALUES ('integrity-check', 1)"));
        m_store.reset();
    }

    void readsAFileOfVersion1() {
        m_store.reset();
        QVERIFY(QFile::remove(Database::filePath(m_folder)));
        makeFromSql(QStringLiteral(GLMCHAT_TEST_FOLDER "/version1.sql"));
        open();
        QCOMPARE(value("PRAGMA user_version").toInt(), static_cast<int>(migrations().size()));
        const ConversationSnapshot first = load("c1");
        QCOMPARE(first.conversation.title, QStringLiteral("Named by hand"));
        QCOMPARE(first.conversation.titleSource, TitleSource::User);
        QVERIFY(first.conversation.pinned);
        QCOMPARE(first.conversation.draft, QStringLiteral("a draft"));
        QCOMPARE(idsOf(first), QStringList({"q1", "a2"}));
        QCOMPARE(first.messages[1].answer.seed, 4712);
        QCOMPARE(first.messages[1].siblingIndex, 1);
        QCOMPARE(first.messages[1].siblingCount, 2);
        QCOMPARE(load("c2").conversation.titleSource, TitleSource::Automatic);
        QCOMPARE(value("SELECT snippet FROM conversation WHERE id = 'c2'").toString(),
                 QStringLiteral("question two"));
        QCOMPARE(found("天天气"), 1);
        QCOMPARE(found("half"), 0);  // was being written: found when it is settled
        QVERIFY(m_store->tidy(0));
        QCOMPARE(found("half"), 1);
        QCOMPARE(load("c1").messages[1].answer.stopReason, QStringLiteral("interrupted"));
    }

    void keepsEveryField() {
        ConversationRecord record = conversation("c");
        record.systemPrompt = QStringLiteral("Be brief.");
        record.folder = QStringLiteral("工作");
        record.unread = record.pinned = true;
        record.titleSource = TitleSource::Model;
        MessageRecord answer = message("a", "q", Author::Assistant, "A");
        answer.answer.modelHash = QStringLiteral("abc");
        answer.answer.minP = 0.05;
        answer.answer.presencePenalty = 0.25;
        answer.answer.frequencyPenalty = 0.5;
        answer.pinned = true;
        QVERIFY(m_store->save(record, {message("q", {}, Author::User, "Q"), answer}));
        QVERIFY(apply(SetView{"c", "q", 12.5, "a"}));
        const ConversationSnapshot read = load("c");
        QCOMPARE(read.conversation.systemPrompt, record.systemPrompt);
        QCOMPARE(read.conversation.folder, record.folder);
        QVERIFY(read.conversation.unread && read.conversation.pinned);
        QCOMPARE(read.conversation.titleSource, TitleSource::Model);
        QCOMPARE(read.conversation.scrollMessageId, QStringLiteral("q"));
        QCOMPARE(read.conversation.scrollOffset, 12.5);
        QCOMPARE(read.conversation.selectedMessageId, QStringLiteral("a"));
        QCOMPARE(read.messages[1].answer.modelHash, QStringLiteral("abc"));
        QCOMPARE(read.messages[1].answer.minP, 0.05);
        QCOMPARE(read.messages[1].answer.presencePenalty, 0.25);
        QCOMPARE(read.messages[1].answer.frequencyPenalty, 0.5);
        QVERIFY(read.messages[1].pinned);
    }

    void oddTextIsKept() {
        const QString text = QString::fromUtf16(u"a\0b\u0001\r\n\u202Eمرحبا 😀", 16);
        const QString broken = QStringLiteral("x") + QChar(0xD83D) + QStringLiteral("y") + QChar(0xDE00);
        QVERIFY(m_store->save(conversation("c"), {message("q", {}, Author::User, text),
                                                  message("a", "q", Author::Assistant, broken)}));
        QCOMPARE(load("c").messages[0].text, text);
        QCOMPARE(load("c").messages[1].text, QStringLiteral("x\uFFFDy\uFFFD"));
    }

    void aTitleYieldsOnlyToAStrongerOne() {
        saveRound("c");
        QVERIFY(apply(SetTitle{"c", "by the model", TitleSource::Model}));
        saveRound("c");  // brings the first words again
        QCOMPARE(load("c").conversation.title, QStringLiteral("by the model"));
        QVERIFY(apply(SetTitle{"c", "mine", TitleSource::User}));
        QVERIFY(apply(SetTitle{"c", "model again", TitleSource::Model}));
        QCOMPARE(load("c").conversation.title, QStringLiteral("mine"));
        QVERIFY(apply(SetTitle{"c", "mine 2", TitleSource::User}));
        QCOMPARE(load("c").conversation.title, QStringLiteral("mine 2"));
    }

    void aDraftDoesNotMoveTheConversation() {
        saveRound("c");
        ConversationRecord record = conversation("c", 99);
        record.draft = QStringLiteral("typed");
        QVERIFY(m_store->save(record, {}));
        QCOMPARE(load("c").conversation.draft, QStringLiteral("typed"));
        QCOMPARE(load("c").conversation.changedMs, 1);
    }

    void pinsFoldersAndUnread() {
        saveRound("c");
        saveRound("d");
        QVERIFY(apply(SetPinned{{"c", "d"}, true}));
        QVERIFY(apply(SetFolder{{"c", "d"}, "work"}));
        QVERIFY(apply(SetUnread{{"d"}, true}));
        const auto renamed = m_store->apply(RenameFolder{"work", "工作"});
        QVERIFY(renamed);
        QCOMPARE(renamed->changedIds.size(), 2);
        QCOMPARE(load("c").conversation.folder, QStringLiteral("工作"));
        QVERIFY(load("d").conversation.pinned && load("d").conversation.unread);
        QVERIFY(!load("c").conversation.unread);
    }

    void trashIsEmptiedAfterThirtyDays() {
        saveRound("old");
        saveRound("young");
        saveRound("restored");
        QVERIFY(apply(MoveToTrash{{"old", "restored"}, 1}));
        QVERIFY(apply(MoveToTrash{{"young"}, 2 * kDayMs}));
        QVERIFY(m_store->loadLast()->conversation.id.isEmpty());
        QVERIFY(apply(RestoreFromTrash{{"restored"}}));
        QVERIFY(m_store->tidy(31 * kDayMs));
        QVERIFY(load("old").conversation.id.isEmpty());
        QCOMPARE(load("young").messages.size(), 2);
        QCOMPARE(load("restored").messages.size(), 2);
        QCOMPARE(load("restored").conversation.trashedMs, 0);
        QCOMPARE(value("SELECT count(*) FROM message").toInt(), 4);
    }

    void purgesALongConversation() {
        QList<MessageRecord> messages;
        for (int i = 0; i < 3000; ++i) {
            messages.append(message(QStringLiteral("m%1").arg(i), i == 0 ? QString() : messages.last().id,
                                    i % 2 == 0 ? Author::User : Author::Assistant, QStringLiteral("t")));
        }
        QVERIFY(m_store->save(conversation("c"), messages));
        QCOMPARE(load("c").messages.size(), 3000);
        QVERIFY(apply(Purge{{"c"}}));
        QCOMPARE(value("SELECT count(*) FROM message").toInt(), 0);
        QCOMPARE(value("SELECT count(*) FROM answer").toInt(), 0);
    }

    void duplicatesAllBranches() {
        saveBranches();
        const auto copied = m_store->apply(Duplicate{"c", "copy", 50});
        QVERIFY(copied);
        const ConversationSnapshot copy = load(copied->newConversationId);
        QCOMPARE(copy.conversation.title, QStringLiteral("copy"));
        QCOMPARE(texts(copy), QStringList({"Q", "second", "next"}));
        QCOMPARE(copy.messages[1].siblingCount, 2);
        QCOMPARE(copy.messages[1].answer.modelName, QStringLiteral("m"));
        QVERIFY(!idsOf(copy).contains("a2"));
        QCOMPARE(texts(load("c")), QStringList({"Q", "second", "next"}));
        QVERIFY(!m_store->apply(Duplicate{"unknown", "copy", 50}));
    }

    void branchesAtAMessage() {
        saveBranches();
        const auto branched = m_store->apply(Branch{"a1", "branch", 50});
        QVERIFY(branched);
        const ConversationSnapshot branch = load(branched->newConversationId);
        QCOMPARE(texts(branch), QStringList({"Q", "first"}));
        QCOMPARE(branch.messages[1].siblingCount, 1);
        QCOMPARE(texts(load("c")), QStringList({"Q", "second", "next"}));
    }

    void choosesSiblings() {
        saveBranches();
        QVERIFY(apply(ChooseMessage{"a1"}));
        QCOMPARE(idsOf(load("c")), QStringList({"q", "a1"}));
        QVERIFY(apply(ChooseMessage{"q2"}));  // below the other sibling
        QCOMPARE(idsOf(load("c")), QStringList({"q", "a2", "q2"}));
    }

    void editingMakesASibling() {
        saveBranches();
        const auto edited = m_store->apply(EditMessage{"a2", "mended", 70});
        QVERIFY(edited);
        QCOMPARE(edited->changedPathOf, QStringLiteral("c"));
        const ConversationSnapshot snapshot = load("c");
        QCOMPARE(texts(snapshot), QStringList({"Q", "mended"}));
        QCOMPARE(snapshot.messages[1].id, edited->newMessageId);
        QCOMPARE(snapshot.messages[1].siblingIndex, 2);
        QCOMPARE(snapshot.messages[1].siblingCount, 3);
        QCOMPARE(snapshot.messages[1].answer.modelName, QStringLiteral("m"));
        QCOMPARE(snapshot.messages[1].answer.stopReason, QStringLiteral("edited"));
        const auto question = m_store->apply(EditMessage{"q", "Q2", 80});
        QCOMPARE(texts(load("c")), QStringList({"Q2"}));
        QVERIFY(apply(ChooseMessage{"q"}));
        QCOMPARE(texts(load("c")), QStringList({"Q", "mended"}));
    }

    void whatFollowsADeletedMessageStays() {
        saveBranches();
        QVERIFY(apply(DeleteMessage{"a2", 5}));
        QCOMPARE(idsOf(load("c")), QStringList({"q", "q2"}));
        QCOMPARE(load("c").messages[1].siblingCount, 2);  // the other answer stands in the same place
        QVERIFY(apply(ChooseMessage{"a1"}));
        QCOMPARE(idsOf(load("c")), QStringList({"q", "a1"}));
        QVERIFY(apply(RestoreMessage{"a2"}));
        QCOMPARE(idsOf(load("c")), QStringList({"q", "a2", "q2"}));
    }

    void deletingTheLastShowsItsSibling() {
        saveBranches();
        QVERIFY(apply(DeleteMessage{"q2", 5}));
        QVERIFY(apply(DeleteMessage{"a2", 5}));
        QCOMPARE(idsOf(load("c")), QStringList({"q", "a1"}));
        QVERIFY(apply(DeleteMessage{"a1", 5}));
        QVERIFY(apply(DeleteMessage{"q", 5}));
        QVERIFY(load("c").messages.isEmpty());
        QVERIFY(m_store->save(conversation("c"), {message("new", {}, Author::User, "again")}));
        QCOMPARE(idsOf(load("c")), QStringList({"new"}));
        QVERIFY(m_store->tidy(40 * kDayMs));
        QCOMPARE(value("SELECT text FROM message WHERE id = 'a1'").toString(), QString());
    }

    void aLateSaveDoesNotSwitchBranches() {
        saveBranches();
        QVERIFY(apply(ChooseMessage{"a1"}));
        QVERIFY(m_store->save(conversation("c"), {message("a2", "q", Author::Assistant, "second, longer")}));
        QCOMPARE(idsOf(load("c")), QStringList({"q", "a1"}));
    }

    void growingAnswersAreIndexedAtTheEnd() {
        saveRound("c");
        MessageRecord answer =
            message("grows", "q-c", Author::Assistant, "unfinished", MessageStatus::Streaming);
        QVERIFY(m_store->save(conversation("c"), {answer}));
        QCOMPARE(found("unfinished"), 0);
        answer.text += QStringLiteral(" business");
        answer.status = MessageStatus::Complete;
        QVERIFY(m_store->save(conversation("c"), {answer}));
        QCOMPARE(found("business"), 1);
        answer.text = QStringLiteral("other");
        QVERIFY(m_store->save(conversation("c"), {answer}));
        QCOMPARE(found("business"), 0);
        QCOMPARE(found("other"), 1);
    }

    void treePassesOverDeletedMessages() {
        const MessageTree tree({{"a", {}, true, true},
                                {"b", "a", true, true},
                                {"c", "b", false, false},
                                {"d", "b", true, true},
                                {"e", {}, false, false}});
        QCOMPARE(tree.following({}), QStringList({"c", "e"}));
        QCOMPARE(idsOf(tree.activePath()), QStringList({"e"}));  // the active ones end at a deleted message
        QCOMPARE(tree.choices("c"), QStringList({"c", "e"}));
        QCOMPARE(tree.lineage("c"), QStringList({"c", "b", "a"}));
        QVERIFY(tree.choices("unknown").isEmpty());
        QVERIFY(MessageTree({}).activePath().isEmpty());
    }

  private:
    void open() {
        Database::Opening opening = Database::open(m_folder);
        QVERIFY(opening.database);
        QVERIFY(!opening.problem);
        m_store = std::make_unique<ConversationStore>(std::move(opening.database));
    }

    void makeFromSql(const QString& path) {
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadOnly));
        {
            QSqlDatabase made =
                QSqlDatabase::addDatabase(QStringLiteral("QSQLITE"), QStringLiteral("version1"));
            made.setDatabaseName(Database::filePath(m_folder));
            QVERIFY(made.open());
            QSqlQuery query(made);
            const QStringList statements = QString::fromUtf8(file.readAll()).split(QStringLiteral(";\n"));
            for (const QString& statement : statements) {
                if (!statement.trimmed().isEmpty()) QVERIFY2(query.exec(statement), qPrintable(statement));
            }
        }
        QSqlDatabase::removeDatabase(QStringLiteral("version1"));
    }

    bool apply(const StorageCommand& command) { return m_store->apply(command).has_value(); }
    ConversationSnapshot load(const QString& id) { return m_store->load(id).value(); }

    void saveRound(const QString& id) {
        QVERIFY(m_store->save(conversation(id), {message("q-" + id, {}, Author::User, "Q"),
                                                 message("a-" + id, "q-" + id, Author::Assistant, "A")}));
    }

    /// q has the answers a1 and a2; q2 follows a2.
    void saveBranches() {
        MessageRecord second = message("a2", "q", Author::Assistant, "second");
        second.answer.modelName = QStringLiteral("m");
        QVERIFY(m_store->save(conversation("c"), {message("q", {}, Author::User, "Q"),
                                                  message("a1", "q", Author::Assistant, "first"), second,
                                                  message("q2", "a2", Author::User, "next")}));
    }

    static QStringList texts(const ConversationSnapshot& snapshot) {
        QStringList all;
        for (const MessageRecord& record : snapshot.messages) all.append(record.text);
        return all;
    }

    bool run(const QString& statement) { return QSqlQuery(m_store->database().sql()).exec(statement); }
    QVariant value(const QString& statement) {
        QSqlQuery query(m_store->database().sql());
        return query.exec(statement) && query.next() ? query.value(0) : QVariant();
    }
    int found(const QString& text) {
        QSqlQuery query(m_store->database().sql());
        query.prepare(QStringLiteral("SELECT count(*) FROM message_search WHERE text LIKE ?"));
        query.addBindValue(QStringLiteral("%%%1%").arg(text));
        return query.exec() && query.next() ? query.value(0).toInt() : -1;
    }

    std::unique_ptr<QTemporaryDir> m_temporary;
    QString m_folder;
    std::unique_ptr<ConversationStore> m_store;
};

QTEST_GUILESS_MAIN(TestConversationStore)
#include "tst_conversation_store.moc"
