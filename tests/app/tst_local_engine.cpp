#include <QtTest>

#include "app/chat/chat_session.h"
#include "app/inference/local_engine.h"
#include "app/model_choice/model_choice.h"

using namespace glmchat;

/// The whole way from a sent message to a shown answer with our engine and the built-in model.
class TestLocalEngine : public QObject {
    Q_OBJECT

  private slots:
    void missingModelIsAFailure() {
        EngineClient engine(std::make_unique<LocalEngine>());
        const QSignalSpy failed(&engine, &EngineClient::loadFailed);
        ChatEngineOptions options;
        options.model_folder = "/no/such/folder";
        engine.load(options);
        QTRY_COMPARE(engine.state(), EngineState::Failed);
        QCOMPARE(failed.size(), 1);
        QVERIFY(!failed[0][0].value<Status>().message.empty());
    }

    void answersInRounds() {
        ChatEngineOptions options;
        options.model_folder = guide_model_folder();
        options.device = Device::kCpu;
        if (options.model_folder.empty()) QSKIP("the built-in model is not there");

        const QTemporaryDir folder;
        SettingsFile settings(folder.filePath(QStringLiteral("settings.json")));
        ParameterModel parameters(settings);
        parameters.setValue(QStringLiteral("maxNewTokens"), 24);
        parameters.setValue(QStringLiteral("seed"), 7);
        StorageClient storage;
        storage.open(folder.path());
        EngineClient engine(std::make_unique<LocalEngine>());
        ChatSession session(engine, storage, parameters);
        const MessageModel& messages = *session.messages();
        engine.load(options);
        QTRY_COMPARE_WITH_TIMEOUT(engine.state(), EngineState::Ready, 60000);
        QVERIFY(session.contextLimit() > 0);

        for (const char* question : {"你好", "再说一遍"}) {
            QVERIFY(session.send(QString::fromUtf8(question)));
            QTRY_VERIFY_WITH_TIMEOUT(!session.generating(), 60000);
            QVERIFY2(!session.error()->visible(), qPrintable(session.error()->message()));
            QVERIFY(messages.last().status == MessageStatus::Complete ||
                    messages.last().status == MessageStatus::Cut);
            QVERIFY(messages.last().answer.numNewTokens > 0);
            QCOMPARE(messages.last().answer.seed, 7);
        }
        QVERIFY(messages.last().answer.numReusedTokens > 0);  // the first round was not computed again

        parameters.setValue(QStringLiteral("maxNewTokens"), 4096);
        QVERIFY(session.send(QStringLiteral("写一个很长的故事")));
        session.stop();
        QTRY_VERIFY_WITH_TIMEOUT(!session.generating(), 60000);
        QVERIFY(messages.last().status != MessageStatus::Failed);
        engine.unload();
        QCOMPARE(engine.state(), EngineState::NoModel);
        QCOMPARE(messages.size(), 6);
    }
};

QTEST_MAIN(TestLocalEngine)
#include "tst_local_engine.moc"
