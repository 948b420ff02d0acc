#include "engine/plugin/check/cases.h"

#include <functional>
#include <utility>

#include "base/random.h"

namespace millrace::engine::plugin::check {
namespace {

using namespace network;

Array random_values(DataType type, const Shape& shape, std::uint64_t seed) {
  Random random(seed);
  const auto count = static_cast<std::size_t>(element_count(shape));
  if (type == DataType::float32) {
    std::vector<float> values(count);
    for (float& value : values) value = random.uniform(-1, 1);
    return make_array<float>(type, shape, values);
  }
  std::vector<std::int32_t> values(count);
  for (std::int32_t& value : values) value = static_cast<std::int32_t>(random.below(16)) - 8;
  return make_array<std::int32_t>(type, shape, values);
}

/// Layers one after the other; each has a name of its own.
class Builder {
 public:
  TensorId input(const Shape& shape, DataType type = DataType::float32) {
    const TensorId id = tensor(shape, type);
    network_.inputs.push_back(id);
    return id;
  }
  TensorId weights(const Shape& shape) {
    const TensorId id = tensor(shape, DataType::float32);
    network_.tensors[id.index].constant = random_values(DataType::float32, shape, id.index + 7);
    return id;
  }
  TensorId layer(Operator op, std::vector<TensorId> inputs, const Shape& shape) {
    const TensorId id = tensor(shape, network_[inputs.front()].type);
    network_.layers.push_back(
        {"layer" + std::to_string(network_.layers.size()), std::move(op), std::move(inputs), {id}});
    return id;
  }
  TensorId conv(TensorId x, std::int64_t filters, const Window& window, std::int64_t groups = 1) {
    const Shape& from = network_[x].shape;
    const Shape kernels{filters, from[1] / groups, window.kernel[0], window.kernel[1]};
    const Shape to = slid(window, from, filters);
    const TensorId w = weights(kernels), b = weights({filters});
    return layer(Conv{window, groups}, {x, w, b}, to);
  }
  TensorId pool(TensorId x, Pool op) {
    const Shape to = slid(op.window, network_[x].shape, network_[x].shape[1]);
    return layer(std::move(op), {x}, to);
  }
  TensorId unary(UnaryKind kind, TensorId x) {
    return layer(Unary{kind, 0, 0}, {x}, Shape(network_[x].shape));
  }
  TensorId binary(BinaryKind kind, TensorId a, TensorId b) {
    return layer(Binary{kind}, {a, b}, broadcast(network_[a].shape, network_[b].shape).value());
  }
  void output(TensorId id) { network_.outputs.push_back(id); }
  Network build(const std::string& name) {
    network_.name = name;
    validate(network_);
    return std::move(network_);
  }

 private:
  static Shape slid(const Window& window, const Shape& from, std::int64_t channels) {
    Shape to{from[0], channels};
    for (std::size_t i = 0; i < 2; ++i) {
      const std::int64_t reach = window.dilations[i] * (window.kernel[i] - 1) + 1;
      const std::int64_t room = from[i + 2] + window.pads_begin[i] + window.pads_end[i] - reach;
      to.push_back(room / window.strides[i] + 1);
    }
    return to;
  }
  TensorId tensor(const Shape& shape, DataType type) {
    network_.tensors.push_back({"t" + std::to_string(network_.tensors.size()), type, shape, {}});
    return TensorId(network_.tensors.size() - 1);
  }
  Network network_;
};

struct Sizes {
  std::int64_t kernel = 1, stride = 1, pad = 0, dilation = 1;
};
Window window(const Sizes& s) {
  return {{s.kernel, s.kernel}, {s.stride, s.stride}, {s.dilation, s.dilation}, {s.pad, s.pad},
          {s.pad, s.pad}};
}

using Build = std::function<void(Builder&)>;

Build conv_of(const Shape& x, std::int64_t filters, const Window& w, std::int64_t groups = 1) {
  return [=](Builder& b) { b.output(b.conv(b.input(x), filters, w, groups)); };
}
Build unary_of(UnaryKind kind) {
  return [=](Builder& b) { b.output(b.unary(kind, b.input({2, 3, 5, 7}))); };
}
Build binary_of(BinaryKind kind, const Shape& second) {
  return [=](Builder& b) {
    const TensorId x = b.input({1, 6, 4, 5});
    b.output(b.binary(kind, x, b.input(second)));
  };
}
Build pool_of(PoolKind kind, const Sizes& sizes) {
  return [=](Builder& b) { b.output(b.pool(b.input({1, 6, 9, 9}), {kind, window(sizes)})); };
}

void product(Builder& b) {
  const TensorId x = b.input({3, 8});
  b.output(b.layer(Gemm{false, true, 1, 1}, {x, b.weights({5, 8}), b.weights({5})}, {3, 5}));
}
void integers(Builder& b) {
  const TensorId x = b.input({2, 9}, DataType::int32);
  b.output(b.binary(BinaryKind::add, x, b.input({2, 9}, DataType::int32)));
}
void residual(Builder& b) {
  const TensorId x = b.unary(UnaryKind::relu, b.input({1, 8, 7, 7}));
  const TensorId y = b.unary(UnaryKind::relu, b.conv(x, 8, window({3, 1, 1})));
  b.output(b.unary(UnaryKind::relu, b.binary(BinaryKind::add, x, b.conv(y, 8, window({3, 1, 1})))));
}
void two_outputs(Builder& b) {
  const TensorId x = b.conv(b.input({1, 4, 6, 6}), 6, window({}));
  b.output(x);
  b.output(b.unary(UnaryKind::relu, x));
}
void concatenation(Builder& b) {
  const TensorId x = b.input({1, 2, 4, 4});
  b.output(b.layer(Concat{1}, {x, b.unary(UnaryKind::relu, x)}, {1, 4, 4, 4}));
}
void softmax(Builder& b) { b.output(b.layer(Softmax{1, 2, false}, {b.input({2, 10})}, {2, 10})); }

}  // namespace

std::vector<Array> inputs_of(const Network& network, std::uint64_t seed) {
  std::vector<Array> inputs;
  for (const TensorId id : network.inputs)
    inputs.push_back(random_values(network[id].type, network[id].shape, seed * 97 + id.index));
  return inputs;
}

std::vector<Case> cases() {
  const Window uneven{{3, 2}, {2, 1}, {1, 1}, {0, 1}, {1, 0}};
  const std::vector<std::pair<const char*, Build>> builds{
      {"relu", unary_of(UnaryKind::relu)},
      {"sigmoid", unary_of(UnaryKind::sigmoid)},
      {"tanh", unary_of(UnaryKind::tanh)},
      {"add", binary_of(BinaryKind::add, {1, 6, 4, 5})},
      {"add_broadcast", binary_of(BinaryKind::add, {1, 6, 1, 1})},
      {"mul", binary_of(BinaryKind::mul, {1, 6, 4, 5})},
      {"add_of_integers", integers},
      {"conv_1x1", conv_of({1, 8, 6, 5}, 12, window({}))},
      {"conv_3x3", conv_of({1, 5, 9, 8}, 7, window({3, 1, 1}))},
      {"conv_stride_2", conv_of({1, 3, 11, 9}, 8, window({3, 2, 1}))},
      {"conv_dilation_2", conv_of({1, 4, 12, 12}, 6, window({3, 1, 2, 2}))},
      {"conv_depthwise", conv_of({1, 8, 7, 7}, 8, window({3, 1, 1}), 8)},
      {"conv_grouped", conv_of({1, 8, 6, 6}, 16, window({3, 1, 1}), 4)},
      {"conv_uneven", conv_of({1, 4, 8, 9}, 6, uneven)},
      {"conv_batch", conv_of({3, 4, 5, 5}, 6, window({3}))},
      {"max_pool", pool_of(PoolKind::max, {3, 2})},
      {"average_pool", pool_of(PoolKind::average, {2, 2})},
      {"gemm", product},
      {"softmax", softmax},
      {"concat", concatenation},
      {"residual", residual},
      {"two_outputs", two_outputs},
      {"conv_large", conv_of({1, 32, 32, 32}, 64, window({3, 1, 1}))}};
  std::vector<Case> result;
  for (const auto& [name, build] : builds) {
    Builder builder;
    build(builder);
    result.push_back({name, builder.build(name)});
  }
  return result;
}

}  // namespace millrace::engine::plugin::check
