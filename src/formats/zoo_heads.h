#pragma once
// What the detectors of the zoo predict.
#include <string_view>

#include "formats/darknet/darknet.h"

namespace millrace::formats {

/// As darknet::read_heads gives them for the published configurations, for any size of the input;
/// of tiny_yolo_v2, whose boxes its network leaves to others, not activated. Without heads for
/// classifiers and names that the zoo does not have.
darknet::Heads zoo_heads(std::string_view name);

}  // namespace millrace::formats
