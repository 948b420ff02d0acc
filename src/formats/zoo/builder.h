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

constexpr float branch_gain = 0.25f;  // where a shortcut and its branch add up in every block

/// A tensor of the graph: the node that makes it has the same name.
struct Value {
  std::string name;
  Shape shape;  // N,C,H,W, or N,C
  std::int64_t channels() const { return shape[1]; }
};

struct ConvSpec {
  std::int64_t outputs;
  std::int64_t kernel = 1, stride = 1, pad = 0, groups = 1;
  bool bias = true;
};

/// `pad_end` differs from `pad` where a framework rounds the size of the output up.
struct PoolSpec {
  std::int64_t kernel, stride = 1, pad = 0, pad_end = 0;
};

/// Each function appends one node (batch 1, square windows) and gives its output. Weights are
/// drawn from the seed and their own name, so a change elsewhere in the graph leaves them alone.
class Builder {
 public:
  Builder(const std::string& name, std::uint64_t seed);
  ~Builder();

  Value input(Shape shape);
  Value conv(const std::string& name, const Value& x, const ConvSpec& spec);
  Value fully_connected(const std::string& name, const Value& x, std::int64_t outputs);
  /// `gain` is the mean of the scales: below 1 it keeps sums along many shortcuts small.
  Value batch_norm(const std::string& name, const Value& x, float gain = 1);
  /// A convolution without bias, and `name`_bn after it.
  Value conv_bn(const std::string& name, const Value& x, ConvSpec spec, float gain = 1);
  Value lrn(const std::string& name, const Value& x);
  Value max_pool(const std::string& name, const Value& x, const PoolSpec& spec);
  Value average_pool(const std::string& name, const Value& x, const PoolSpec& spec);
  Value global_average_pool(const std::string& name, const Value& x);
  Value add(const std::string& name, const Value& a, const Value& b);
  Value concat(const std::string& name, const std::vector<Value>& parts);
  /// Of the same shape as `x`, with `factor` and `less` for all elements: factor * x - less.
  Value affine(const std::string& name, const Value& x, float factor, float less);
  Value sigmoid(const std::string& name, const Value& x);
  /// Over dimension 1.
  Value softmax(const std::string& name, const Value& x);
  Value upsample(const std::string& name, const Value& x, std::int64_t factor);
  Value reshape(const std::string& name, const Value& x, const Shape& shape);
  Value transpose(const std::string& name, const Value& x, const Shape& permutation);
  /// Channels [first, first + count).
  Value channels(const std::string& name, const Value& x, std::int64_t first, std::int64_t count);
  /// Zeros behind the channels, so that there are `count`.
  Value pad_channels(const std::string& name, const Value& x, std::int64_t count);
  /// Along dimension 1; the parts are called NAME_0, NAME_1, ...
  std::vector<Value> split(const std::string& name, const Value& x, const Shape& sizes);
  // Named after their input: "conv1" gives "conv1_relu".
  Value relu(const Value& x);
  Value relu6(const Value& x);
  Value leaky_relu(const Value& x);
  Value mish(const Value& x);
  Value dropout(const Value& x);
  Value flatten(const Value& x);
  Value softmax(const Value& x);

  /// Makes these the outputs of the graph and gives the serialised model.
  std::string finish(const std::vector<Value>& outputs);
  std::string finish(const Value& x) { return finish(std::vector<Value>{x}); }

 private:
  ::onnx::NodeProto& node(const char* type, const std::vector<std::string>& inputs,
                          const std::string& output);
  Value pool(const char* type, const std::string& name, const Value& x, const PoolSpec& spec);
  std::string constant(const std::string& name, const Shape& shape, const Spread& spread);
  std::string constant(const std::string& name, const std::vector<std::int64_t>& values);
  std::string scalar(const std::string& name, float value) {
    return constant(name, {1}, {value, 0});
  }
  void need_opset(std::int64_t version);

  struct Model;
  std::unique_ptr<Model> model_;
  std::uint64_t seed_;
};

}  // namespace millrace::formats::zoo
