#pragma once

#include <QStringList>
#include <span>

namespace glmchat {

/// The schema as the ordered list of steps that made it. A step that was released never changes; a new
/// version adds one. PRAGMA user_version counts the steps a file has seen.
std::span<const QStringList> migrations();

/// PRAGMA application_id of our files ("GLMC").
inline constexpr int kApplicationId = 0x474C4D43;

}  // namespace glmchat
