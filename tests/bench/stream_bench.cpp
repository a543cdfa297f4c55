// stream_bench [TOKENS_PER_SECOND [CHARACTERS]]: the real window, offscreen, shows a long answer of a
// scripted engine while a heartbeat on the GUI thread measures how long that thread was busy at a time.
#include <QElapsedTimer>
#include <QGuiApplication>
#include <QQmlApplicationEngine>
#include <QQuickStyle>
#include <QTemporaryDir>
#include <QTimer>
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

#include "app/chat/chat_session.h"
#include "app/inference/model_box.h"
#include "app/inference/testing/fake_engine.h"
#include "app/qml_types.h"
#include "app/settings/preferences.h"

using namespace glmchat;

namespace {

constexpr int kHeartbeatMs = 4;
constexpr int kTokensPerRow = 1000;

/// Chinese prose, English prose and code, about two characters a token.
std::vector<std::string> longAnswer(int numCharacters) {
    const QString section = QStringLiteral(
        "语言模型把文字切成词元，逐个预测下一个词元。每生成一个词元，它都会重新看一遍前面的全部内容。\n\n"
        "A model of this size reads its weights once per token, so its speed is the speed of memory.\n\n"
        "```cpp\nfor (int layer = 0; layer < 28; ++layer) {\n    hidden_states = block(hidden_states, "
        "layer);\n}\n```\n\n");
    QString text;
    while (text.size() < numCharacters) text += section;
    text.truncate(numCharacters);
    std::vector<std::string> tokens;
    for (qsizetype from = 0; from < text.size(); from += 2) tokens.push_back(text.mid(from, 2).toStdString());
    return tokens;
}

/// CPU time of the calling thread.
double threadMs() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

/// Measures on the GUI thread.
class Meter : public QObject {
  public:
    explicit Meter(EngineClient& engine) {
        m_heartbeat.setTimerType(Qt::PreciseTimer);
        m_heartbeat.setInterval(kHeartbeatMs);
        connect(&m_heartbeat, &QTimer::timeout, this, [this] {
            m_gapsMs.push_back(static_cast<double>(m_sinceBeat.nsecsElapsed()) / 1e6);
            m_sinceBeat.start();
        });
        connect(&engine, &EngineClient::chatEvent, this, [this](const ChatEvent& event) {
            if (const auto* text = std::get_if<ChatText>(&event.what)) takeTokens(text->num_new_tokens);
        });
    }

    void start() {
        m_sinceBeat.start();
        m_heartbeat.start();
        m_rowBeginMs = threadMs();
        m_sinceRow.start();
    }

    void print() {
        std::sort(m_gapsMs.begin(), m_gapsMs.end());
        std::printf("GUI heartbeat, timer of %d ms (gap = time between two beats)\n", kHeartbeatMs);
        for (const double percentile : {50.0, 95.0, 99.0, 99.9, 100.0}) {
            const auto last = static_cast<double>(m_gapsMs.size() - 1);
            std::printf("  p%-5g %8.1f ms\n", percentile,
                        m_gapsMs[static_cast<std::size_t>(last * percentile / 100.0)]);
        }
        std::printf("per %d tokens: rate at which the window took them, CPU time of the GUI thread\n",
                    kTokensPerRow);
        for (std::size_t row = 0; row < m_rows.size(); ++row) {
            std::printf("  %5zu .. %5zu %8.1f tokens/s %8.1f ms\n", row * kTokensPerRow,
                        (row + 1) * kTokensPerRow, m_rows[row].tokensPerSecond, m_rows[row].cpuMs);
        }
    }

  private:
    struct Row {
        double tokensPerSecond;
        double cpuMs;
    };

    void takeTokens(int numTokens) {
        const auto numRows = static_cast<std::size_t>(numTokens / kTokensPerRow);
        if (numRows <= m_rows.size()) return;
        const double now = threadMs();
        const double seconds = static_cast<double>(m_sinceRow.nsecsElapsed()) / 1e9;
        m_rows.push_back({(numTokens - m_rowBeginTokens) / seconds, now - m_rowBeginMs});
        m_rowBeginTokens = numTokens;
        m_rowBeginMs = now;
        m_sinceRow.start();
    }

    QTimer m_heartbeat;
    QElapsedTimer m_sinceBeat;
    std::vector<double> m_gapsMs;
    QElapsedTimer m_sinceRow;
    std::vector<Row> m_rows;
    int m_rowBeginTokens = 0;
    double m_rowBeginMs = 0;
};

void waitUntil(const std::function<bool()>& condition) {
    while (!condition()) QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
}

}  // namespace

int main(int argc, char** argv) {
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    if (qEnvironmentVariableIsEmpty("QT_QUICK_BACKEND")) qputenv("QT_QUICK_BACKEND", "software");
    QQuickStyle::setStyle(QStringLiteral("Basic"));
    const QGuiApplication application(argc, argv);
    registerQmlTypes();
    const double tokensPerSecond = argc > 1 ? std::atof(argv[1]) : 300;
    const int numCharacters = argc > 2 ? std::atoi(argv[2]) : 20000;

    const QTemporaryDir folder;
    const auto script = std::make_shared<FakeScript>();
    SettingsFile settings(folder.filePath(QStringLiteral("settings.json")));
    Preferences preferences(settings);
    ParameterModel parameters(settings);
    StorageClient storage;
    EngineClient engine(std::make_unique<FakeEngine>(script));
    ChatSession session(engine, storage, parameters);
    ModelBox modelBox(engine, parameters, *session.error(), {folder.path(), {}});
    QQmlApplicationEngine qml;
    qml.addImportPath(QStringLiteral("qrc:/"));
    qml.setInitialProperties({{QStringLiteral("session"), QVariant::fromValue(&session)},
                              {QStringLiteral("modelBox"), QVariant::fromValue(&modelBox)},
                              {QStringLiteral("parameters"), QVariant::fromValue(&parameters)},
                              {QStringLiteral("preferences"), QVariant::fromValue(&preferences)}});
    qml.load(QUrl(QStringLiteral("qrc:/GlmChat/Ui/Main.qml")));
    if (qml.rootObjects().isEmpty()) return EXIT_FAILURE;

    storage.open(folder.path());
    engine.load({});
    waitUntil([&] { return session.canSend(); });
    FakeAnswer answer;
    answer.tokens = longAnswer(numCharacters);
    answer.tokensPerSecond = tokensPerSecond;
    script->setAnswer(answer);
    std::printf("%zu tokens, %d characters, %g tokens/s\n", answer.tokens.size(), numCharacters,
                tokensPerSecond);

    Meter meter(engine);
    session.send(QStringLiteral("请写一篇很长的文章。"));
    meter.start();
    waitUntil([&] { return !session.generating(); });
    meter.print();
    return EXIT_SUCCESS;
}
