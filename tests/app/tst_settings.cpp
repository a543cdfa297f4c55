#include <QAbstractItemModelTester>
#include <QFile>
#include <QJsonDocument>
#include <QtTest>
#include <limits>

#include "app/settings/parameter_model.h"
#include "app/settings/preferences.h"

using namespace glmchat;

namespace {

void writeAll(const QString& path, const QByteArray& bytes) {
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(bytes);
}

QJsonObject readObject(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()).object() : QJsonObject();
}

}  // namespace

class TestSettings : public QObject {
    Q_OBJECT

  private slots:
    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        m_path = m_folder->filePath(QStringLiteral("config/settings.json"));
    }

    void officialDefaults() {
        SettingsFile settings(m_path);
        const ParameterModel parameters(settings);
        const SamplingParams params = parameters.samplingParams();
        QCOMPARE(params.temperature, 0.8F);
        QCOMPARE(params.top_p, 0.8F);
        QCOMPARE(params.top_k, 50);
        QCOMPARE(params.repetition_penalty, 1.0F);
        QVERIFY(!parameters.seed());
        QCOMPARE(parameters.value(ParameterModel::ContextSize), 8192.0);
        QVERIFY(!parameters.anyChanged());
    }

    void valuesAreFitted_data() {
        QTest::addColumn<QString>("key");
        QTest::addColumn<double>("value");
        QTest::addColumn<double>("expected");
        const double infinity = std::numeric_limits<double>::infinity();
        const double nan = std::numeric_limits<double>::quiet_NaN();
        QTest::newRow("in range") << "temperature" << 1.25 << 1.25;
        QTest::newRow("rounded") << "temperature" << 0.12345 << 0.12;
        QTest::newRow("too small") << "topP" << -1.0 << 0.0;
        QTest::newRow("too large") << "topP" << 1.5 << 1.0;
        QTest::newRow("infinite") << "temperature" << infinity << 2.0;
        QTest::newRow("not a number") << "temperature" << nan << 0.8;
        QTest::newRow("whole numbers") << "topK" << 12.6 << 13.0;
        QTest::newRow("seed") << "seed" << 4294967295.0 << 4294967295.0;
        QTest::newRow("random seed") << "seed" << -5.0 << -1.0;
        QTest::newRow("context") << "contextSize" << 1.0 << 256.0;
    }
    void valuesAreFitted() {
        QFETCH(QString, key);
        QFETCH(double, value);
        QFETCH(double, expected);
        SettingsFile settings(m_path);
        ParameterModel parameters(settings);
        const QAbstractItemModelTester tester(&parameters,
                                              QAbstractItemModelTester::FailureReportingMode::QtTest);
        parameters.setValue(key, value);
        const QModelIndexList rows =
            parameters.match(parameters.index(0), ParameterModel::KeyRole, key, 1, Qt::MatchExactly);
        QCOMPARE(rows.size(), 1);
        QCOMPARE(rows[0].data(ParameterModel::ValueRole).toDouble(), expected);
    }

    void unknownKeysAndTextsChangeNothing() {
        SettingsFile settings(m_path);
        ParameterModel parameters(settings);
        parameters.setValue(QStringLiteral("nonsense"), 1);
        parameters.reset(QStringLiteral("nonsense"));
        QVERIFY(!parameters.setData(parameters.index(0), QStringLiteral("abc"), ParameterModel::ValueRole));
        QVERIFY(!parameters.setData(parameters.index(0), 1, ParameterModel::LabelRole));
        QVERIFY(!parameters.anyChanged());
    }

    void resetAndUndo() {
        SettingsFile settings(m_path);
        ParameterModel parameters(settings);
        parameters.resetAll();
        QVERIFY(!parameters.canUndoReset());  // there was nothing to reset
        parameters.setValue(QStringLiteral("topK"), 10);
        parameters.setValue(QStringLiteral("seed"), 3);
        QVERIFY(parameters.anyChanged());
        parameters.resetAll();
        QVERIFY(!parameters.anyChanged());
        QVERIFY(parameters.canUndoReset());
        parameters.undoReset();
        QCOMPARE(parameters.value(ParameterModel::TopK), 10.0);
        QCOMPARE(parameters.seed().value(), 3U);
        parameters.reset(QStringLiteral("topK"));
        QCOMPARE(parameters.value(ParameterModel::TopK), 50.0);
        QCOMPARE(parameters.seed().value(), 3U);
        parameters.setValue(QStringLiteral("topP"), 0.5);
        QVERIFY(!parameters.canUndoReset());  // a new value is not to be lost by an undo
    }

    void changesAreKept() {
        {
            SettingsFile settings(m_path);
            ParameterModel parameters(settings);
            parameters.setValue(QStringLiteral("temperature"), 0.35);
            Preferences preferences(settings);
            preferences.setTheme(QStringLiteral("dark"));
            preferences.setEnterSends(false);
        }
        SettingsFile settings(m_path);
        const ParameterModel parameters(settings);
        const Preferences preferences(settings);
        QCOMPARE(parameters.value(ParameterModel::Temperature), 0.35);
        QVERIFY(preferences.darkMode());
        QVERIFY(!preferences.enterSends());
    }

    void writesAreCollected() {
        SettingsFile settings(m_path);
        for (int i = 0; i < 100; ++i) settings.setValue(QStringLiteral("key"), i);
        QVERIFY(!QFile::exists(m_path));
        QTRY_VERIFY(QFile::exists(m_path));
        QCOMPARE(readObject(m_path).value(u"key").toInt(), 99);
    }

    void storedNonsenseCountsAsDefault() {
        writeAll(m_folder->filePath(QStringLiteral("s.json")),
                 "{\"parameters/temperature\": 99, \"parameters/topK\": \"x\", \"theme\": \"pink\", "
                 "\"language\": 3, "
                 "\"enterSends\": \"no\"}");
        SettingsFile settings(m_folder->filePath(QStringLiteral("s.json")));
        const ParameterModel parameters(settings);
        const Preferences preferences(settings);
        QCOMPARE(parameters.value(ParameterModel::Temperature), 2.0);
        QCOMPARE(parameters.value(ParameterModel::TopK), 50.0);
        QCOMPARE(preferences.theme(), QStringLiteral("system"));
        QCOMPARE(preferences.language(), QStringLiteral("system"));
        QVERIFY(preferences.enterSends());
    }

    void damagedFileIsMovedAside_data() {
        QTest::addColumn<QByteArray>("bytes");
        QTest::newRow("empty") << QByteArray("");
        QTest::newRow("zeros") << QByteArray(100, '\0');
        QTest::newRow("half") << QByteArray("{\"theme\": \"da");
        QTest::newRow("a list") << QByteArray("[1]");
    }
    void damagedFileIsMovedAside() {
        QFETCH(QByteArray, bytes);
        const QString path = m_folder->filePath(QStringLiteral("s.json"));
        writeAll(path, bytes);
        SettingsFile settings(path);
        QVERIFY(QFile::exists(settings.movedAside()));
        QVERIFY(!QFile::exists(path));
        settings.setValue(QStringLiteral("a"), 1);
        settings.flush();
        QCOMPARE(readObject(path).value(u"a").toInt(), 1);
        QVERIFY(SettingsFile(path).movedAside().isEmpty());
    }

    void unwritableFolderIsTold() {
        const QString file = m_folder->filePath(QStringLiteral("file"));
        writeAll(file, "x");
        SettingsFile settings(file + QStringLiteral("/settings.json"));
        const QSignalSpy failed(&settings, &SettingsFile::writeFailed);
        settings.setValue(QStringLiteral("a"), 1);
        settings.flush();
        QTRY_COMPARE(failed.size(), 1);
    }

    void languageSwitchesLive() {
        SettingsFile settings(m_path);
        Preferences preferences(settings);
        ParameterModel parameters(settings);
        preferences.setLanguage(QStringLiteral("en"));
        const QModelIndex row = parameters.index(ParameterModel::Temperature);
        QCOMPARE(row.data(ParameterModel::LabelRole).toString(), QStringLiteral("Temperature"));
        const QSignalSpy changed(&preferences, &Preferences::languageChanged);
        preferences.setLanguage(QStringLiteral("zh_CN"));
        QCOMPARE(changed.size(), 1);
        QCOMPARE(row.data(ParameterModel::LabelRole).toString(), QStringLiteral("温度"));
        preferences.setLanguage(QStringLiteral("klingon"));
        QCOMPARE(preferences.language(), QStringLiteral("zh_CN"));
    }

  private:
    std::unique_ptr<QTemporaryDir> m_folder;
    QString m_path;
};

QTEST_MAIN(TestSettings)
#include "tst_settings.moc"
