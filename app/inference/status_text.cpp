#include "app/inference/status_text.h"

#include <QCoreApplication>

namespace glmchat {
namespace {

struct StatusText {
    Q_DECLARE_TR_FUNCTIONS(glmchat::StatusText)
};

/// Notes of open_device() and probe_cuda() that people meet. The engine speaks English; lupdate finds them
/// here.
[[maybe_unused]] constexpr const char* kDeviceNotes[] = {
    QT_TRANSLATE_NOOP("glmchat::StatusText", "Running on the CPU: no NVIDIA driver was found."),
    QT_TRANSLATE_NOOP("glmchat::StatusText", "Running on the CPU: the NVIDIA driver is too old."),
    QT_TRANSLATE_NOOP("glmchat::StatusText", "Running on the CPU: the NVIDIA driver reports no device."),
};

}  // namespace

QString statusKindText(StatusKind kind) {
    switch (kind) {
        case StatusKind::kInvalidArgument:
            return StatusText::tr("a value is out of range");
        case StatusKind::kNotFound:
            return StatusText::tr("a file or folder is missing");
        case StatusKind::kBadFile:
            return StatusText::tr("a file is damaged");
        case StatusKind::kUnsupported:
            return StatusText::tr("not supported");
        case StatusKind::kOutOfMemory:
            return StatusText::tr("not enough memory");
        case StatusKind::kDeviceFailure:
            return StatusText::tr("the device failed");
        case StatusKind::kContextFull:
            return StatusText::tr("the context is full");
        case StatusKind::kBadLogits:
            return StatusText::tr("the model computed invalid numbers");
        case StatusKind::kCancelled:
            return StatusText::tr("cancelled");
        case StatusKind::kBusy:
            return StatusText::tr("the engine is busy");
        case StatusKind::kInternal:
            return StatusText::tr("an unexpected error");
    }
    return {};
}

QString statusMessage(const Status& status) {
    return QString::fromStdString(status.message);
}

QString statusDetail(const Status& status) {
    return QString::fromStdString(status.detail);
}

QString deviceNoteText(const std::string& note) {
    return StatusText::tr(note.c_str());
}

}  // namespace glmchat
