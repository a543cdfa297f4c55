#pragma once

#include <QString>
#include <string>

#include "engine/status.h"

namespace glmchat {

/// A few translated words for what kind of failure this is, to stand after "The model could not be loaded: ".
QString statusKindText(StatusKind kind);

/// The engine's sentence and its detail. They name files and numbers and stay in the engine's English.
QString statusMessage(const Status& status);
QString statusDetail(const Status& status);

/// ChatEngineInfo::device_note, translated when it is one of the usual ones.
QString deviceNoteText(const std::string& note);

}  // namespace glmchat
