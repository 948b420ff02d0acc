#include <algorithm>
#include <array>

#include "support/network_builder.h"

namespace millrace::test {

using network::BinaryKind;
using network::Shape;
using network::UnaryKind;

namespace {

constexpr std::int64_t most_channels = 16;

/// All tensors are 1 x C x 5 x 5, so that any two can be concatenated.
class Grower {
 public:
  Grower(Random& random, std::size_t max_layers) : random_(random), builder_(random()) {
    unread_inputs_ = inputs_ = 1 + below(std::min<std::size_t>(max_layers, 2));
    for (std::size_t i = 0; i < inputs_; ++i)
      made(builder_.input({1, 1 + static_cast<std::int64_t>(below(6)), 5, 5}));
    const std::size_t layers = inputs_ + below(max_layers - inputs_ + 1);
    for (std::size_t i = 0; i < layers; ++i) add_layer();
  }

  network::Network finish() {
    for (std::size_t i = 0; i < tensors_.size(); ++i)
      if (!is_read_[i] || (i >= inputs_ && below(10) == 0)) builder_.output(tensors_[i]);
    return builder_.build();
  }

 private:
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_.below(bound)); }
  std::int64_t channels(TensorId id) const { return builder_.shape(id)[1]; }
  void made(TensorId id) {
    tensors_.push_back(id);
    is_read_.push_back(false);
  }

  /// An input that nobody reads yet, else mostly a recent tensor, sometimes any.
  TensorId pick() {
    std::size_t i = tensors_.size() - 1 - below(std::min<std::size_t>(tensors_.size(), 4));
    if (below(4) == 0) i = below(tensors_.size());
    if (unread_inputs_ > 0) i = --unread_inputs_;
    is_read_[i] = true;
    return tensors_[i];
  }

  /// Another tensor with the same channels, or the same tensor.
  TensorId partner(TensorId of) {
    const std::size_t start = below(tensors_.size());
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      const std::size_t at = (start + i) % tensors_.size();
      if (tensors_[at] == of || channels(tensors_[at]) != channels(of)) continue;
      is_read_[at] = true;
      return tensors_[at];
    }
    return of;
  }

  void add_layer() {
    const TensorId x = pick();
    switch (below(6)) {
      case 0: return add_conv(x);
      case 1: return add_concat(x);
      case 2: return add_split(x);
      case 3: return add_unary(x);
      default: return add_binary(x);
    }
  }

  void add_unary(TensorId x) {
    constexpr std::array kinds{UnaryKind::relu, UnaryKind::sigmoid, UnaryKind::tanh};
    made(builder_.unary(kinds[below(kinds.size())], x));
  }

  void add_binary(TensorId x) {
    constexpr std::array kinds{BinaryKind::add, BinaryKind::sub, BinaryKind::max, BinaryKind::min};
    made(builder_.binary(kinds[below(kinds.size())], x, partner(x)));
  }

  void add_conv(TensorId x) {
    const bool is_pointwise = below(2) == 0;
    made(builder_.conv(x, 1 + static_cast<std::int64_t>(below(8)),
                       is_pointwise ? window(1) : window(3, {.pad = 1})));
  }

  void add_concat(TensorId x) {
    const TensorId y = pick();
    if (channels(x) + channels(y) > most_channels) return add_conv(y);
    made(builder_.concat(1, {x, y}));
  }

  void add_split(TensorId x) {
    if (channels(x) < 2) return add_unary(x);
    const auto first = 1 + static_cast<std::int64_t>(
                               below(static_cast<std::size_t>(channels(x) - 1)));
    for (const TensorId part : builder_.split(1, x, {first, channels(x) - first})) made(part);
  }

  Random& random_;
  NetworkBuilder builder_;
  std::vector<TensorId> tensors_;
  std::vector<bool> is_read_;
  std::size_t inputs_ = 0, unread_inputs_ = 0;
};

}  // namespace

network::Network random_network(Random& random, std::size_t max_layers) {
  return Grower(random, max_layers).finish();
}

}  // namespace millrace::test
