#include "support/varied_network.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>

#include "support/network_builder.h"

namespace millrace::test {
namespace {

using namespace network;

constexpr std::int64_t most_elements = 3000;
constexpr double largest_value = 100;

/// What is known of a tensor: between -bound and bound.
struct Known {
  TensorId id;
  double bound = 1;
  bool is_read = false;
};

class VariedGrower {
 public:
  VariedGrower(Random& random, std::size_t max_layers)
      : random_(random), builder_(random()) {
    const std::size_t layers = 1 + below(max_layers);
    made(builder_.input(random_shape()), 1);
    while (added_ < layers) add_layer();
  }

  Network finish() {
    for (std::size_t i = 0; i < known_.size(); ++i)
      if (!known_[i].is_read || (i > 0 && below(12) == 0)) builder_.output(known_[i].id);
    return builder_.build();
  }

 private:
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_.below(bound)); }
  std::int64_t number(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::size_t>(high - low + 1)));
  }
  bool chance(std::size_t percent) { return below(100) < percent; }
  template <class Choices>
  auto one_of(const Choices& choices) {
    return choices[below(choices.size())];
  }

  Shape random_shape() {
    constexpr std::array channels{1, 2, 3, 4, 5, 8, 12, 16, 17, 20, 32};
    Shape shape{chance(85) ? 1 : 2, one_of(channels)};
    const std::size_t rank = chance(75) ? 4 : 2 + below(4);
    while (shape.size() < rank) shape.push_back(chance(20) ? 1 : number(2, rank == 5 ? 4 : 8));
    return shape;
  }

  void made(TensorId id, double bound) { known_.push_back({id, bound, false}); }
  Shape shape_of(const Known& x) const { return builder_.shape(x.id); }

  /// Mostly the last one, which makes chains that engines run as one kernel; else mostly a recent
  /// one.
  Known pick() {
    if (chance(55)) return known_.back();
    const std::size_t recent = std::min<std::size_t>(known_.size(), 3);
    return known_[chance(75) ? known_.size() - 1 - below(recent) : below(known_.size())];
  }

  /// What does not fit the tensor adds nothing, and another kind is drawn.
  void add_layer() {
    const Known x = pick();
    switch (below(19)) {
      case 0: case 1: case 2: return convolve(x);
      case 3: return convolve_transposed(x);
      case 4: return multiply(x);
      case 5: case 6: case 7: return apply(x);
      case 8: case 9: case 10: case 11: return combine(x);
      case 12: return normalise(x);
      case 13: return pool(x);
      case 14: case 15: return transpose(x);
      case 16: return chance(50) ? reshape(x) : join(x);
      case 17: return chance(50) ? cut(x) : reduce(x);
      default: return chance(50) ? enlarge(x) : pad_or_slice(x);
    }
  }

  void add(Operator op, const std::vector<TensorId>& inputs, const Shape& out, double bound) {
    read(inputs);
    made(builder_.layer(std::move(op), inputs, out), bound);
    ++added_;
    if (bound > largest_value) apply_to_last(UnaryKind::tanh);
  }

  void apply_to_last(UnaryKind kind) {
    known_.back().is_read = true;
    made(builder_.unary(kind, known_.back().id), 1);
  }

  void read(const std::vector<TensorId>& inputs) {
    for (Known& each : known_)
      if (std::find(inputs.begin(), inputs.end(), each.id) != inputs.end()) each.is_read = true;
  }

  /// Weights of about unit gain.
  TensorId weights(const Shape& shape, std::int64_t terms) {
    const double most = 2 / std::sqrt(static_cast<double>(terms));
    return builder_.constant(shape, {-most, most});
  }

  void convolve(const Known& x) {
    const Shape in = shape_of(x);
    if (in.size() < 3 || in.size() > 5) return;
    const bool depthwise = chance(20);
    const std::int64_t groups = depthwise ? in[1] : in[1] % 2 == 0 && chance(15) ? 2 : 1;
    const std::int64_t outputs = depthwise ? in[1] : groups * number(1, 20 / groups);
    Window w = window(chance(40) ? 1 : 3, {.stride = chance(20) ? 2 : 1, .pad = 0,
                                           .dimensions = in.size() - 2});
    for (std::size_t d = 0; d + 2 < in.size(); ++d)
      w.pads_begin[d] = w.pads_end[d] = w.kernel[d] / 2;
    Shape shape{outputs, in[1] / groups};
    shape.insert(shape.end(), w.kernel.begin(), w.kernel.end());
    const std::int64_t terms = element_count(shape) / outputs;
    std::vector<TensorId> inputs{x.id, weights(shape, terms)};
    if (chance(70)) inputs.push_back(builder_.constant({outputs}));
    const Shape out = slide(w, in, outputs);
    if (element_count(out) > most_elements) return;
    add(Conv{w, groups}, inputs, out, 2 * x.bound * std::sqrt(static_cast<double>(terms)) + 1);
  }

  void convolve_transposed(const Known& x) {
    const Shape in = shape_of(x);
    if (in.size() != 4) return;
    const std::int64_t stride = number(1, 2), outputs = number(1, 18);
    const Window w = window(2, {.stride = stride});
    const Shape out{in[0], outputs, (in[2] - 1) * stride + 2, (in[3] - 1) * stride + 2};
    if (element_count(out) > most_elements) return;
    std::vector<TensorId> inputs{x.id, weights({in[1], outputs, 2, 2}, in[1])};
    if (chance(70)) inputs.push_back(builder_.constant({outputs}));
    add(ConvTranspose{w, 1}, inputs, out,
        8 * x.bound * std::sqrt(static_cast<double>(in[1])) + 1);
  }

  void multiply(const Known& x) {
    const Shape in = shape_of(x);
    const std::int64_t columns = number(1, 20);
    Shape out = in;
    out.back() = columns;
    if (element_count(out) > most_elements) return;
    const double bound = 2 * x.bound * std::sqrt(static_cast<double>(in.back())) + 1;
    const TensorId w = weights({in.back(), columns}, in.back());
    if (in.size() != 2 || chance(30)) return add(MatMul{}, {x.id, w}, out, bound);
    add(Gemm{}, {x.id, w, builder_.constant({columns})}, out, bound);
  }

  void apply(const Known& x) {
    struct Function {
      UnaryKind kind;
      double alpha = 0, beta = 0, bound = 0;  // of 0: that of the input
    };
    constexpr std::array functions{
        Function{UnaryKind::relu},
        Function{UnaryKind::leaky_relu, 0.1},
        Function{UnaryKind::leaky_relu, 0.3},
        Function{UnaryKind::clip, 0, 6, 6},
        Function{UnaryKind::clip, -1, 1, 1},
        Function{UnaryKind::sigmoid, 0, 0, 1},
        Function{UnaryKind::hard_sigmoid, 0.2, 0.5, 1},
        Function{UnaryKind::hard_swish},
        Function{UnaryKind::tanh, 0, 0, 1},
        Function{UnaryKind::elu, 0.8},
        Function{UnaryKind::elu, 0.3},
        Function{UnaryKind::mish},
        Function{UnaryKind::erf, 0, 0, 1}};
    const Function f = one_of(functions);
    const double bound = f.bound > 0 ? f.bound : x.bound;
    if (chance(15)) {  // x * f(x), where f is between 0 and 1
      const TensorId gate = builder_.unary(UnaryKind::sigmoid, x.id);
      return add(Binary{BinaryKind::mul}, {x.id, gate}, shape_of(x), x.bound);
    }
    add(Unary{f.kind, f.alpha, f.beta}, {x.id}, shape_of(x), bound);
  }

  /// Some of its dimensions, or none.
  Shape smaller(const Shape& shape) {
    Shape result = shape;
    for (auto& size : result)
      if (chance(50)) size = 1;
    while (!result.empty() && result.front() == 1 && chance(70)) result.erase(result.begin());
    return result;
  }

  std::optional<Known> partner(const Known& of) {
    const std::size_t start = below(known_.size());
    for (std::size_t i = 0; i < known_.size(); ++i) {
      const Known& other = known_[(start + i) % known_.size()];
      const auto joined = broadcast(shape_of(other), shape_of(of));
      if (!joined || element_count(*joined) > most_elements) continue;
      return other;
    }
    return std::nullopt;
  }

  void combine(const Known& x) {
    constexpr std::array kinds{BinaryKind::add, BinaryKind::add, BinaryKind::sub,
                               BinaryKind::mul, BinaryKind::max, BinaryKind::min,
                               BinaryKind::div, BinaryKind::prelu};
    const BinaryKind kind = one_of(kinds);
    Known y{{}, 1.5};
    const bool given = kind == BinaryKind::div || kind == BinaryKind::prelu || chance(40);
    if (given)
      y.id = builder_.constant(chance(30) ? shape_of(x) : smaller(shape_of(x)), {0.5, 1.5});
    else if (const auto other = partner(x))
      y = *other;
    else
      return;
    const Shape out = *broadcast(shape_of(x), builder_.shape(y.id));
    const bool swaps = kind != BinaryKind::div && kind != BinaryKind::prelu && chance(40);
    const double bound = kind == BinaryKind::mul || kind == BinaryKind::div
                             ? 2 * x.bound * y.bound
                             : x.bound + y.bound;
    add(Binary{kind}, {swaps ? y.id : x.id, swaps ? x.id : y.id}, out, bound);
  }

  void normalise(const Known& x) {
    const Shape in = shape_of(x);
    const Shape c{in[1]};
    if (chance(30)) return add(Softmax{1, 2, chance(20)}, {x.id}, in, 2 * x.bound + 5);
    if (in.size() == 4 && chance(30))
      return add(Lrn{chance(50) ? 5 : 3, 1e-2f, 0.75f, 1}, {x.id}, in, x.bound);
    const TensorId scale = builder_.constant(c, {0.5, 1.5}), bias = builder_.constant(c);
    const TensorId mean = builder_.constant(c), variance = builder_.constant(c, {0.5, 2});
    add(BatchNormalization{}, {x.id, scale, bias, mean, variance}, in, 2.5 * x.bound + 4);
  }

  void pool(const Known& x) {
    const Shape in = shape_of(x);
    if (in.size() != 4) return;
    const std::int64_t size = std::min({number(2, 3), in[2], in[3]});
    const Window w = window(size, {.stride = number(1, 2), .pad = chance(30) ? size / 2 : 0});
    const PoolKind kind = chance(50) ? PoolKind::max : PoolKind::average;
    add(Pool{kind, w, chance(50), false}, {x.id}, slide(w, in, in[1]), x.bound);
  }

  void transpose(const Known& x) {
    const Shape in = shape_of(x);
    Shape permutation(in.size());
    std::iota(permutation.begin(), permutation.end(), 0);
    for (std::size_t i = permutation.size(); i > 1; --i)
      std::swap(permutation[i - 1], permutation[below(i)]);
    Shape out;
    for (const std::int64_t from : permutation) out.push_back(in[static_cast<std::size_t>(from)]);
    add(Transpose{permutation}, {x.id}, out, x.bound);
  }

  void reshape(const Known& x) {
    Shape out = shape_of(x);
    const std::size_t at = below(out.size());
    if (out.size() > 2 && at + 1 < out.size() && chance(50)) {
      out[at] *= out[at + 1];
      out.erase(out.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    } else if (out.size() < 5) {
      out.insert(out.begin() + static_cast<std::ptrdiff_t>(at), 1);
    }
    add(Reshape{}, {x.id}, out, x.bound);
  }

  void join(const Known& x) {
    const std::size_t axis = below(shape_of(x).size());
    std::vector<TensorId> parts{x.id};
    double bound = x.bound;
    for (const Known& other : known_) {
      Shape a = builder_.shape(other.id), b = shape_of(x);
      if (a.size() != b.size() || parts.size() > 3) continue;
      a[axis] = b[axis] = 0;
      if (a != b || !chance(60)) continue;
      parts.push_back(other.id);
      bound = std::max(bound, other.bound);
    }
    if (element_count(shape_of(x)) * static_cast<std::int64_t>(parts.size()) > most_elements)
      return;
    read(parts);
    made(builder_.concat(static_cast<std::int64_t>(axis), parts), bound);
    ++added_;
  }

  void cut(const Known& x) {
    const Shape in = shape_of(x);
    const std::size_t axis = below(in.size());
    if (in[axis] < 2) return;
    const std::int64_t first = number(1, in[axis] - 1), rest = in[axis] - first;
    read({x.id});
    for (const TensorId part :
         builder_.split(static_cast<std::int64_t>(axis), x.id, {first, rest}))
      made(part, x.bound);
    ++added_;
  }

  void reduce(const Known& x) {
    const Shape in = shape_of(x);
    if (in.size() < 3) return;
    Shape axes(in.size() - 2), out = in;
    std::iota(axes.begin(), axes.end(), 2);
    if (chance(30)) axes = {static_cast<std::int64_t>(below(in.size()))};
    for (const std::int64_t axis : axes) out[static_cast<std::size_t>(axis)] = 1;
    add(Reduce{chance(70) ? ReduceKind::mean : ReduceKind::max, axes}, {x.id}, out, x.bound);
  }

  void enlarge(const Known& x) {
    const Shape in = shape_of(x);
    if (in.size() != 4 || element_count(in) * 4 > most_elements) return;
    Resize op;
    op.mode = chance(50) ? ResizeMode::nearest : ResizeMode::linear;
    op.scales = {1, 1, 2, 2};
    if (op.mode == ResizeMode::nearest) op.coordinates = Coordinates::asymmetric;
    if (op.mode == ResizeMode::nearest) op.nearest = NearestMode::floor;
    add(op, {x.id}, {in[0], in[1], 2 * in[2], 2 * in[3]}, x.bound);
  }

  void pad_or_slice(const Known& x) {
    const Shape in = shape_of(x);
    Shape out = in;
    const std::size_t axis = below(in.size());
    if (chance(50)) {
      Pad op{PadMode::constant, Shape(in.size(), 0), Shape(in.size(), 0), 0};
      op.begin[axis] = number(0, 2);
      op.end[axis] = number(0, 2);
      out[axis] += op.begin[axis] + op.end[axis];
      if (element_count(out) > most_elements) return;
      return add(op, {x.id}, out, x.bound);
    }
    Slice op{Shape(in.size(), 0), Shape(in.size(), 1)};
    op.starts[axis] = number(0, in[axis] - 1);
    out[axis] = number(1, in[axis] - op.starts[axis]);
    if (chance(50)) take_steps(op, in, out);
    add(op, {x.id}, out, x.bound);
  }

  /// Along each axis as far as the tensor goes, perhaps backwards.
  void take_steps(Slice& op, const Shape& in, Shape& out) {
    for (std::size_t d = 0; d < in.size(); ++d) {
      if (chance(50)) continue;
      const std::int64_t step = number(1, 3);
      const bool backwards = chance(20);
      op.starts[d] = backwards ? in[d] - 1 : 0;
      op.steps[d] = backwards ? -step : step;
      out[d] = (in[d] + step - 1) / step;
    }
  }

  Random& random_;
  NetworkBuilder builder_;
  std::vector<Known> known_;
  std::size_t added_ = 0;
};

}  // namespace

Network varied_network(Random& random, std::size_t max_layers) {
  return VariedGrower(random, max_layers).finish();
}

}  // namespace millrace::test
