#pragma once
// Attributes of ONNX nodes that are written.
#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

#include "formats/network_names.h"

namespace millrace::formats::zoo {

void attribute(::onnx::NodeProto& node, const char* name, std::int64_t value);
void attribute(::onnx::NodeProto& node, const char* name, float value);
void attribute(::onnx::NodeProto& node, const char* name, const char* text);
void attribute(::onnx::NodeProto& node, const char* name, const Shape& values);
void attribute(::onnx::NodeProto& node, const char* name, const std::vector<float>& values);
void attribute(::onnx::NodeProto& node, const char* name, const std::vector<std::string>& texts);

}  // namespace millrace::formats::zoo
