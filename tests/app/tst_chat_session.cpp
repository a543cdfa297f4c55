#include <QAbstractItemModelTester>
#include <QClipboard>
#include <QGuiApplication>
#include <QtTest>

#include "app/chat/chat_session.h"
#include "app/inference/testing/fake_engine.h"
#include "app/storage/conversation_store.h"

using namespace glmchat;

namespace {

/// Everything the session needs, on a fresh folder, with a scripted engine.
struct Window {
    explicit Window(const QString& folder)
        : script(std::make_shared<FakeScript>()),
          settings(folder + QStringLiteral("/settings.json")),
          parameters(settings),
          engine(std::make_unique<FakeEngine>(script)),
          session(engine, storage, parameters),
          tester(session.messages(), QAbstractItemModelTester::FailureReportingMode::QtTest) {}

    void start(const QString& folder) {
        QSignalSpy opened(&storage, &StorageClient::opened);
        storage.open(folder);
        QVERIFY(opened.wait());
        load();
    }

    void load() {
        engine.load({});
        QTRY_COMPARE(engine.state(), EngineState::Ready);
    }

    std::shared_ptr<FakeScript> script;
    SettingsFile settings;
    ParameterModel parameters;
    StorageClient storage;
    EngineClient engine;
    ChatSession session;
    QAbstractItemModelTester tester;
};

FakeAnswer quickAnswer(std::vector<std::string> tokens) {
    FakeAnswer answer;
    answer.tokens = std::move(tokens);
    return answer;
}

FakeAnswer slowAnswer() {
    FakeAnswer answer;
    answer.tokens = oneTokenPerCharacter(std::string(2000, 'x'));
    answer.tokensPerSecond = 200;
    return answer;
}

Status outOfMemory() {
    return {StatusKind::kOutOfMemory, "The KV cache needs 896 MiB, 200 MiB are free.", "numbers"};
}

}  // namespace

class TestChatSession : public QObject {
    Q_OBJECT

  private slots:
    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        m_window = std::make_unique<Window>(m_folder->path());
        m_window->start(m_folder->path());
    }
    void cleanup() { m_window.reset(); }

    void sends() {
        session().setDraft(QStringLiteral("问题"));
        QVERIFY(session().canSend());
        QVERIFY(session().send(QStringLiteral("问题")));
        QVERIFY(session().generating());
        QCOMPARE(session().state(), EngineState::Prefilling);
        QVERIFY(!session().canSend());
        QCOMPARE(session().draft(), QString());
        QTRY_VERIFY(!session().generating());
        QCOMPARE(messages().size(), 2);
        QCOMPARE(messages().at(0).text, QStringLiteral("问题"));
        QCOMPARE(messages().last().text, QStringLiteral("你好！"));
        QCOMPARE(messages().last().status, MessageStatus::Complete);
        QCOMPARE(messages().last().answer.seed, 4711);
        QCOMPARE(messages().last().answer.modelName, QStringLiteral("fake-model"));
        QCOMPARE(messages().last().answer.stopReason, QStringLiteral("stop_token"));
        QCOMPARE(session().contextUsed(), 12);
        QCOMPARE(session().contextLimit(), 8192);
        QVERIFY(session().canRegenerate());
        const QModelIndex row = messages().index(1);
        QVERIFY(messages().data(row, MessageModel::CaptionTextRole).toString().contains(u"2"));
        QVERIFY(messages().data(row, MessageModel::IsLastRole).toBool());
    }

    void whiteSpaceIsNotSent() {
        QVERIFY(!session().send(QStringLiteral(" \n\t\u3000")));
        QCOMPARE(messages().size(), 0);
    }

    void textIsKeptVerbatim() {
        const QString text = QStringLiteral("  <smirk> a<b && c>d &lt;\n");
        QVERIFY(session().send(text));
        QTRY_VERIFY(!session().generating());
        QCOMPARE(messages().at(0).text, text);
        QCOMPARE(m_window->script->requests().at(0).messages.at(0).content, text.toStdString());
    }

    void userTextIsOnDiskBeforeTheEngineStarts() {
        bool saved = false;
        connect(&m_window->storage, &StorageClient::saved, this,
                [&saved](const SaveOutcome& outcome) { saved = !outcome.problem; });
        QVERIFY(session().send(QStringLiteral("question")));
        // While this thread does not take the storage's answer, nothing may start: an engine that did not
        // wait for it would have its request by the end of this pause.
        QThread::msleep(300);
        QVERIFY(m_window->script->requests().empty());
        QTRY_VERIFY(!m_window->script->requests().empty());
        QTRY_VERIFY(saved);
    }

    void roundsCarryTheirIds() {
        ask(QStringLiteral("one"));
        ask(QStringLiteral("two"));
        const ChatRequest request = m_window->script->requests().back();
        QCOMPARE(request.messages.size(), 3U);
        QCOMPARE(request.messages[0].role, Role::kUser);
        QCOMPARE(request.messages[1].role, Role::kAssistant);
        QCOMPARE(request.messages[1].content, std::string("你好！"));
        QCOMPARE(request.messages[1].answer_ids.size(), 2U);
        QCOMPARE(request.messages[1].prompt_ids.size(), 10U);
        QCOMPARE(request.messages[2].content, std::string("two"));
    }

    void parametersApplyToTheNextAnswer() {
        m_window->parameters.setValue(QStringLiteral("temperature"), 0);
        m_window->parameters.setValue(QStringLiteral("seed"), 7);
        m_window->parameters.setValue(QStringLiteral("maxNewTokens"), 64);
        ask(QStringLiteral("q"));
        const ChatRequest request = m_window->script->requests().back();
        QCOMPARE(request.sampling.temperature, 0.0F);
        QCOMPARE(request.seed.value(), 7U);
        QCOMPARE(request.max_new_tokens, 64);
        QCOMPARE(messages().last().answer.seed, 7);
        QCOMPARE(messages().last().answer.temperature, 0.0);
    }

    void stopKeepsTheText() {
        m_window->script->setAnswer(slowAnswer());
        QVERIFY(session().send(QStringLiteral("q")));
        QTRY_VERIFY(messages().last().text.size() > 5);
        QCOMPARE(session().state(), EngineState::Decoding);
        session().stop();
        QCOMPARE(session().state(), EngineState::Stopping);
        session().stop();  // twice quickly
        QTRY_VERIFY(!session().generating());
        QCOMPARE(messages().last().status, MessageStatus::Stopped);
        QVERIFY(messages().last().text.size() > 5);
        QVERIFY(messages().last().text.size() < 2000);
        QVERIFY(session().canSend());
        QVERIFY(!session().error()->visible());
    }

    void stopInPrefill() {
        FakeAnswer answer = slowAnswer();
        answer.prefillTime = std::chrono::seconds(60);
        m_window->script->setAnswer(answer);
        QVERIFY(session().send(QStringLiteral("q")));
        QTRY_VERIFY(session().prefillTotal() > 0);
        session().stop();
        QTRY_VERIFY(!session().generating());
        QCOMPARE(messages().last().status, MessageStatus::Stopped);
        QCOMPARE(messages().last().text, QString());
        QVERIFY(session().canRegenerate());
    }

    void stopBeforeTheEngineStarts() {
        QVERIFY(session().send(QStringLiteral("q")));
        session().stop();
        QVERIFY(!session().generating());
        QCOMPARE(messages().last().status, MessageStatus::Stopped);
        QTest::qWait(100);
        QVERIFY(m_window->script->requests().empty());
    }

    void emptyAnswersAreNotSentAgain() {
        QVERIFY(session().send(QStringLiteral("unanswered")));
        session().stop();
        ask(QStringLiteral("asked"));
        const ChatRequest request = m_window->script->requests().back();
        QCOMPARE(request.messages.size(), 1U);
        QCOMPARE(request.messages[0].content, std::string("asked"));
    }

    void regenerateMakesASibling() {
        ask(QStringLiteral("q"));
        const QString firstId = messages().last().id;
        m_window->script->setAnswer(quickAnswer({"other"}));
        session().regenerate();
        QTRY_VERIFY(!session().generating());
        QCOMPARE(messages().size(), 2);
        QCOMPARE(messages().last().text, QStringLiteral("other"));
        QVERIFY(messages().last().id != firstId);
        QCOMPARE(messages().last().parentId, messages().at(0).id);
        QCOMPARE(m_window->script->requests().back().messages.size(), 1U);
    }

    void cutAnswersSayWhy() {
        FakeAnswer answer;
        answer.tokens = {"a", "b"};
        answer.reason = FinishReason::kMaxNewTokens;
        m_window->script->setAnswer(answer);
        ask(QStringLiteral("q"));
        QCOMPARE(messages().last().status, MessageStatus::Cut);
        QVERIFY(messages().data(messages().index(1), MessageModel::StatusTextRole).toString().contains(u"2"));
    }

    void lateEventsAreDropped() {
        FakeAnswer answer;
        answer.tokens = {"right"};
        answer.numLateTokens = 50;
        m_window->script->setAnswer(answer);
        ask(QStringLiteral("q"));
        QTest::qWait(100);
        QCOMPARE(messages().last().text, QStringLiteral("right"));
        QCOMPARE(messages().last().status, MessageStatus::Complete);
    }

    void failureKeepsTheTextAndShowsACard() {
        FakeAnswer answer;
        answer.tokens = {"half an ", "answer"};
        answer.failure = outOfMemory();
        m_window->script->setAnswer(answer);
        ask(QStringLiteral("q"));
        QCOMPARE(messages().last().status, MessageStatus::Failed);
        QCOMPARE(messages().last().text, QStringLiteral("half an answer"));
        ErrorCard* card = session().error();
        QVERIFY(card->visible());
        QVERIFY(card->message().contains(u"896"));
        card->copyDetails();
        QVERIFY(QGuiApplication::clipboard()->text().contains(u"numbers"));
        m_window->script->setAnswer(quickAnswer({"better"}));
        card->trigger();  // try again
        QVERIFY(!card->visible());
        QTRY_VERIFY(!session().generating());
        QCOMPARE(messages().last().text, QStringLiteral("better"));
    }

    void refusalIsAFailure() {
        FakeAnswer answer;
        answer.refusal =
            Status{StatusKind::kContextFull, "The question has 9000 tokens, the context 8192.", {}};
        m_window->script->setAnswer(answer);
        ask(QStringLiteral("q"));
        QCOMPARE(messages().last().status, MessageStatus::Failed);
        QVERIFY(session().error()->visible());
        QVERIFY(session().canSend());
    }

    void sendingWhileLoadingKeepsTheDraft() {
        FakeLoad load;
        load.duration = std::chrono::seconds(60);
        m_window->script->setLoad(load);
        m_window->engine.load({});
        session().setDraft(QStringLiteral("not lost"));
        QVERIFY(!session().canSend());
        QVERIFY(!session().send(QStringLiteral("not lost")));
        QCOMPARE(session().draft(), QStringLiteral("not lost"));
        QCOMPARE(messages().size(), 0);
    }

    void anotherModelKeepsTheChat() {
        ask(QStringLiteral("one"));
        m_window->script->setAnswer(slowAnswer());
        QVERIFY(session().send(QStringLiteral("two")));
        QTRY_VERIFY(messages().last().text.size() > 2);
        m_window->engine.load({});
        QVERIFY(!session().generating());
        QCOMPARE(messages().last().status, MessageStatus::Stopped);
        QCOMPARE(messages().size(), 4);
        QTRY_COMPARE(m_window->engine.state(), EngineState::Ready);
        m_window->script->setAnswer(quickAnswer({"new model"}));
        ask(QStringLiteral("three"));
        QCOMPARE(messages().last().text, QStringLiteral("new model"));
    }

    void newChatKeepsTheOldOne() {
        ask(QStringLiteral("old"));
        session().setDraft(QStringLiteral("draft"));
        m_window->script->setAnswer(slowAnswer());
        QVERIFY(session().send(QStringLiteral("running")));
        session().setDraft(QStringLiteral("draft"));
        QTRY_VERIFY(messages().last().text.size() > 2);
        session().newChat();
        QCOMPARE(messages().size(), 0);
        QCOMPARE(session().draft(), QStringLiteral("draft"));
        QTRY_VERIFY(session().canSend());
        m_window->script->setAnswer(quickAnswer({"fresh"}));
        ask(QStringLiteral("new"));
        QCOMPARE(messages().size(), 2);
        QCOMPARE(m_window->script->requests().back().messages.size(), 1U);
    }

    void charactersArriveWhole() {
        FakeAnswer answer;
        answer.tokens = oneTokenPerCharacter("😀赋👍🏽\n\n```\n你\n```\n");
        m_window->script->setAnswer(answer);
        ask(QStringLiteral("q"));
        QCOMPARE(messages().last().text, QString::fromUtf8("😀赋👍🏽\n\n```\n你\n```\n"));
        const auto* blocks = qobject_cast<QAbstractItemModel*>(
            messages().data(messages().index(1), MessageModel::BlocksRole).value<QObject*>());
        QVERIFY(blocks);
        QCOMPARE(blocks->rowCount(), 2);
    }

    void everythingIsBackAfterARestart() {
        ask(QStringLiteral("kept"));
        session().setDraft(QStringLiteral("half written"));
        restart();
        QCOMPARE(messages().size(), 2);
        QCOMPARE(messages().at(0).text, QStringLiteral("kept"));
        QCOMPARE(messages().last().text, QStringLiteral("你好！"));
        QCOMPARE(session().draft(), QStringLiteral("half written"));
        ask(QStringLiteral("next"));
        QCOMPARE(m_window->script->requests().back().messages.size(), 3U);
        restart();
        QCOMPARE(messages().size(), 4);
    }

    void quittingInMidAnswerKeepsIt() {
        m_window->script->setAnswer(slowAnswer());
        QVERIFY(session().send(QStringLiteral("q")));
        QTRY_VERIFY(messages().last().text.size() > 5);
        const QString text = messages().last().text;
        restart();
        QCOMPARE(messages().last().text, text);
        QCOMPARE(messages().last().status, MessageStatus::Stopped);
    }

    void partialAnswersAreSaved() {
        m_window->script->setAnswer(slowAnswer());
        QSignalSpy saved(&m_window->storage, &StorageClient::saved);
        QVERIFY(session().send(QStringLiteral("q")));
        QTRY_VERIFY_WITH_TIMEOUT(saved.size() >= 2, 3 * ChatSession::kAnswerSaveMs);
        QVERIFY(session().generating());
    }

    void chatGoesOnWithoutADisk() {
        m_window.reset();
        QFile file(m_folder->filePath(QStringLiteral("file")));
        QVERIFY(file.open(QIODevice::WriteOnly));
        m_window = std::make_unique<Window>(m_folder->path());
        m_window->start(m_folder->filePath(QStringLiteral("file/data")));
        QVERIFY(session().error()->visible());
        session().error()->dismiss();
        ask(QStringLiteral("q"));
        QCOMPARE(messages().last().text, QStringLiteral("你好！"));
        QVERIFY(!session().error()->visible());  // told once
    }

    void copiesTheSource() {
        ask(QStringLiteral("a\nb"));
        session().copyMessage(0);
        QCOMPARE(QGuiApplication::clipboard()->text(), QStringLiteral("a\nb"));
        session().copyMessage(99);
    }

    void cardsWaitForEachOther() {
        ErrorCard card;
        int done = 0;
        card.show({QStringLiteral("a"), QStringLiteral("1"), {}, {}, QStringLiteral("do"), [&] { ++done; }});
        card.show({QStringLiteral("b"), QStringLiteral("2")});
        card.show(
            {QStringLiteral("a"), QStringLiteral("3"), {}, {}, QStringLiteral("do"), [&] { done += 10; }});
        QCOMPARE(card.title(), QStringLiteral("3"));
        card.trigger();
        QCOMPARE(done, 10);
        QCOMPARE(card.title(), QStringLiteral("2"));
        card.clear(QStringLiteral("b"));
        QVERIFY(!card.visible());
        card.trigger();
        card.dismiss();
    }

  private:
    ChatSession& session() { return m_window->session; }
    MessageModel& messages() { return *m_window->session.messages(); }

    void ask(const QString& question) {
        QVERIFY(session().send(question));
        QTRY_VERIFY(!session().generating());
    }

    void restart() {
        session().shutDown();
        QVERIFY(m_window->storage.shutDown(std::chrono::seconds(10)));
        QVERIFY(m_window->engine.shutDown(std::chrono::seconds(10)));
        m_window.reset();
        m_window = std::make_unique<Window>(m_folder->path());
        m_window->start(m_folder->path());
    }

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<Window> m_window;
};

QTEST_MAIN(TestChatSession)
#include "tst_chat_session.moc"
