#pragma once

#include <QAbstractListModel>
#include <array>
#include <optional>

#include <QtQml/qqmlregistration.h>

#include "app/settings/parameter_kind.h"
#include "app/settings/settings_file.h"
#include "engine/sampling/sampler.h"

namespace glmchat {

/// One row of the table of parameters.
struct ParameterSpec {
    const char* key;
    const char* label;  ///< source text
    const char* help;   ///< source text
    double defaultValue;
    double from;
    double to;
    double stepSize;
    int decimals;
    ParameterKind::Value kind = ParameterKind::Slider;
};

/// The values with which answers are made. Everything that differs between parameters is in one table; a
/// change applies to the next answer and is kept in the settings. GUI thread.
class ParameterModel : public QAbstractListModel {
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by main")
    Q_PROPERTY(bool anyChanged READ anyChanged NOTIFY valuesChanged)
    Q_PROPERTY(bool canUndoReset READ canUndoReset NOTIFY valuesChanged)

  public:
    /// Row numbers.
    enum Parameter {
        Temperature,
        TopP,
        TopK,
        RepetitionPenalty,
        MaxNewTokens,
        Seed,
        ContextSize,
        ParameterCount,
    };

    enum Role {
        KeyRole = Qt::UserRole + 1,
        LabelRole,  ///< translated
        HelpRole,   ///< translated
        ValueRole,  ///< editable
        DefaultValueRole,
        FromRole,
        ToRole,
        StepSizeRole,
        DecimalsRole,
        ChangedRole,  ///< differs from the default
        KindRole,     ///< ParameterKind::Value
    };

    /// @param settings must outlive this object
    explicit ParameterModel(SettingsFile& settings, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    QHash<int, QByteArray> roleNames() const override;

    /// Rounds to the parameter's decimals and clamps; unknown keys and values that are no numbers change
    /// nothing.
    Q_INVOKABLE void setValue(const QString& key, double value);
    Q_INVOKABLE void reset(const QString& key);
    Q_INVOKABLE void resetAll();
    Q_INVOKABLE void undoReset();  ///< back to before the last reset, until a value is changed by hand

    bool anyChanged() const;
    bool canUndoReset() const { return m_beforeReset.has_value(); }

    double value(Parameter parameter) const { return m_values[parameter]; }
    SamplingParams samplingParams() const;      ///< without the seed
    std::optional<std::uint64_t> seed() const;  ///< none = random

    void retranslate();

  signals:
    void valuesChanged();

  private:
    using Values = std::array<double, ParameterCount>;

    void store(int row, double value);
    void resetTo(const Values& values);

    SettingsFile& m_settings;
    Values m_values;
    std::optional<Values> m_beforeReset;
};

}  // namespace glmchat
