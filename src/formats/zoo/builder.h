#pragma once
// Writes an ONNX graph node by node, with seeded weights.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "formats/network_names.h"
#include "formats/seeded_values.h"

namespace onnx {
class NodeProto;
}

namespace millrace::formats::zoo {

/// A tensor of the graph: the node that makes it has the same name.
struct Value {
  std::string name;
  Shape shape;  // N,C,H,W, or N,C
  std::int64_t channels() const { return shape[1]; }
};

/// Weights are drawn from the seed and their own name, so a change elsewhere in the graph leaves
/// them alone.
class Builder {
 public:
  Builder(const std::string& name, std::uint64_t seed);
  ~Builder();

  Value input(Shape shape);
  /// Appends a node with one output, which has its name.
  ::onnx::NodeProto& node(const char* type, const std::vector<std::string>& inputs,
                          const std::string& output);
  /// These give the constant's name back.
  std::string constant(const std::string& name, const Shape& shape, const Spread& spread);
  std::string constant(const std::string& name, const std::vector<std::int64_t>& values);
  void need_opset(std::int64_t version);

  /// Makes these the outputs of the graph and gives the serialised model.
  std::string finish(const std::vector<Value>& outputs);
  std::string finish(const Value& x) { return finish(std::vector<Value>{x}); }

 private:
  struct Model;
  std::unique_ptr<Model> model_;
  std::uint64_t seed_;
};

}  // namespace millrace::formats::zoo
