#pragma once
// Whether a network's weights are random: then it may be measured, but its answers mean nothing.
#include <filesystem>

#include "formats/model_source.h"
#include "formats/network_names.h"

namespace millrace::formats {

/// In place of a file of weights, for measuring: weights are to be random, also on real input. A
/// file of this name is "./random".
inline constexpr const char* random_weights_word = "random";

inline bool wants_random_weights(const ModelSource& source) {
  return source.weights == random_weights_word;
}
/// The file that source.weights names; empty: it names none.
inline std::filesystem::path named_weights(const ModelSource& source) {
  return wants_random_weights(source) ? std::filesystem::path() : source.weights;
}

/// A key of Network::metadata, where weights are random; its value says why.
inline constexpr const char* random_weights_key = "millrace.random_weights";

inline bool has_random_weights(const Network& network) {
  return network.metadata.contains(random_weights_key);
}

}  // namespace millrace::formats
