#pragma once

#include <string>
#include <string_view>

#include "engine/status.h"

namespace glmchat {

/// What most damaged files need.
inline constexpr std::string_view kDownloadAgain = "download this file again";

/// A name or value taken from a file, in quotes, fit for a message: at most 80 bytes, control characters and
/// ill-formed UTF-8 replaced by '?'.
std::string in_quotes(std::string_view text);
/// The same without quotes, for file names.
std::string printable(std::string_view text);

/// "<file>: <finding>; <remedy>." — the shape of every refusal of the loader.
tl::unexpected<Status> refuse_file(StatusKind kind, std::string_view file_name, std::string_view finding,
                                   std::string_view remedy = kDownloadAgain);

inline tl::unexpected<Status> bad_file(std::string_view file_name, std::string_view finding,
                                       std::string_view remedy = kDownloadAgain) {
    return refuse_file(StatusKind::kBadFile, file_name, finding, remedy);
}

}  // namespace glmchat
