#include <QDir>
#include <QFile>
#include <QProcess>
#include <QSqlQuery>
#include <QtTest>
#include <cstdio>

#if defined(Q_OS_UNIX)
#include <csignal>

#include <sys/resource.h>
#endif

#include "app/storage/conversation_store.h"
#include "app/storage/migrations.h"
#include "app/storage/move_aside.h"

using namespace glmchat;
using Kind = StorageProblem::Kind;

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
    return {id, QStringLiteral("title of ") + id, {}, 1, changedMs};
}

std::unique_ptr<ConversationStore> openStore(const QString& folder) {
    Database::Opening opening = Database::open(folder);
    return opening.database ? std::make_unique<ConversationStore>(std::move(opening.database)) : nullptr;
}

ConversationSnapshot lastConversation(const QString& folder) {
    const auto store = openStore(folder);
    return store ? store->loadLast().value_or(ConversationSnapshot{}) : ConversationSnapshot{};
}

/// One round with 200 kB of text, so that the file has many pages.
void makeConversation(const QString& folder) {
    const auto store = openStore(folder);
    QVERIFY(store);
    const QString text = QStringLiteral("一段很长的文字。").repeated(8000);
    QVERIFY(store->save(conversation("c"), {message("q", {}, Author::User, QStringLiteral("问题")),
                                            message("a", "q", Author::Assistant, text)}));
}

QByteArray readAll(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

void writeAll(const QString& path, const QByteArray& bytes) {
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly | QIODevice::Truncate));
    QCOMPARE(file.write(bytes), bytes.size());
}

/// The child of killedInMidAnswer(): saves a question, then a growing answer, and never ends by itself.
int writeUntilKilled(const QString& folder) {
    const auto store = openStore(folder);
    if (!store) return 1;
    const MessageRecord question = message("q", {}, Author::User, QStringLiteral("今天天气如何？"));
    MessageRecord answer = message("a", "q", Author::Assistant, {}, MessageStatus::Pending);
    if (!store->save(conversation("c"), {question, answer})) return 1;
    answer.status = MessageStatus::Streaming;
    for (int number = 1;; ++number) {
        answer.text += QStringLiteral("词%1 ").arg(number);
        if (!store->save(conversation("c"), {answer})) return 1;
        std::printf("%d\n", number);
        std::fflush(stdout);
    }
}

#if defined(Q_OS_UNIX)
/// The child of fullDisk(): files may not grow beyond a size. Prints what saving said.
int writeUntilFull(const QString& folder) {
    const auto store = openStore(folder);
    if (!store) return 1;
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{256 * 1024, 256 * 1024};
    setrlimit(RLIMIT_FSIZE, &limit);
    const auto saved = store->save(conversation("c"),
                                   {message("q", {}, Author::User, QString(1024 * 1024, QLatin1Char('x')))});
    std::printf("%d\n", saved ? -1 : static_cast<int>(saved.error().kind));
    const auto small =
        store->save(conversation("c"), {message("q", {}, Author::User, QStringLiteral("small"))});
    return small ? 0 : 1;
}
#endif

}  // namespace

class TestStorage : public QObject {
    Q_OBJECT

  private slots:
    void init() {
        m_temporary = std::make_unique<QTemporaryDir>();
        m_folder = m_temporary->filePath(QStringLiteral("用户　data é"));
        m_file = Database::filePath(m_folder);
    }

    void keepsEverything() {
        MessageRecord answer = message("a", "q", Author::Assistant,
                                       QStringLiteral("你好 😀\n```c\nint x;\n```"), MessageStatus::Cut);
        answer.answer = {"m",        "int4", "CPU", 0.7, 0.9, 40,    1.1,  128,  4096,
                         4294967295, 20,     5,     128, 2,   210.5, 3000, "max"};
        ConversationRecord record = conversation("c", 5);
        record.draft = QStringLiteral("not sent");
        QVERIFY(openStore(m_folder)->save(record, {message("q", {}, Author::User, "Q"), answer}));

        const ConversationSnapshot snapshot = lastConversation(m_folder);
        QCOMPARE(snapshot.conversation.id, "c");
        QCOMPARE(snapshot.conversation.title, record.title);
        QCOMPARE(snapshot.conversation.draft, record.draft);
        QCOMPARE(snapshot.messages.size(), 2);
        QCOMPARE(snapshot.messages[0].text, "Q");
        const MessageRecord& read = snapshot.messages[1];
        QCOMPARE(read.parentId, "q");
        QCOMPARE(read.text, answer.text);
        QCOMPARE(read.status, MessageStatus::Cut);
        QCOMPARE(read.answer.modelName, "m");
        QCOMPARE(read.answer.temperature, 0.7);
        QCOMPARE(read.answer.topK, 40);
        QCOMPARE(read.answer.seed, 4294967295);
        QCOMPARE(read.answer.numReusedTokens, 5);
        QCOMPARE(read.answer.firstTokenMs, 210.5);
        QCOMPARE(read.answer.stopReason, "max");
    }

    void siblingsStay() {
        const auto store = openStore(m_folder);
        QVERIFY(store->save(conversation("c"), {message("q", {}, Author::User, "Q"),
                                                message("a1", "q", Author::Assistant, "first")}));
        QVERIFY(store->save(conversation("c"), {message("a2", "q", Author::Assistant, "second")}));
        QVERIFY(store->save(conversation("c"), {message("q2", "a2", Author::User, "next")}));
        const auto snapshot = store->loadLast();
        QVERIFY(snapshot);
        QCOMPARE(snapshot->messages.size(), 3);
        QCOMPARE(snapshot->messages[1].text, "second");
        QCOMPARE(count("SELECT count(*) FROM message WHERE parent_id = 'q'"), 2);
        QCOMPARE(count("SELECT sibling_order FROM message WHERE id = 'a2'"), 1);
    }

    void lastOpenedComesBack() {
        const auto store = openStore(m_folder);
        QVERIFY(store->save(conversation("old", 10), {message("q1", {}, Author::User, "1")}));
        QVERIFY(store->save(conversation("new", 20), {message("q2", {}, Author::User, "2")}));
        QVERIFY(store->save(conversation("empty", 30), {}));
        QCOMPARE(store->loadLast()->conversation.id, "new");
    }

    void allOrNothing() {
        const auto store = openStore(m_folder);
        const auto saved = store->save(
            conversation("c"),
            {message("q", {}, Author::User, "Q"), message("a", "no parent", Author::Assistant, "A")});
        QVERIFY(!saved);
        QCOMPARE(saved.error().kind, Kind::CannotWrite);
        QVERIFY(store->loadLast()->conversation.id.isEmpty());
    }

    void migrationsRunOnce() {
        openStore(m_folder);
        QCOMPARE(count("PRAGMA user_version"), static_cast<int>(migrations().size()));
        QCOMPARE(count("PRAGMA application_id"), kApplicationId);
        openStore(m_folder);
        QCOMPARE(count("PRAGMA user_version"), static_cast<int>(migrations().size()));
    }

    void damagedFile_data() {
        QTest::addColumn<QString>("damage");
        for (const char* damage : {"zeros", "empty", "half", "header", "text", "middle"})
            QTest::newRow(damage) << damage;
    }
    void damagedFile() {
        QFETCH(QString, damage);
        makeConversation(m_folder);
        const QByteArray good = readAll(m_file);
        QByteArray bad = good;
        if (damage == u"zeros") bad.fill('\0');
        if (damage == u"empty") bad.clear();
        if (damage == u"half") bad.truncate(bad.size() / 2);
        if (damage == u"header") bad.replace(0, 16, QByteArray(16, 'x'));
        if (damage == u"text") bad = "not a database, but long enough to be looked at\n";
        if (damage == u"middle") bad.replace(4096, bad.size() - 4096, QByteArray(bad.size() - 4096, '\xA5'));
        writeAll(m_file, bad);

        const Database::Opening opening = Database::open(m_folder);
        QVERIFY(opening.database);
        QVERIFY(opening.problem);
        QCOMPARE(opening.problem->kind, Kind::DamagedFile);
        QCOMPARE(readAll(opening.problem->detail), bad);  // kept, with a date in its name
        QVERIFY(!describe(*opening.problem).message.isEmpty());
    }

    void toldOnce() {
        QDir().mkpath(m_folder);
        writeAll(m_file, "damaged");
        QVERIFY(Database::open(m_folder).problem);
        QVERIFY(!Database::open(m_folder).problem);
    }

    void foreignFile() {
        QDir().mkpath(m_folder);
        {
            QSqlDatabase other =
                QSqlDatabase::addDatabase(QStringLiteral("QSQLITE"), QStringLiteral("other"));
            other.setDatabaseName(m_file);
            QVERIFY(other.open());
            QVERIFY(QSqlQuery(other).exec(QStringLiteral("CREATE TABLE theirs(x)")));
        }
        QSqlDatabase::removeDatabase(QStringLiteral("other"));
        const Database::Opening opening = Database::open(m_folder);
        QVERIFY(opening.database);
        QCOMPARE(opening.problem->kind, Kind::ForeignFile);
        QVERIFY(QFile::exists(opening.problem->detail));
    }

    void newerVersionIsLeftAlone() {
        makeConversation(m_folder);
        count("PRAGMA user_version = 99");
        const QByteArray before = readAll(m_file);
        const Database::Opening opening = Database::open(m_folder);
        QVERIFY(!opening.database);
        QCOMPARE(opening.problem->kind, Kind::NewerFile);
        QCOMPARE(readAll(m_file), before);
    }

    void oneWindowPerFolder() {
        const Database::Opening first = Database::open(m_folder);
        const Database::Opening second = Database::open(m_folder);
        QVERIFY(!second.database);
        QCOMPARE(second.problem->kind, Kind::InUse);
    }

    void folderCannotBeMade() {
        const QString file = m_temporary->filePath(QStringLiteral("file"));
        writeAll(file, "x");
        const Database::Opening opening = Database::open(file + QStringLiteral("/data"));
        QVERIFY(!opening.database);
        QCOMPARE(opening.problem->kind, Kind::FolderNotWritable);
    }

    void killedInMidAnswer() {
        QProcess child;
        child.start(QCoreApplication::applicationFilePath(),
                    {QStringLiteral("--write-until-killed"), m_folder});
        int reported = 0;
        while (reported < 25) {
            QVERIFY(child.waitForReadyRead(30000));
            while (child.canReadLine()) reported = child.readLine().trimmed().toInt();
        }
        child.kill();  // SIGKILL
        QVERIFY(child.waitForFinished());
        QCOMPARE(child.exitStatus(), QProcess::CrashExit);

        const ConversationSnapshot snapshot = lastConversation(m_folder);
        QCOMPARE(snapshot.messages.size(), 2);
        QCOMPARE(snapshot.messages[0].text, QStringLiteral("今天天气如何？"));
        QCOMPARE(snapshot.messages[1].status, MessageStatus::Stopped);
        QCOMPARE(snapshot.messages[1].answer.stopReason, QStringLiteral("interrupted"));
        QVERIFY(snapshot.messages[1].text.contains(QStringLiteral("词%1 ").arg(reported)));
    }

    void fullDisk() {
#if defined(Q_OS_UNIX)
        QProcess child;
        child.start(QCoreApplication::applicationFilePath(),
                    {QStringLiteral("--write-until-full"), m_folder});
        QVERIFY(child.waitForFinished(30000));
        QCOMPARE(child.exitCode(), 0);  // a later, smaller save worked
        const auto kind = static_cast<Kind>(child.readAllStandardOutput().trimmed().toInt());
        QVERIFY(kind == Kind::DiskFull || kind == Kind::CannotWrite);
        QCOMPARE(lastConversation(m_folder).messages[0].text, "small");
#else
        QSKIP("needs setrlimit");
#endif
    }

    void movedAsideNamesDiffer() {
        const QString path = m_temporary->filePath(QStringLiteral("f"));
        writeAll(path, "1");
        const QString first = moveAside(path, QStringLiteral("damaged"));
        writeAll(path, "2");
        const QString second = moveAside(path, QStringLiteral("damaged"));
        QVERIFY(!first.isEmpty() && first != second);
        QCOMPARE(readAll(first), "1");
        QCOMPARE(readAll(second), "2");
    }

  private:
    /// First value of a statement, on a connection of its own.
    int count(const QString& statement) {
        int value = -1;
        {
            QSqlDatabase connection =
                QSqlDatabase::addDatabase(QStringLiteral("QSQLITE"), QStringLiteral("count"));
            connection.setDatabaseName(m_file);
            connection.open();
            QSqlQuery query(connection);
            if (query.exec(statement) && query.next()) value = query.value(0).toInt();
        }
        QSqlDatabase::removeDatabase(QStringLiteral("count"));
        return value;
    }

    std::unique_ptr<QTemporaryDir> m_temporary;
    QString m_folder;
    QString m_file;
};

int main(int argc, char** argv) {
    QCoreApplication application(argc, argv);
    const QStringList arguments = application.arguments();
    if (arguments.size() == 3 && arguments[1] == u"--write-until-killed")
        return writeUntilKilled(arguments[2]);
#if defined(Q_OS_UNIX)
    if (arguments.size() == 3 && arguments[1] == u"--write-until-full") return writeUntilFull(arguments[2]);
#endif
    TestStorage test;
    return QTest::qExec(&test, argc, argv);
}

#include "tst_storage.moc"
