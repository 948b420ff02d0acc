#pragma once
// What post-processing makes of a frame's outputs.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace millrace::application {

/// An object, in pixels of the picture from its top left corner; it may reach beyond the borders.
struct Detection {
  std::int64_t label = 0;
  double probability = 0;
  double left = 0, top = 0, width = 0, height = 0;
  bool operator==(const Detection&) const = default;
};

struct Ranked {
  std::int64_t label = 0;
  double value = 0;
  bool operator==(const Ranked&) const = default;
};

/// A processing fills what it finds out.
struct Findings {
  std::optional<std::vector<Detection>> detections = {};  // by falling probability
  std::int64_t left_out = 0;  // boxes above the threshold that were too many to look at
  std::optional<std::vector<Ranked>> classes = {};  // by falling value
  std::string json = {};                            // anything else, as JSON; empty: nothing
  bool operator==(const Findings&) const = default;
};

}  // namespace millrace::application
