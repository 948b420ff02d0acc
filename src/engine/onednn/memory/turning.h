#pragma once
// Conversions between dense layouts by a loop of our own, which is faster than oneDNN's reorders.
#include <optional>

#include "engine/onednn/program.h"

namespace millrace::engine::onednn {

/// In what numbers values of this type lie.
kernels::StoredNumber stored_number_of(Type type);
/// Nothing unless both lie in dense layouts of float32 and the loop is fast between them.
std::optional<OwnWork> fast_turn(const Value& from, const Value& to);
/// Numbers that stay where they are, from float32 to numbers of 16 bits or back. Precondition:
/// has_own_half() of these.
OwnWork cast_of_halves(const Value& from, const Value& to);
/// Whether turn_of_bytes() takes bytes from the one layout to the other.
bool can_turn_bytes(const Desc& from, const Desc& to);
/// Bytes between row-major and channels last.
OwnWork turn_of_bytes(const Value& from, const Value& to);
/// Where one of them is 8 bits and the other too, or float32, and both lie in the same places: from
/// the numbers of one encoding to those of the other. Precondition: byte_unit().
OwnWork encoding_of_bytes(const Value& from, const Value& to);

}  // namespace millrace::engine::onednn
