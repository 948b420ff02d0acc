#pragma once
// Well-known architectures as ONNX models with seeded random weights, for measuring and testing
// where trained weights are not at hand.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::formats {

/// What is known about a network of the zoo before it is built. Batch 1, float32, input "data".
/// `source` says which publication's form it has; tests compare with the published figures.
struct ZooEntry {
  std::string_view name;
  std::array<std::int64_t, 4> input;  // N,C,H,W
  int layers;                         // convolutions and fully connected layers
  std::int64_t macs;                  // multiply-accumulates per frame
  std::int64_t parameters;            // trained ones: without BatchNormalization's statistics
  std::string_view source;
};

/// All of them: classifiers and the first detector in the order of their publication, then the
/// nine detectors that docs/methods/darknet.md speaks of.
std::vector<ZooEntry> zoo_entries();
std::vector<std::string> zoo_names();

/// A serialised ONNX model (opset 13, or 18 where it has Mish); the same bytes for the same seed on
/// every machine. BatchNormalization and Dropout are separate nodes. Weights are scaled so that
/// activations neither vanish nor grow for inputs of the order of 1; the arithmetic that some
/// exports put in front (mean and scale of the pixels) is left out. `size`: width and height of the
/// input, for the detectors from yolov2 on, a multiple of 32. InputError with the nearest name if
/// `name` is not in the zoo.
std::string zoo_model(std::string_view name, std::uint64_t seed = 1,
                      std::optional<std::int64_t> size = std::nullopt);

}  // namespace millrace::formats
