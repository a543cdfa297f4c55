#pragma once

#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace glmchat {

enum class StatusKind {
    kInvalidArgument,  ///< the caller's values: an option, a prompt, an id out of range
    kNotFound,         ///< a file or folder that should be there
    kBadFile,          ///< damaged, truncated or malformed file
    kUnsupported,      ///< well-formed, but not something this version can do
    kOutOfMemory,
    kDeviceFailure,
    kContextFull,  ///< the prompt does not fit the context
    kBadLogits,    ///< NaN or Inf where a token should be drawn
    kCancelled,
    kBusy,      ///< a bounded queue is full
    kInternal,  ///< our bug
};

/// Why something failed, as a value.
/// `message`: one sentence a person can act on: what happened, where (file name), what to do. English source text.
/// `detail`: numbers and names for "copy details"; may be empty.
struct Status {
    StatusKind kind = StatusKind::kInternal;
    std::string message;
    std::string detail;
};

template <typename T>
using Result = tl::expected<T, Status>;

inline tl::unexpected<Status> failure(StatusKind kind, std::string message, std::string detail = {}) {
    return tl::unexpected<Status>(Status{kind, std::move(message), std::move(detail)});
}

}  // namespace glmchat
