#pragma once
// Small ONNX models, written down in a test.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "formats/read.h"
#include "network/network.h"

namespace onnx {
class ModelProto;
class NodeProto;
class TensorProto;
}  // namespace onnx

namespace millrace::test {

/// Attributes of the node that was added last.
class OnnxNode {
 public:
  explicit OnnxNode(::onnx::NodeProto& proto) : proto_(&proto) {}
  OnnxNode& set(const std::string& name, std::int64_t value);
  OnnxNode& set_number(const std::string& name, float value);
  OnnxNode& set_numbers(const std::string& name, const std::vector<float>& values);
  OnnxNode& set_text(const std::string& name, const std::string& value);
  OnnxNode& set_list(const std::string& name, const std::vector<std::int64_t>& values);
  OnnxNode& set_tensor(const std::string& name, const network::Array& value);
  OnnxNode& named(const std::string& name);
  ::onnx::NodeProto& proto() { return *proto_; }

 private:
  ::onnx::NodeProto* proto_;
};

/// A model with one input x and what is added.
class OnnxModel {
 public:
  explicit OnnxModel(std::int64_t opset = 13);
  ~OnnxModel();
  OnnxModel(OnnxModel&&) noexcept;

  /// -1 is an open dimension.
  OnnxModel& input(const std::string& name, const network::Shape& shape,
                   network::DataType type = network::DataType::float32);
  OnnxModel& output(const std::string& name);
  /// Values 0.01, 0.02, ... in a float32 weight.
  OnnxModel& weight(const std::string& name, const network::Shape& shape);
  OnnxModel& weight(const std::string& name, const network::Array& value);
  OnnxModel& integers(const std::string& name, const std::vector<std::int64_t>& values);
  OnnxNode node(const std::string& op_type, const std::vector<std::string>& inputs,
                const std::vector<std::string>& outputs);

  ::onnx::ModelProto& proto() { return *proto_; }
  std::string bytes() const;
  /// Reads it, as model.onnx in the current folder.
  network::Network read(const formats::ModelSource& options = {}) const;

 private:
  std::unique_ptr<::onnx::ModelProto> proto_;
};

/// One-dimensional unless a shape is given.
network::Array floats(const std::vector<float>& values);
network::Array floats(const network::Shape& shape, const std::vector<float>& values);

}  // namespace millrace::test
