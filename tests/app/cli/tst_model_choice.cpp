#include <QtTest>
#include <fstream>

#include "app/model_choice/model_choice.h"

using namespace glmchat;

class TestModelChoice : public QObject {
    Q_OBJECT

  private slots:
    void init() {
        m_folder = std::make_unique<QTemporaryDir>(QDir::tempPath() + QStringLiteral("/设置　目录 XXXXXX"));
        QVERIFY(m_folder->isValid());
    }

    void nothingWasChosen() {
        const auto choice = read_model_choice(folder());
        QVERIFY(choice.has_value());
        QVERIFY(!choice->has_value());
    }

    void isReadBackAsWritten() {
        const ModelChoice written{folder() / "模型（一）", Device::kCpu, Precision::kInt4};
        QVERIFY(write_model_choice(folder() / "new", written).has_value());
        const auto read = read_model_choice(folder() / "new");
        QVERIFY(read.has_value() && read->has_value());
        QCOMPARE((*read)->folder, written.folder);
        QCOMPARE((*read)->device, written.device);
        QCOMPARE((*read)->precision, written.precision);
    }

    void aBrokenFileIsNamed_data() {
        QTest::addColumn<QByteArray>("content");
        QTest::newRow("empty") << QByteArray();
        QTest::newRow("not JSON") << QByteArray("{\"model_folder\"");
        QTest::newRow("a list") << QByteArray("[1]");
        QTest::newRow("no folder") << QByteArray(R"({"device":"cpu","precision":"auto"})");
        QTest::newRow("unknown device")
            << QByteArray(R"({"model_folder":"/m","device":"tpu","precision":"auto"})");
        QTest::newRow("wrong type") << QByteArray(R"({"model_folder":7,"device":"cpu","precision":"auto"})");
    }

    void aBrokenFileIsNamed() {
        QFETCH(QByteArray, content);
        std::ofstream(folder() / "model.json", std::ios::binary).write(content.data(), content.size());
        const auto choice = read_model_choice(folder());
        QVERIFY(!choice.has_value());
        QCOMPARE(choice.error().kind, StatusKind::kBadFile);
        QVERIFY(choice.error().message.find("model.json") != std::string::npos);
    }

    void aFolderThatCannotBeWrittenIsAnError() {
        std::ofstream(folder() / "file") << "in the way";
        QVERIFY(!write_model_choice(folder() / "file", {}).has_value());
    }

  private:
    std::filesystem::path folder() const { return std::filesystem::path(m_folder->path().toStdU16String()); }
    std::unique_ptr<QTemporaryDir> m_folder;
};

QTEST_APPLESS_MAIN(TestModelChoice)
#include "tst_model_choice.moc"
