#pragma once
// One way to run a layer on a processor; an engine offers several, and they compete.
#include <compare>
#include <string>

namespace millrace::board {

/// In what a layer computes, the most exact first. What it does not concern (indices, shapes) stays
/// as it is.
enum class Precision { f32, f16, bf16, int8 };

struct Variant {
  Precision precision = Precision::f32;
  std::string algorithm;  // the engine's word for it ("winograd"); empty: the engine's first choice
  auto operator<=>(const Variant&) const = default;
};

/// "f32", "f16", "bf16", "int8".
std::string to_text(Precision precision);
/// "bf16", "f32:winograd".
std::string to_text(const Variant& variant);

/// Whether the algorithm is this engine's: "openvino", "openvino/winograd". So are called those of
/// several engines that run together, but for the first one's.
bool is_of_engine(const Variant& variant, const std::string& engine);
/// The name of the engine, among those joined by commas, that runs a layer in this variant:
/// "onnxruntime" of "onednn,onnxruntime@gpu0". Of a single engine its name.
std::string engine_of(const std::string& engines, const Variant& variant);

/// 4, 2, 2, 1.
int bytes_per_element(Precision precision);

/// InputError naming `place`, with the known words.
Precision read_precision(const std::string& text, const std::string& place);
Variant read_variant(const std::string& text, const std::string& place);

}  // namespace millrace::board
