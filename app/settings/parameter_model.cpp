#include "app/settings/parameter_model.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

namespace glmchat {
namespace {

constexpr double kMaxSeed = 4294967295.0;  // 32 bits: what the engine draws, and exact as a JSON number

/// In the order of ParameterModel::Parameter. Defaults are those of the official chat().
constexpr std::array<ParameterSpec, ParameterModel::ParameterCount> kSpecs{{
    {"temperature", QT_TRANSLATE_NOOP("glmchat::ParameterModel", "Temperature"),
     QT_TRANSLATE_NOOP(
         "glmchat::ParameterModel",
         "Higher values make answers more varied, lower ones more predictable. 0 always takes the most "
         "probable word."),
     0.8, 0, 2, 0.05, 2},
    {"topP", QT_TRANSLATE_NOOP("glmchat::ParameterModel", "Top-p"),
     QT_TRANSLATE_NOOP(
         "glmchat::ParameterModel",
         "Draws only from the most probable words that together reach this share. 1 switches it off."),
     0.8, 0, 1, 0.01, 2},
    {"topK", QT_TRANSLATE_NOOP("glmchat::ParameterModel", "Top-k"),
     QT_TRANSLATE_NOOP("glmchat::ParameterModel",
                       "Draws only from this many most probable words. 0 switches it off."),
     50, 0, 200, 1, 0},
    {"repetitionPenalty", QT_TRANSLATE_NOOP("glmchat::ParameterModel", "Repetition penalty"),
     QT_TRANSLATE_NOOP("glmchat::ParameterModel",
                       "Makes words that were already used less probable. 1 switches it off."),
     1, 1, 2, 0.01, 2},
    {"maxNewTokens", QT_TRANSLATE_NOOP("glmchat::ParameterModel", "Longest answer"),
     QT_TRANSLATE_NOOP("glmchat::ParameterModel", "An answer is cut off after this many tokens."), 2048, 1,
     8192, 1, 0},
    {"seed", QT_TRANSLATE_NOOP("glmchat::ParameterModel", "Seed"),
     QT_TRANSLATE_NOOP(
         "glmchat::ParameterModel",
         "The same number, question and settings give the same answer again. Random: a new number for "
         "every answer."),
     -1, -1, kMaxSeed, 1, 0, ParameterKind::Seed},
    {"contextSize", QT_TRANSLATE_NOOP("glmchat::ParameterModel", "Context size"),
     QT_TRANSLATE_NOOP(
         "glmchat::ParameterModel",
         "How many tokens of the conversation the model can see. More needs more memory. Applies when a "
         "model is loaded the next time."),
     8192, 256, 32768, 256, 0},
}};

const ParameterSpec& spec(int row) {
    return kSpecs[static_cast<std::size_t>(row)];
}

int rowOf(const QString& key) {
    const auto found = std::find_if(kSpecs.begin(), kSpecs.end(),
                                    [&](const ParameterSpec& s) { return key == QLatin1String(s.key); });
    return found == kSpecs.end() ? -1 : static_cast<int>(found - kSpecs.begin());
}

double fitted(const ParameterSpec& parameter, double value) {
    const double scale = std::pow(10.0, parameter.decimals);
    return std::clamp(std::round(value * scale) / scale, parameter.from, parameter.to);
}

QString settingsKey(const ParameterSpec& parameter) {
    return QStringLiteral("parameters/") + QLatin1String(parameter.key);
}

QString translated(const char* text) {
    return QCoreApplication::translate("glmchat::ParameterModel", text);
}

}  // namespace

ParameterModel::ParameterModel(SettingsFile& settings, QObject* parent)
    : QAbstractListModel(parent), m_settings(settings) {
    for (int row = 0; row < ParameterCount; ++row) {
        const double stored = m_settings.value(settingsKey(spec(row))).toDouble(spec(row).defaultValue);
        m_values[static_cast<std::size_t>(row)] = fitted(spec(row), stored);
    }
}

int ParameterModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(ParameterCount);
}

QVariant ParameterModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const ParameterSpec& parameter = spec(index.row());
    const double value = m_values[static_cast<std::size_t>(index.row())];
    switch (role) {
        case KeyRole:
            return QString::fromLatin1(parameter.key);
        case LabelRole:
            return translated(parameter.label);
        case HelpRole:
            return translated(parameter.help);
        case ValueRole:
            return value;
        case DefaultValueRole:
            return parameter.defaultValue;
        case FromRole:
            return parameter.from;
        case ToRole:
            return parameter.to;
        case StepSizeRole:
            return parameter.stepSize;
        case DecimalsRole:
            return parameter.decimals;
        case ChangedRole:
            return value != parameter.defaultValue;
        case KindRole:
            return parameter.kind;
        default:
            return {};
    }
}

bool ParameterModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (role != ValueRole || !checkIndex(index, CheckIndexOption::IndexIsValid)) return false;
    bool isNumber = false;
    const double number = value.toDouble(&isNumber);
    if (!isNumber || std::isnan(number)) return false;
    m_beforeReset.reset();
    store(index.row(), fitted(spec(index.row()), number));
    emit valuesChanged();
    return true;
}

Qt::ItemFlags ParameterModel::flags(const QModelIndex& index) const {
    const Qt::ItemFlags flags = QAbstractListModel::flags(index);
    return index.isValid() ? flags | Qt::ItemIsEditable : flags;
}

QHash<int, QByteArray> ParameterModel::roleNames() const {
    return {{KeyRole, "key"},
            {LabelRole, "label"},
            {HelpRole, "help"},
            {ValueRole, "value"},
            {DefaultValueRole, "defaultValue"},
            {FromRole, "from"},
            {ToRole, "to"},
            {StepSizeRole, "stepSize"},
            {DecimalsRole, "decimals"},
            {ChangedRole, "changed"},
            {KindRole, "kind"}};
}

void ParameterModel::setValue(const QString& key, double value) {
    if (const int row = rowOf(key); row >= 0) setData(index(row), value, ValueRole);
}

void ParameterModel::reset(const QString& key) {
    const int row = rowOf(key);
    if (row < 0) return;
    Values values = m_values;
    values[static_cast<std::size_t>(row)] = spec(row).defaultValue;
    resetTo(values);
}

void ParameterModel::resetAll() {
    Values values{};
    std::transform(kSpecs.begin(), kSpecs.end(), values.begin(),
                   [](const ParameterSpec& s) { return s.defaultValue; });
    resetTo(values);
}

void ParameterModel::resetTo(const Values& values) {
    if (values == m_values) return;
    m_beforeReset = m_values;
    for (int row = 0; row < ParameterCount; ++row) store(row, values[static_cast<std::size_t>(row)]);
    emit valuesChanged();
}

void ParameterModel::undoReset() {
    if (!m_beforeReset) return;
    const Values values = *m_beforeReset;
    m_beforeReset.reset();
    for (int row = 0; row < ParameterCount; ++row) store(row, values[static_cast<std::size_t>(row)]);
    emit valuesChanged();
}

void ParameterModel::store(int row, double value) {
    double& current = m_values[static_cast<std::size_t>(row)];
    if (current == value) return;
    current = value;
    m_settings.setValue(settingsKey(spec(row)), value);
    emit dataChanged(index(row), index(row), {ValueRole, ChangedRole});
}

bool ParameterModel::anyChanged() const {
    for (int row = 0; row < ParameterCount; ++row) {
        if (m_values[static_cast<std::size_t>(row)] != spec(row).defaultValue) return true;
    }
    return false;
}

SamplingParams ParameterModel::samplingParams() const {
    SamplingParams params;
    params.temperature = static_cast<float>(value(Temperature));
    params.top_p = static_cast<float>(value(TopP));
    params.top_k = static_cast<std::int32_t>(value(TopK));
    params.repetition_penalty = static_cast<float>(value(RepetitionPenalty));
    return params;
}

std::optional<std::uint64_t> ParameterModel::seed() const {
    if (value(Seed) < 0) return std::nullopt;
    return static_cast<std::uint64_t>(value(Seed));
}

void ParameterModel::retranslate() {
    emit dataChanged(index(0), index(ParameterCount - 1), {LabelRole, HelpRole});
}

}  // namespace glmchat
