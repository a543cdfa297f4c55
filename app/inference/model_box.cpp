#include "app/inference/model_box.h"

#include <QDir>
#include <QFileInfo>
#include <QLocale>
#include <filesystem>
#include <utility>

#include "app/inference/status_text.h"
#include "app/model_choice/model_choice.h"

namespace glmchat {
namespace {

const QString kTopic = QStringLiteral("load");

std::filesystem::path toPath(const QString& text) {
    return std::filesystem::path(text.toStdU16String());
}

QString fromPath(const std::filesystem::path& path) {
    return QString::fromStdU16String(path.u16string());
}

QString folderName(const QString& folder) {
    return QFileInfo(QDir::cleanPath(folder)).fileName();
}

/// A home folder is shown as "~".
QString displayPath(const QString& folder) {
    const QString home = QDir::homePath();
    const QString path = folder.startsWith(home + u'/') ? u'~' + folder.mid(home.size()) : folder;
    return QDir::toNativeSeparators(path);
}

}  // namespace

ModelBox::ModelBox(EngineClient& engine, const ParameterModel& parameters, ErrorCard& card, Places places,
                   QObject* parent)
    : QObject(parent),
      m_engine(engine),
      m_parameters(parameters),
      m_card(card),
      m_places(std::move(places)),
      m_marker(m_places.configFolder) {
    m_secondTimer.setInterval(std::chrono::seconds(1));
    connect(&m_secondTimer, &QTimer::timeout, this, &ModelBox::progressChanged);
    connect(&m_engine, &EngineClient::stateChanged, this, &ModelBox::takeEngineState);
    connect(&m_engine, &EngineClient::loadProgressed, this, &ModelBox::takeProgress);
    connect(&m_engine, &EngineClient::loaded, this, &ModelBox::takeLoaded);
    connect(&m_engine, &EngineClient::loadFailed, this, &ModelBox::takeFailure);
}

QString ModelBox::modelName() const {
    return folderName(m_folder);
}

QString ModelBox::folder() const {
    return displayPath(m_folder);
}

bool ModelBox::isGuideModel() const {
    return !m_folder.isEmpty() && m_folder == m_places.guideModelFolder;
}

QString ModelBox::progressText() const {
    return loading() ? tr("Loading %1 %").arg(static_cast<int>(m_progress * 100)) : QString();
}

int ModelBox::elapsedSeconds() const {
    return loading() ? static_cast<int>(m_sinceStart.elapsed() / 1000) : 0;
}

QString ModelBox::deviceName() const {
    return QString::fromStdString(m_engine.info().device_name);
}

QString ModelBox::deviceNote() const {
    return deviceNoteText(m_engine.info().device_note);
}

QString ModelBox::precisionName() const {
    return loaded() ? QString::fromStdString(glmchat::precision_name(m_engine.info().precision)).toUpper()
                    : QString();
}

QString ModelBox::memoryText() const {
    if (!loaded()) return {};
    const auto size = [](std::size_t bytes) {
        return QLocale().formattedDataSize(static_cast<qint64>(bytes), 1, QLocale::DataSizeTraditionalFormat);
    };
    return tr("weights %1 · cache %2")
        .arg(size(m_engine.info().weight_bytes), size(m_engine.info().kv_cache_bytes));
}

QStringList ModelBox::deviceNames() const {
    return {tr("Automatic"), QStringLiteral("CPU"), QStringLiteral("CUDA")};
}

QStringList ModelBox::precisionNames() const {
    return {tr("As stored"), QStringLiteral("FP32"), QStringLiteral("FP16"), QStringLiteral("INT8"),
            QStringLiteral("INT4")};
}

QString ModelBox::status() const {
    switch (m_engine.state()) {
        case EngineState::NoModel:
            return tr("No model is loaded");
        case EngineState::Loading:
            return tr("Loading %1: %2 %").arg(modelName()).arg(static_cast<int>(m_progress * 100));
        case EngineState::Failed:
            return tr("%1 could not be loaded").arg(modelName());
        case EngineState::Ready:
        case EngineState::Prefilling:
        case EngineState::Decoding:
        case EngineState::Stopping:
            break;
    }
    return QStringList{modelName(), precisionName(), deviceName()}.join(QStringLiteral(" · "));
}

void ModelBox::setDevice(int device) {
    if (device == this->device() || device < 0 || device >= deviceNames().size()) return;
    m_device = static_cast<Device>(device);
    changeOption();
}

void ModelBox::setPrecision(int precision) {
    if (precision == this->precision() || precision < 0 || precision >= precisionNames().size()) return;
    m_precision = static_cast<Precision>(precision);
    changeOption();
}

void ModelBox::changeOption() {
    emit changed();
    if (loaded() || loading()) reload();
}

void ModelBox::loadAtStart(const QString& folder) {
    const QString interrupted = m_marker.interruptedFolder();
    m_marker.clear();
    if (!folder.isEmpty()) {
        loadFolder(QDir(folder).absolutePath());
    } else if (!interrupted.isEmpty()) {
        showInterrupted(interrupted);
        if (interrupted != m_places.guideModelFolder) fallBack();
    } else {
        loadRemembered();
    }
}

void ModelBox::loadRemembered() {
    const auto choice = read_model_choice(toPath(m_places.configFolder));
    if (!choice) {
        m_card.show({QStringLiteral("choice"), tr("The last model is not known any more"),
                     statusMessage(choice.error()), statusDetail(choice.error())});
    }
    if (!choice || !*choice) return fallBack();
    m_device = (*choice)->device;
    m_precision = (*choice)->precision;
    loadFolder(fromPath((*choice)->folder));
}

void ModelBox::showInterrupted(const QString& folder) {
    m_card.show({QStringLiteral("interrupted"),
                 tr("glmchat was closed while loading %1").arg(folderName(folder)),
                 tr("It was not loaded again by itself. The computer may have too little memory for it: a "
                    "smaller precision "
                    "needs less."),
                 displayPath(folder), tr("Load again"), [this, folder] { loadFolder(folder); }});
}

void ModelBox::load(const QUrl& url) {
    if (url.isLocalFile()) loadFolder(QDir::cleanPath(url.toLocalFile()));
}

void ModelBox::loadGuideModel() {
    if (!m_places.guideModelFolder.isEmpty()) loadFolder(m_places.guideModelFolder);
}

void ModelBox::fallBack() {
    if (!m_places.guideModelFolder.isEmpty()) loadFolder(m_places.guideModelFolder, Origin::Fallback);
}

void ModelBox::unload() {
    m_marker.clear();
    m_engine.unload();
}

void ModelBox::cancel() {
    if (!loading()) return;
    m_marker.clear();
    m_engine.cancelLoad();
}

void ModelBox::reload() {
    if (!m_folder.isEmpty()) loadFolder(m_folder);
}

bool ModelBox::canDrop(const QList<QUrl>& urls) const {
    return urls.size() == 1 && urls.first().isLocalFile() && QFileInfo(urls.first().toLocalFile()).isDir();
}

void ModelBox::shutDown() {
    if (loading()) m_marker.clear();
}

void ModelBox::loadFolder(const QString& folder, Origin origin) {
    m_folder = folder;
    m_origin = origin;
    m_progress = 0;
    m_sinceStart.start();
    m_card.clear(kTopic);
    m_marker.write(folder);

    ChatEngineOptions options;
    options.model_folder = toPath(folder);
    options.device = m_device;
    options.precision = m_precision;
    options.context_size = static_cast<std::int32_t>(m_parameters.value(ParameterModel::ContextSize));
    m_engine.load(options);
    emit changed();
    emit progressChanged();
    emit statusChanged();
}

void ModelBox::takeEngineState() {
    if (loading()) {
        m_secondTimer.start();
    } else {
        m_secondTimer.stop();
    }
    emit changed();
    emit progressChanged();
    emit statusChanged();
}

void ModelBox::takeProgress(float fraction) {
    m_progress = static_cast<double>(fraction);
    emit progressChanged();
    emit statusChanged();
}

void ModelBox::takeLoaded() {
    m_marker.clear();
    if (m_origin == Origin::User) rememberChoice();
    emit changed();
    emit statusChanged();
}

void ModelBox::rememberChoice() {
    const auto written =
        write_model_choice(toPath(m_places.configFolder), {toPath(m_folder), m_device, m_precision});
    if (written) return;
    m_card.show({QStringLiteral("choice"), tr("The chosen model will not be remembered"),
                 statusMessage(written.error()), statusDetail(written.error())});
}

void ModelBox::takeFailure(const Status& status) {
    m_marker.clear();
    m_card.show(failureContent(status));
}

/// One next step, the likeliest to help.
ErrorContent ModelBox::failureContent(const Status& status) {
    ErrorContent content{kTopic,
                         tr("%1 could not be loaded: %2").arg(modelName(), statusKindText(status.kind)),
                         statusMessage(status),
                         statusDetail(status),
                         {},
                         {}};
    const bool mayShrink = m_precision != Precision::kInt4;
    if (status.kind == StatusKind::kOutOfMemory && mayShrink) {
        content.actionText = tr("Load as INT4");
        content.action = [this] {
            m_precision = Precision::kInt4;
            reload();
        };
    } else if (m_device == Device::kCuda) {
        content.actionText = tr("Use the CPU");
        content.action = [this] {
            m_device = Device::kCpu;
            reload();
        };
    } else if (!isGuideModel() && !m_places.guideModelFolder.isEmpty()) {
        content.actionText = tr("Use the built-in model");
        content.action = [this] { loadGuideModel(); };
    } else {
        content.actionText = tr("Try again");
        content.action = [this] { reload(); };
    }
    return content;
}

void ModelBox::retranslate() {
    emit changed();
    emit progressChanged();
    emit statusChanged();
}

}  // namespace glmchat
