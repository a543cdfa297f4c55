#pragma once

#include <QElapsedTimer>
#include <QList>
#include <QObject>
#include <QStringList>
#include <QTimer>
#include <QUrl>

#include <QtQml/qqmlregistration.h>

#include "app/chat/error_card.h"
#include "app/inference/engine_client.h"
#include "app/inference/load_marker.h"
#include "app/settings/parameter_model.h"

namespace glmchat {

/// Which model is loaded, which one is wanted, and what loading it says. Remembers the choice after success
/// and does not load by itself a model that took the program down. GUI thread.
class ModelBox : public QObject {
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by main")
    Q_PROPERTY(QString modelName READ modelName NOTIFY changed)
    Q_PROPERTY(QString folder READ folder NOTIFY changed)
    Q_PROPERTY(bool isGuideModel READ isGuideModel NOTIFY changed)
    Q_PROPERTY(bool loaded READ loaded NOTIFY changed)
    Q_PROPERTY(bool loading READ loading NOTIFY changed)
    Q_PROPERTY(double progress READ progress NOTIFY progressChanged)
    Q_PROPERTY(QString progressText READ progressText NOTIFY progressChanged)
    Q_PROPERTY(int elapsedSeconds READ elapsedSeconds NOTIFY progressChanged)
    Q_PROPERTY(QString deviceName READ deviceName NOTIFY changed)
    Q_PROPERTY(QString deviceNote READ deviceNote NOTIFY changed)
    Q_PROPERTY(QString precisionName READ precisionName NOTIFY changed)
    Q_PROPERTY(QString memoryText READ memoryText NOTIFY changed)
    Q_PROPERTY(int device READ device WRITE setDevice NOTIFY changed)
    Q_PROPERTY(int precision READ precision WRITE setPrecision NOTIFY changed)
    Q_PROPERTY(QStringList deviceNames READ deviceNames NOTIFY changed)
    Q_PROPERTY(QStringList precisionNames READ precisionNames NOTIFY changed)
    Q_PROPERTY(QString status READ status NOTIFY statusChanged)

  public:
    /// Where the box looks and writes.
    struct Places {
        QString configFolder;      ///< remembered choice and load marker
        QString guideModelFolder;  ///< "" when there is none
    };

    /// @param engine, parameters, card must outlive this object
    ModelBox(EngineClient& engine, const ParameterModel& parameters, ErrorCard& card, Places places,
             QObject* parent = nullptr);

    QString modelName() const;
    QString folder() const;
    bool isGuideModel() const;
    bool loaded() const { return !m_engine.info().model_name.empty(); }
    bool loading() const { return m_engine.state() == EngineState::Loading; }
    double progress() const { return m_progress; }
    QString progressText() const;
    int elapsedSeconds() const;
    QString deviceName() const;
    QString deviceNote() const;
    QString precisionName() const;
    QString memoryText() const;
    int device() const { return static_cast<int>(m_device); }
    int precision() const { return static_cast<int>(m_precision); }
    QStringList deviceNames() const;
    QStringList precisionNames() const;
    QString status() const;

    void setDevice(int device);        ///< loads again when a model is loaded or being loaded
    void setPrecision(int precision);  ///< likewise

    /// Loads the model the program starts with: the one asked for, else the last choice, else the guide
    /// model.
    /// @param folder from the command line; "" = none
    void loadAtStart(const QString& folder);

    Q_INVOKABLE void load(const QUrl& url);
    Q_INVOKABLE void loadGuideModel();
    Q_INVOKABLE void unload();
    Q_INVOKABLE void cancel();
    Q_INVOKABLE void reload();
    Q_INVOKABLE bool canDrop(const QList<QUrl>& urls) const;  ///< exactly one local folder

    void shutDown();  ///< a load that quitting ends was no crash
    void retranslate();

  signals:
    void changed();
    void progressChanged();
    void statusChanged();

  private:
    /// What the program falls back to is not remembered; what the user asked for is.
    enum class Origin { User, Fallback };

    void loadFolder(const QString& folder, Origin origin = Origin::User);
    void fallBack();
    void loadRemembered();
    void takeEngineState();
    void takeProgress(float fraction);
    void takeLoaded();
    void takeFailure(const Status& status);
    void rememberChoice();
    void showInterrupted(const QString& folder);
    ErrorContent failureContent(const Status& status);
    void changeOption();

    EngineClient& m_engine;
    const ParameterModel& m_parameters;
    ErrorCard& m_card;
    const Places m_places;
    const LoadMarker m_marker;
    QString m_folder;  ///< of the model that is loaded, being loaded or failed to load
    Device m_device = Device::kAuto;
    Precision m_precision = Precision::kAuto;
    Origin m_origin = Origin::User;
    double m_progress = 0;
    QElapsedTimer m_sinceStart;
    QTimer m_secondTimer;
};

}  // namespace glmchat
