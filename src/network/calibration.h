#pragma once
// Between what values the tensors of a network lie: what int8 needs to know.
#include <map>
#include <string>
#include <vector>

namespace millrace::network {

/// low <= 0 <= high, both finite: quantised numbers must hold 0 exactly. low == 0: never negative.
struct Range {
  float low = 0, high = 0;
  bool operator==(const Range&) const = default;
};

/// Keyed by tensor name, so that any partition of the network can use it. All float32 tensors that
/// are inputs or that layers make have a range; those that share a name share one.
struct Calibration {
  std::string network;  // hash
  std::map<std::string, Range> ranges;
  /// By channel, of what convolutions read: by them int8 corrects biases. Empty: biases stay.
  std::map<std::string, std::vector<float>> means = {};
  bool operator==(const Calibration&) const = default;
};

}  // namespace millrace::network
