#pragma once
// What a network is given: its inputs and its weights.
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/onnx/reading.h"
#include "formats/read.h"

namespace onnx {
class GraphProto;
}

namespace millrace::formats::onnx {

/// Rows and columns of the pictures that an exporter names beside the network: Ultralytics' imgsz,
/// "[640, 640]" or "640". Nothing if it is neither.
std::optional<std::array<std::int64_t, 2>> picture_sides(std::string_view imgsz);

/// Moves the weights out of the graph, then adds inputs, as the options say; open dimensions of a
/// picture without a shape there are its `sides`, and a batch of 1. Weights that no output needs
/// are left out. InputError for a dimension that stays open and for options that contradict the
/// file.
void read_inputs(Reading& reading, ::onnx::GraphProto& graph, const ModelSource& source,
                 const std::optional<std::array<std::int64_t, 2>>& sides);

}  // namespace millrace::formats::onnx
