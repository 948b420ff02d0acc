#pragma once
// The nodes of a written ONNX model as plain values, for who does not read ONNX's files.
#include <optional>
#include <string>
#include <vector>

#include "formats/onnx_writer/write_onnx.h"

namespace millrace::formats {

/// What the model calls a value. The shape of a value between the nodes of one layer is unknown.
struct OnnxValue {
  std::string name;
  std::optional<DataType> type;
  std::optional<Shape> shape;
  std::optional<Array> constant = {};
};

/// Integers, reals, or a text; an array of numbers gives its values.
struct OnnxAttribute {
  std::string name;
  std::vector<std::int64_t> integers = {};
  std::vector<float> reals = {};
  std::optional<std::string> text = {};
};

struct OnnxNode {
  std::string op, name;
  std::size_t layer = 0;                             // its place in the part
  std::vector<std::optional<std::size_t>> inputs, outputs;  // values; nothing: left out
  std::vector<OnnxAttribute> attributes;
};

struct OnnxNodes {
  std::vector<OnnxValue> values;
  std::vector<OnnxNode> nodes;  // in an order in which they can run
  std::vector<std::size_t> inputs, outputs;
};

/// Nodes of a model that write_onnx() made of a part of the network. Constants share the network's
/// memory; those that the writer made are copies.
OnnxNodes nodes_of(const Network& network, const OnnxModel& model);

}  // namespace millrace::formats
