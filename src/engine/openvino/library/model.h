#pragma once
// OpenVINO's model of a part of a network.
#include <openvino/op/constant.hpp>
#include <openvino/openvino.hpp>

#include <memory>
#include <optional>
#include <string>

#include "engine/openvino/library/part.h"

namespace millrace::engine::openvino {

ov::element::Type element_type(network::DataType type);
ov::Shape shape_of(const network::Tensor& tensor);

/// The part as an ONNX model without the large weights. InputError as formats::write_onnx.
std::string written(const Part& part);

/// OpenVINO's model of it, whose weights are those of the part, which outlives it. Its operations
/// are named after the layers that they are of: see layer_of. Throws what OpenVINO throws.
std::shared_ptr<ov::Model> read(ov::Core& core, const Part& part, const std::string& bytes);

/// The layer that an operation of that name is of, among those of the part.
std::optional<std::size_t> layer_of(const std::string& name);

}  // namespace millrace::engine::openvino
