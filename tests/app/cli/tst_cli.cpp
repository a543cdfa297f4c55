#include <QtTest>

#include "tests/support/conformance_kit.h"
#include "tests/support/npy.h"

namespace {

struct Outcome {
    int exitCode = -1;
    QByteArray out;
    QByteArray err;

    QJsonObject json() const { return QJsonDocument::fromJson(out).object(); }
};

QString toQString(const std::filesystem::path& path) {
    return QString::fromStdU16String(path.u16string());
}

QString guideModel() {
    return toQString(glmchat::test::source_dir() / "resources" / "guide-model");
}

QString joined(const QJsonArray& ids) {
    QStringList parts;
    for (const QJsonValue& id : ids) parts << QString::number(id.toInt());
    return parts.join(QLatin1Char(','));
}

QJsonObject readJson(const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) return {};
    return QJsonDocument::fromJson(file.readAll()).object();
}

}  // namespace

class TestCli : public QObject {
    Q_OBJECT

  private slots:
    void init() {
        m_folder = std::make_unique<QTemporaryDir>(QDir::tempPath() + QStringLiteral("/终端　测试 XXXXXX"));
        QVERIFY(m_folder->isValid());
    }

    void wrongUsageExitsWithTwo_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::newRow("nothing") << QStringList{};
        QTest::newRow("unknown command") << QStringList{"sing"};
        QTest::newRow("unknown option") << QStringList{"chat", "--loud"};
        QTest::newRow("unknown device") << QStringList{"chat", "--device", "tpu", "hi"};
        QTest::newRow("negative threads") << QStringList{"chat", "--threads", "-1", "hi"};
        QTest::newRow("ids are words")
            << QStringList{"generate", "--model", guideModel(), "--ids", "one,two"};
        QTest::newRow("no ids") << QStringList{"detokenize", "--model", guideModel(), ""};
        QTest::newRow("temperature below zero")
            << QStringList{"chat", "--model", guideModel(), "--temperature", "-1", "hi"};
    }

    void wrongUsageExitsWithTwo() {
        QFETCH(QStringList, arguments);
        const Outcome outcome = run(arguments);
        QCOMPARE(outcome.exitCode, 2);
        QVERIFY(outcome.out.isEmpty());
        QVERIFY(!outcome.err.isEmpty());
    }

    void aMissingModelExitsWithOne() {
        const Outcome outcome = run({"chat", "--model", m_folder->filePath("没有"), "hi"});
        QCOMPARE(outcome.exitCode, 1);
        QVERIFY(outcome.err.contains("没有"));
    }

    void helpAndVersion() {
        QCOMPARE(run({"--help"}).exitCode, 0);
        QVERIFY(run({"--help"}).out.contains("usage"));
        QCOMPARE(run({"--version"}).exitCode, 0);
    }

    void tokenizeReadsEveryByteOfStandardInput() {
        const QByteArray text = QStringLiteral("你好\r\n two  spaces \t\n").toUtf8();
        const Outcome ids = run({"tokenize", "--model", guideModel(), "--json", "-"}, text);
        QCOMPARE(ids.exitCode, 0);
        const QJsonArray array = ids.json().value("ids").toArray();
        QCOMPARE(ids.json().value("pieces").toArray().size(), array.size());
        const Outcome back = run({"detokenize", "--model", guideModel(), joined(array)});
        QCOMPARE(back.out, text);
    }

    void chatPromptHoldsTheHistory() {
        const QString history =
            writeFile("历史.json", R"([{"role":"user","content":"a"},{"role":"assistant","content":"b"}])");
        const Outcome one = run({"tokenize", "--model", guideModel(), "--chat", "--json", "c"});
        const Outcome two =
            run({"tokenize", "--model", guideModel(), "--chat", "--history", history, "--json", "c"});
        QCOMPARE(two.exitCode, 0);
        QVERIFY(two.json().value("ids").toArray().size() > one.json().value("ids").toArray().size());
        QCOMPARE(one.json().value("pieces").toArray().first().toString(), QStringLiteral("[gMASK]"));
    }

    void aBrokenHistoryIsNamed_data() {
        QTest::addColumn<QByteArray>("content");
        QTest::newRow("not JSON") << QByteArray("[{");
        QTest::newRow("object") << QByteArray("{}");
        QTest::newRow("unknown role") << QByteArray(R"([{"role":"robot","content":"x"}])");
        QTest::newRow("no content") << QByteArray(R"([{"role":"user"}])");
    }

    void aBrokenHistoryIsNamed() {
        QFETCH(QByteArray, content);
        const Outcome outcome =
            run({"chat", "--model", guideModel(), "--history", writeFile("h.json", content), "hi"});
        QCOMPARE(outcome.exitCode, 1);
        QVERIFY(outcome.err.contains("h.json"));
    }

    void chatAnswersAndIsReproducible() {
        const QStringList arguments = {"chat", "--model", guideModel(), "--seed", "5", "--json", "你好"};
        const Outcome first = run(arguments);
        QCOMPARE(first.exitCode, 0);
        QVERIFY(!first.json().value("text").toString().isEmpty());
        QCOMPARE(first.json().value("seed").toInt(), 5);
        QVERIFY(first.json().value("usage").toObject().value("completion_tokens").toInt() > 0);
        QCOMPARE(run(arguments).json().value("text"), first.json().value("text"));
        const Outcome plain = run({"chat", "--model", guideModel(), "--seed", "5", "你好"});
        QCOMPARE(QString::fromUtf8(plain.out), first.json().value("text").toString() + QLatin1Char('\n'));
    }

    void chatTakesSeveralRoundsFromStandardInput() {
        const Outcome outcome = run({"chat", "--model", guideModel(), "--temperature", "0"},
                                    "你好\n/regenerate\nHello!\n/quit\n");
        QCOMPARE(outcome.exitCode, 0);
        const QList<QByteArray> answers = outcome.out.trimmed().split('\n');
        QVERIFY2(answers.size() >= 3, outcome.out.constData());
        QCOMPARE(answers.at(0), answers.at(1));
    }

    void infoListsTensorsAndMemory() {
        const Outcome outcome = run({"info", "--model", guideModel(), "--json"});
        QCOMPARE(outcome.exitCode, 0);
        QVERIFY(outcome.json().value("tensors").toArray().size() > 10);
        const QJsonObject memory = outcome.json().value("memory").toObject();
        const auto bytes = [&memory](const char* precision) {
            return memory.value(QLatin1String(precision)).toObject().value("weight_bytes").toDouble();
        };
        QVERIFY(bytes("fp32") > bytes("fp16"));
        QVERIFY(bytes("fp16") > bytes("int8"));
        QVERIFY(bytes("int8") > bytes("int4"));
    }

    void logitsAreWrittenAsNumPy() {
        const QString out = m_folder->filePath("logits.npy");
        const Outcome outcome =
            run({"logits", "--model", guideModel(), "--ids", "5,6,7", "--precision", "fp32", "--out", out});
        QCOMPARE(outcome.exitCode, 0);
        const auto array = glmchat::test::read_npy(std::filesystem::path(out.toStdU16String()));
        QCOMPARE(array.shape.size(), std::size_t{2});
        QCOMPARE(array.shape[0], 3);
        QCOMPARE(static_cast<std::int64_t>(array.values.size()), array.shape[0] * array.shape[1]);
        QVERIFY(std::all_of(array.values.begin(), array.values.end(),
                            [](double value) { return std::isfinite(value); }));
    }

    void quantizedFolderAnswers() {
        const QString out = m_folder->filePath("int8");
        QCOMPARE(run({"quantize", "--model", guideModel(), "--precision", "int8", "--out", out}).exitCode, 0);
        QVERIFY(!run({"chat", "--model", out, "--temperature", "0", "你好"}).out.trimmed().isEmpty());
        // Nothing is overwritten, and a quantised model is not quantised again.
        QCOMPARE(run({"quantize", "--model", guideModel(), "--precision", "int8", "--out", out}).exitCode, 2);
        QCOMPARE(
            run({"quantize", "--model", out, "--precision", "int4", "--out", m_folder->filePath("again")})
                .exitCode,
            1);
    }

    void benchReportsSharesOfTheMachine() {
        const Outcome outcome =
            run({"bench", "--model", guideModel(), "-p", "32", "-n", "8", "--repeat", "1", "--json"});
        QCOMPARE(outcome.exitCode, 0);
        for (const char* key : {"prefill_tokens_per_s", "decode_tokens_per_s", "read_bandwidth_gb_s"}) {
            const QJsonObject spread = outcome.json().value(QLatin1String(key)).toObject();
            QVERIFY2(spread.value("median").toDouble() > 0, key);
        }
        QVERIFY(outcome.json().value("bytes_per_token").toDouble() > 0);
    }

    void noGpuIsNoObstacle() {
        const Outcome outcome = run({"chat", "--model", guideModel(), "--temperature", "0", "你好"}, {},
                                    {{"CUDA_VISIBLE_DEVICES", ""}});
        QCOMPARE(outcome.exitCode, 0);
        const Outcome cuda = run({"chat", "--model", guideModel(), "--device", "cuda", "你好"}, {},
                                 {{"CUDA_VISIBLE_DEVICES", ""}});
        QCOMPARE(cuda.exitCode, 1);
        QVERIFY(cuda.err.contains("CUDA"));
    }

    void kitGreedyIds_data() {
        QTest::addColumn<QString>("format");
        QTest::addColumn<QString>("threads");
        for (const char* format : {"hf-bin", "hf-safetensors", "hf-legacy"}) {
            for (const char* threads : {"1", "2"}) {
                QTest::addRow("%s, %s threads", format, threads) << QString(format) << QString(threads);
            }
        }
    }

    void kitGreedyIds() {
        const auto kit = glmchat::test::conformance_kit();
        if (!kit) QSKIP(glmchat::test::kKitMissing);
        QFETCH(QString, format);
        QFETCH(QString, threads);
        const QString model = toQString(*kit / "models" / "chatglm2-tiny");
        const QJsonArray prompts = readJson(model + "/case.json").value("prompts").toArray();
        QCOMPARE(prompts.size(), 3);
        for (const QJsonValue& value : prompts) {
            const QJsonObject prompt = value.toObject();
            const Outcome outcome =
                run({"generate", "--model", model + "/" + format, "--ids",
                     joined(prompt.value("input_ids").toArray()), "--greedy", "-n", "64", "--ignore-eos",
                     "--precision", "fp32", "--threads", threads, "--json"});
            QCOMPARE(outcome.exitCode, 0);
            QCOMPARE(outcome.json().value("ids").toArray(), prompt.value("greedy").toArray());
        }
    }

    void kitQuantizedWeights_data() {
        QTest::addColumn<QString>("precision");
        QTest::newRow("int8") << "int8";
        QTest::newRow("int4") << "int4";
    }

    /// Quantising chatglm2-tiny gives the kit's own quantised checkpoint: the same greedy ids, bit for bit
    /// the same weights.
    void kitQuantizedWeights() {
        const auto kit = glmchat::test::conformance_kit();
        if (!kit) QSKIP(glmchat::test::kKitMissing);
        QFETCH(QString, precision);
        const QString models = toQString(*kit / "models");
        const QString out = m_folder->filePath(precision);
        QCOMPARE(run({"quantize", "--model", models + "/chatglm2-tiny/hf-safetensors", "--precision",
                      precision, "--out", out})
                     .exitCode,
                 0);
        const QString ours = m_folder->filePath("ours.npy");
        const QString theirs = m_folder->filePath("theirs.npy");
        const QString kitModel = models + "/chatglm2-tiny-" + precision + "/hf-bin";
        QCOMPARE(run({"logits", "--model", out, "--ids", "5,6,7,8", "--out", ours}).exitCode, 0);
        QCOMPARE(run({"logits", "--model", kitModel, "--ids", "5,6,7,8", "--out", theirs}).exitCode, 0);
        QCOMPARE(readAll(ours), readAll(theirs));
    }

  private:
    Outcome run(const QStringList& arguments, const QByteArray& input = {},
                const QList<QPair<QString, QString>>& environment = {}) {
        QProcess process;
        QProcessEnvironment variables = QProcessEnvironment::systemEnvironment();
        variables.insert("XDG_CONFIG_HOME", m_folder->filePath("config"));
        for (const auto& [name, value] : environment) variables.insert(name, value);
        process.setProcessEnvironment(variables);
        process.start(QStringLiteral(GLMCHAT_CLI), arguments);
        process.write(input);
        process.closeWriteChannel();
        if (!process.waitForFinished(120'000)) return {};
        if (process.exitStatus() != QProcess::NormalExit) return {};
        return {process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
    }

    QString writeFile(const QString& name, const QByteArray& content) {
        const QString path = m_folder->filePath(name);
        QFile file(path);
        if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size())
            qFatal("cannot write %s", qPrintable(path));
        return path;
    }

    static QByteArray readAll(const QString& path) {
        QFile file(path);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

QTEST_GUILESS_MAIN(TestCli)
#include "tst_cli.moc"
