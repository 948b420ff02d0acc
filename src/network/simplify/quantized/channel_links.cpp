#include "network/simplify/quantized/channel_links.h"

#include <algorithm>
#include <numeric>

namespace millrace::network {
namespace {

std::size_t index(std::int64_t value) { return static_cast<std::size_t>(value); }

/// Links the channels of one layer, operator by operator.
class Linker {
 public:
  Linker(ChannelLinks& links, const Network& network, const Layer& layer)
      : links_(links), network_(network), layer_(layer) {}

  void operator()(const Unary& op) const {
    const bool scales = op.kind == UnaryKind::relu || op.kind == UnaryKind::leaky_relu ||
                        op.kind == UnaryKind::neg || op.kind == UnaryKind::abs;
    scales ? join() : fix_all();
  }
  void operator()(const Binary& op) const {
    if (op.kind == BinaryKind::mul || op.kind == BinaryKind::div || op.kind == BinaryKind::prelu)
      return join_product(op.kind);
    const bool scales = op.kind == BinaryKind::add || op.kind == BinaryKind::sub ||
                        op.kind == BinaryKind::max || op.kind == BinaryKind::min;
    if (!scales || is_constant(0) || is_constant(1) || !has_rank_of_output(0) ||
        !has_rank_of_output(1))
      return fix_all();
    join();
    links_.join(layer_.inputs[1], layer_.outputs[0]);
  }
  void operator()(const Pool&) const { join(); }
  void operator()(const Concat& op) const {
    std::size_t begin = 0;
    for (const TensorId input : layer_.inputs) {
      if (network_[input].constant) return fix_all();
      if (op.axis != 1) {
        links_.join(input, layer_.outputs[0]);
        continue;
      }
      for (std::size_t c = 0; c < links_.count(input); ++c)
        links_.join(input, c, layer_.outputs[0], begin + c);
      begin += links_.count(input);
    }
  }
  void operator()(const Split& op) const {
    std::size_t begin = 0;
    for (const TensorId output : layer_.outputs) {
      if (!output.valid()) return fix_all();
      if (op.axis != 1) {
        links_.join(layer_.inputs[0], output);
        continue;
      }
      for (std::size_t c = 0; c < links_.count(output); ++c)
        links_.join(layer_.inputs[0], begin + c, output, c);
      begin += links_.count(output);
    }
  }
  void operator()(const Slice& op) const {
    for (std::size_t c = 0; c < links_.count(layer_.outputs[0]); ++c)
      links_.join(layer_.inputs[0],
                  index(op.starts[1] + static_cast<std::int64_t>(c) * op.steps[1]),
                  layer_.outputs[0], c);
  }
  void operator()(const Reshape&) const {
    const Shape &from = network_[layer_.inputs[0]].shape, &to = network_[layer_.outputs[0]].shape;
    if (from[0] != to[0]) return fix_all();
    if (from[1] == to[1]) return join();
    if (to.size() != 2) return fix_all();
    const std::size_t of_channel = index(to[1] / from[1]);  // elements: images become a row
    for (std::size_t i = 0; i < links_.count(layer_.outputs[0]); ++i)
      links_.join(layer_.inputs[0], i / of_channel, layer_.outputs[0], i);
  }
  void operator()(const Transpose& op) const { op.permutation[1] == 1 ? join() : fix_all(); }
  void operator()(const Pad& op) const {
    const bool scales = op.mode != PadMode::constant || op.value == 0;
    scales&& op.begin[1] == 0 && op.end[1] == 0 ? join() : fix_all();
  }
  void operator()(const Resize& op) const {
    const bool scales = op.extrapolation == 0 && op.scales[1] == 1;
    scales ? join() : fix_all();
  }
  void operator()(const Reduce& op) const {
    const bool scales =
        op.kind == ReduceKind::mean || op.kind == ReduceKind::min || op.kind == ReduceKind::max;
    const bool apart = std::ranges::all_of(op.axes, [](std::int64_t axis) { return axis > 1; });
    scales&& apart && !op.axes.empty() ? join() : fix_all();
  }
  template <class Other>
  void operator()(const Other&) const {
    fix_all();
  }

  bool has_channels() const {
    return !layer_.inputs.empty() && !layer_.outputs.empty() && layer_.inputs[0].valid() &&
           layer_.outputs[0].valid() && links_.count(layer_.inputs[0]) > 0 &&
           links_.count(layer_.outputs[0]) > 0;
  }
  void fix_all() const {
    for (const TensorId tensor : layer_.inputs) links_.fix(tensor);
    for (const TensorId tensor : layer_.outputs) links_.fix(tensor);
  }

 private:
  void join() const { links_.join(layer_.inputs[0], layer_.outputs[0]); }

  bool is_constant(std::size_t input) const {
    return network_[layer_.inputs[input]].constant.has_value();
  }
  bool has_rank_of_output(std::size_t input) const {
    return network_[layer_.inputs[input]].shape.size() == network_[layer_.outputs[0]].shape.size();
  }

  /// The larger factor is passed on in proportion, as long as the other one stays.
  void join_product(BinaryKind kind) const {
    const auto size = [&](std::size_t input) {
      return element_count(network_[layer_.inputs[input]].shape);
    };
    const bool second_passes =
        kind == BinaryKind::mul && !is_constant(1) && (is_constant(0) || size(1) > size(0));
    const std::size_t passes = second_passes ? 1 : 0;
    if (is_constant(passes) || !has_rank_of_output(passes)) return fix_all();
    links_.fix(layer_.inputs[1 - passes]);
    links_.join(layer_.inputs[passes], layer_.outputs[0]);
  }

  ChannelLinks& links_;
  const Network& network_;
  const Layer& layer_;
};

}  // namespace

ChannelLinks::ChannelLinks(const Network& network) {
  std::size_t count = 0;
  for (const Tensor& tensor : network.tensors) {
    const bool has = tensor.type == DataType::float32 && tensor.shape.size() >= 2 &&
                     !tensor.constant && element_count(tensor.shape) > 0;
    begin_.push_back(count);
    size_.push_back(has ? index(tensor.shape[1]) : 0);
    count += size_.back();
  }
  parent_.resize(count);
  std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  fixed_.assign(count, false);
}

std::size_t ChannelLinks::class_of(TensorId tensor, std::size_t channel) {
  std::size_t at = begin_[tensor.index] + channel;
  for (; parent_[at] != at; at = parent_[at]) parent_[at] = parent_[parent_[at]];
  return at;
}

void ChannelLinks::join(TensorId a, std::size_t channel_of_a, TensorId b,
                        std::size_t channel_of_b) {
  const std::size_t one = class_of(a, channel_of_a), other = class_of(b, channel_of_b);
  if (one == other) return;
  parent_[other] = one;
  fixed_[one] = fixed_[one] || fixed_[other];
}

void ChannelLinks::join(TensorId a, TensorId b) {
  if (count(a) != count(b)) {
    fix(a);
    fix(b);
    return;
  }
  for (std::size_t c = 0; c < count(a); ++c) join(a, c, b, c);
}

void ChannelLinks::fix(TensorId tensor) {
  if (!tensor.valid()) return;
  for (std::size_t c = 0; c < count(tensor); ++c) fixed_[class_of(tensor, c)] = true;
}

void link_channels(ChannelLinks& links, const Network& network, const Layer& layer) {
  const Linker linker(links, network, layer);
  linker.has_channels() ? std::visit(linker, layer.op) : linker.fix_all();
}

}  // namespace millrace::network
