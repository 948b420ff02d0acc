#pragma once
// The layers of the zoo's networks (batch 1, square windows): each function appends their nodes
// and gives their output.
#include <cstdint>
#include <string>
#include <vector>

#include "formats/zoo/builder.h"

namespace millrace::formats::zoo {

constexpr float branch_gain = 0.25f;  // where a shortcut and its branch add up in every block

struct ConvSpec {
  std::int64_t outputs;
  std::int64_t kernel = 1, stride = 1, pad = 0, groups = 1;
  bool bias = true;
  float gain = 1;  // of conv_bn()
};

/// `pad_end` differs from `pad` where a framework rounds the size of the output up.
struct PoolSpec {
  std::int64_t kernel, stride = 1, pad = 0, pad_end = 0;
};

Value conv(Builder& net, const std::string& name, const Value& x, const ConvSpec& spec);
Value fully_connected(Builder& net, const std::string& name, const Value& x, std::int64_t outputs);
/// `gain` is the mean of the scales: below 1 it keeps sums along many shortcuts small.
Value batch_norm(Builder& net, const std::string& name, const Value& x, float gain = 1);
/// A convolution without bias, and `name`_bn after it.
Value conv_bn(Builder& net, const std::string& name, const Value& x, ConvSpec spec);
Value lrn(Builder& net, const std::string& name, const Value& x);
Value max_pool(Builder& net, const std::string& name, const Value& x, const PoolSpec& spec);
Value average_pool(Builder& net, const std::string& name, const Value& x, const PoolSpec& spec);
Value global_average_pool(Builder& net, const std::string& name, const Value& x);
Value add(Builder& net, const std::string& name, const Value& a, const Value& b);
Value concat(Builder& net, const std::string& name, const std::vector<Value>& parts);
/// factor * x - less, for all elements.
struct Affine {
  float factor = 1, less = 0;
};
Value affine(Builder& net, const std::string& name, const Value& x, const Affine& map);
Value sigmoid(Builder& net, const std::string& name, const Value& x);
/// Over dimension 1.
Value softmax(Builder& net, const std::string& name, const Value& x);
Value upsample(Builder& net, const std::string& name, const Value& x, std::int64_t factor);
Value reshape(Builder& net, const std::string& name, const Value& x, const Shape& shape);
Value transpose(Builder& net, const std::string& name, const Value& x, const Shape& permutation);
struct ChannelRange {
  std::int64_t first = 0, count = 1;
};
Value channels(Builder& net, const std::string& name, const Value& x, const ChannelRange& range);
/// Zeros behind the channels, so that there are `count`.
Value pad_channels(Builder& net, const std::string& name, const Value& x, std::int64_t count);
/// Along dimension 1; the parts are called NAME_0, NAME_1, ...
std::vector<Value> split(Builder& net, const std::string& name, const Value& x, const Shape& sizes);
// Named after their input: "conv1" gives "conv1_relu".
Value relu(Builder& net, const Value& x);
Value relu6(Builder& net, const Value& x);
Value leaky_relu(Builder& net, const Value& x);
Value mish(Builder& net, const Value& x);
Value dropout(Builder& net, const Value& x);
Value flatten(Builder& net, const Value& x);
Value softmax(Builder& net, const Value& x);

}  // namespace millrace::formats::zoo
