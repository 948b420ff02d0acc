#pragma once
// Conversions between dense layouts by a loop of our own, which is faster than oneDNN's reorders.
#include <optional>

#include "engine/onednn/program.h"

namespace millrace::engine::onednn {

/// Nothing unless both lie in dense layouts of float32 and the loop is fast between them.
std::optional<OwnWork> fast_turn(const Value& from, const Value& to);
/// Numbers that stay where they are, from float32 to float16 or back. On 64-bit ARM only.
OwnWork cast_of_halves(const Value& from, const Value& to);
/// Bytes between row-major and channels last.
OwnWork turn_of_bytes(const Value& from, const Value& to);

}  // namespace millrace::engine::onednn
