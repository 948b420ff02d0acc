#pragma once
// Functions that a model brings for operators of its own.
#include <string>
#include <unordered_set>

#include "formats/onnx/reading.h"

namespace onnx {
class FunctionProto;
class ModelProto;
class NodeProto;
}  // namespace onnx

namespace millrace::formats::onnx {

/// Functions of the model, to be found by find_function.
Functions functions_of(const ::onnx::ModelProto& model);

/// The model's function for the node's operator; null: it brings none.
const ::onnx::FunctionProto* find_function(const Reading& reading, const ::onnx::NodeProto& node);

/// A node of the file, its name in the network, and the names that somebody in its graph reads.
struct NodeToRead {
  const ::onnx::NodeProto& proto;
  std::string name;
  const std::unordered_set<std::string>& needed;
};

/// Reads the function's nodes in the place of the node.
void call_function(Reading& reading, const ::onnx::FunctionProto& function,
                   const NodeToRead& call);

/// Operators of a part of the file's graph mean there what they mean in the file.
void set_versions(const Reading& reading, ::onnx::ModelProto& model);

}  // namespace millrace::formats::onnx
