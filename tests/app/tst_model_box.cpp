#include <QFile>
#include <QtTest>

#include "app/inference/model_box.h"
#include "app/inference/testing/fake_engine.h"
#include "app/model_choice/model_choice.h"

using namespace glmchat;

namespace {

struct Window {
    explicit Window(const QString& folder)
        : script(std::make_shared<FakeScript>()),
          settings(folder + QStringLiteral("/settings.json")),
          parameters(settings),
          engine(std::make_unique<FakeEngine>(script)),
          box(engine, parameters, card, {folder, QStringLiteral("/guide/guide-model")}) {}

    std::shared_ptr<FakeScript> script;
    SettingsFile settings;
    ParameterModel parameters;
    ErrorCard card;
    EngineClient engine;
    ModelBox box;
};

FakeLoad slowLoad() {
    FakeLoad load = FakeScript().load();
    load.duration = std::chrono::seconds(60);
    return load;
}

FakeLoad failingLoad(StatusKind kind) {
    FakeLoad load;
    load.failure =
        Status{kind, "config.json was not found in /models/x. Download the whole folder.", "detail"};
    return load;
}

const QUrl kModelUrl = QUrl::fromLocalFile(QStringLiteral("/models/用户　é/chatglm2-6b"));

}  // namespace

class TestModelBox : public QObject {
    Q_OBJECT

  private slots:
    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        m_window = std::make_unique<Window>(m_folder->path());
    }
    void cleanup() { m_window.reset(); }

    void loads() {
        QVERIFY(!box().loaded());
        box().load(kModelUrl);
        QVERIFY(box().loading());
        QVERIFY(QFile::exists(markerPath()));
        QTRY_VERIFY(box().loaded());
        QCOMPARE(box().modelName(), QStringLiteral("chatglm2-6b"));
        QCOMPARE(box().precisionName(), QStringLiteral("INT4"));
        QVERIFY(!box().memoryText().isEmpty());
        QVERIFY(!box().isGuideModel());
        QVERIFY(!QFile::exists(markerPath()));
        QCOMPARE(rememberedFolder(), kModelUrl.toLocalFile());
    }

    void progressIsShown() {
        m_window->script->setLoad(slowLoad());
        QSignalSpy progress(&box(), &ModelBox::progressChanged);
        box().load(kModelUrl);
        QTRY_VERIFY(progress.size() > 1);
        QVERIFY(box().progressText().contains(u'%'));
    }

    void cancelIsImmediate_data() {
        QTest::addColumn<bool>("hearsStop");
        QTest::newRow("load ends") << true;
        QTest::newRow("load goes on for a while") << false;
    }
    void cancelIsImmediate() {
        QFETCH(bool, hearsStop);
        FakeLoad load = slowLoad();
        load.hearsStop = hearsStop;
        if (!hearsStop) load.duration = std::chrono::milliseconds(300);
        m_window->script->setLoad(load);
        box().load(kModelUrl);
        box().cancel();
        QVERIFY(!box().loading());
        QCOMPARE(m_window->engine.state(), EngineState::NoModel);
        QVERIFY(!QFile::exists(markerPath()));
        QTest::qWait(500);  // the late outcome changes nothing
        QCOMPARE(m_window->engine.state(), EngineState::NoModel);
        QVERIFY(!m_window->card.visible());
        QVERIFY(rememberedFolder().isEmpty());
        m_window->script->setLoad(FakeScript().load());
        box().loadGuideModel();
        QTRY_VERIFY(box().loaded());
        QVERIFY(box().isGuideModel());
    }

    void failureShowsACard() {
        m_window->script->setLoad(failingLoad(StatusKind::kNotFound));
        box().load(kModelUrl);
        QTRY_COMPARE(m_window->engine.state(), EngineState::Failed);
        QVERIFY(m_window->card.visible());
        QVERIFY(m_window->card.message().contains(u"config.json"));
        QVERIFY(!QFile::exists(markerPath()));
        QVERIFY(rememberedFolder().isEmpty());
        m_window->script->setLoad(FakeScript().load());
        m_window->card.trigger();
        QTRY_VERIFY(box().loaded());
        QVERIFY(box().isGuideModel());
    }

    void outOfMemoryOffersInt4() {
        m_window->script->setLoad(failingLoad(StatusKind::kOutOfMemory));
        box().load(kModelUrl);
        QTRY_VERIFY(m_window->card.visible());
        m_window->script->setLoad(FakeScript().load());
        m_window->card.trigger();
        QCOMPARE(box().precision(), static_cast<int>(Precision::kInt4));
        QTRY_VERIFY(box().loaded());
        QCOMPARE(box().modelName(), QStringLiteral("chatglm2-6b"));
    }

    void newOptionsLoadAgain() {
        box().load(kModelUrl);
        QTRY_VERIFY(box().loaded());
        box().setPrecision(static_cast<int>(Precision::kInt8));
        QVERIFY(box().loading());
        QTRY_VERIFY(box().loaded());
        box().setDevice(99);
        QVERIFY(box().loaded());
        box().unload();
        QVERIFY(!box().loaded());
        box().setDevice(static_cast<int>(Device::kCpu));
        QVERIFY(!box().loading());
    }

    void contextSizeIsPassedOn() {
        m_window->parameters.setValue(QStringLiteral("contextSize"), 1024);
        box().load(kModelUrl);
        QTRY_VERIFY(box().loaded());
        QCOMPARE(m_window->engine.info().context_size, 1024);
    }

    void startsWithTheGuideModel() {
        box().loadAtStart({});
        QVERIFY(box().isGuideModel());
    }

    void startsWithTheLastChoice() {
        QVERIFY(write_model_choice(m_folder->path().toStdString(),
                                   {"/models/last", Device::kCpu, Precision::kInt8}));
        box().loadAtStart({});
        QCOMPARE(box().folder(), QStringLiteral("/models/last"));
        QCOMPARE(box().device(), static_cast<int>(Device::kCpu));
        QCOMPARE(box().precision(), static_cast<int>(Precision::kInt8));
    }

    void startsWithTheCommandLine() {
        box().loadAtStart(QStringLiteral("/models/asked"));
        QCOMPARE(box().folder(), QStringLiteral("/models/asked"));
    }

    void damagedChoiceIsTold() {
        QFile file(m_folder->filePath(QStringLiteral("model.json")));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("{");
        file.close();
        box().loadAtStart({});
        QVERIFY(m_window->card.visible());
        QVERIFY(box().isGuideModel());
    }

    /// The program was killed while it loaded: the model is not loaded again by itself, but can be.
    void noCrashLoop() {
        QVERIFY(write_model_choice(m_folder->path().toStdString(),
                                   {"/models/too-big", Device::kAuto, Precision::kAuto}));
        LoadMarker(m_folder->path()).write(QStringLiteral("/models/too-big"));
        box().loadAtStart({});
        QVERIFY(box().isGuideModel());
        QVERIFY(m_window->card.visible());
        QVERIFY(m_window->card.title().contains(u"too-big"));
        QTRY_VERIFY(box().loaded());
        QCOMPARE(rememberedFolder(), QStringLiteral("/models/too-big"));  // the guide model only fills in
        m_window->card.trigger();
        QCOMPARE(box().folder(), QStringLiteral("/models/too-big"));
    }

    void quittingWhileLoadingIsNoCrash() {
        m_window->script->setLoad(slowLoad());
        box().load(kModelUrl);
        box().shutDown();
        QVERIFY(m_window->engine.shutDown(std::chrono::seconds(10)));
        QVERIFY(LoadMarker(m_folder->path()).interruptedFolder().isEmpty());
    }

    void dropsOneFolder() {
        const QUrl folder = QUrl::fromLocalFile(m_folder->path());
        QFile file(m_folder->filePath(QStringLiteral("f")));
        QVERIFY(file.open(QIODevice::WriteOnly));
        QVERIFY(box().canDrop({folder}));
        QVERIFY(!box().canDrop({folder, folder}));
        QVERIFY(!box().canDrop({QUrl::fromLocalFile(file.fileName())}));
        QVERIFY(!box().canDrop({QUrl(QStringLiteral("https://example.org/"))}));
        QVERIFY(!box().canDrop({}));
    }

  private:
    ModelBox& box() { return m_window->box; }
    QString markerPath() const { return m_folder->filePath(QStringLiteral("loading")); }
    QString rememberedFolder() const {
        const auto choice = read_model_choice(m_folder->path().toStdString());
        return choice && *choice ? QString::fromStdU16String((*choice)->folder.u16string()) : QString();
    }

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<Window> m_window;
};

QTEST_MAIN(TestModelBox)
#include "tst_model_box.moc"
