// Pools of norms: the root of order p of the sum of |x|^p.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include "formats/onnx/operators/steps.h"
#include "formats/onnx/operators/tables.h"
#include "formats/onnx/window.h"

namespace millrace::formats::onnx {
namespace {

class LpNorm {
 public:
  explicit LpNorm(Node& node)
      : steps_(node), p_(node.attributes().integer("p", 2)), type_(node.type(0)) {
    if (type_ != DataType::float16 && type_ != DataType::float32 && type_ != DataType::float64)
      node.fail(fmt::format("the input has type {}, expected float16, float32 or float64",
                            to_text(type_)));
    if (p_ < 1) node.fail(fmt::format("the attribute 'p' is {}, expected 1 or more", p_));
  }

  /// Not in float16, which has no room for them.
  DataType type_of_sums() const { return type_ == DataType::float64 ? type_ : DataType::float32; }
  TensorId powers(TensorId x) {
    x = steps_.as(x, type_of_sums());
    if (p_ == 2) return steps_.combined(BinaryKind::mul, x, x);
    const TensorId sizes = steps_.function({UnaryKind::abs}, x);
    return p_ == 1 ? sizes : power(sizes, static_cast<double>(p_));
  }
  TensorId root(TensorId sums) { return steps_.as(root_of(sums), type_); }

 private:
  TensorId root_of(TensorId sums) {
    if (p_ == 2) return steps_.function({UnaryKind::sqrt}, sums);
    return p_ == 1 ? sums : power(sums, 1 / static_cast<double>(p_));
  }
  TensorId power(TensorId x, double exponent) {
    return steps_.combined(BinaryKind::pow, x, steps_.number(exponent, steps_.type(x)));
  }

  Steps steps_;
  std::int64_t p_;
  DataType type_;
};

/// Padding at the end, so that no window reaches beyond it: the mean of a window always has all its
/// elements.
void pad_to_the_last_window(const Shape& image, const Shape& result, Window& window) {
  for (std::size_t i = 0; i < image.size(); ++i) {
    const std::int64_t end = (result[i] - 1) * window.strides[i] + reach(window, i);
    window.pads_end[i] = std::max(window.pads_end[i], end - image[i] - window.pads_begin[i]);
  }
}

void lower_lp_pool(Node& node) {
  LpNorm norm(node);
  const Shape image = spatial_sizes(node, node.shape(0));
  Pool pool{PoolKind::average, read_window(node, image.size(), {}), true};
  const bool round_up = node.attributes().flag("ceil_mode", false);
  const Shape result = slide(node, image, round_up, pool.window);
  pad_to_the_last_window(image, result, pool.window);
  Shape shape = node.shape(0);
  std::copy(result.begin(), result.end(), shape.begin() + 2);
  const Shape& kernel = pool.window.kernel;
  const double count = std::accumulate(kernel.begin(), kernel.end(), 1.0, std::multiplies());
  const TensorId means = node.add(std::move(pool), {norm.powers(node.input(0))},
                                  {norm.type_of_sums(), std::move(shape)});
  node.give(0, norm.root(Steps(node).scaled(means, count)));
}

void lower_global_lp_pool(Node& node) {
  LpNorm norm(node);
  Shape axes(spatial_sizes(node, node.shape(0)).size()), shape = node.shape(0);
  std::iota(axes.begin(), axes.end(), 2);
  std::fill(shape.begin() + 2, shape.end(), 1);
  const TensorId powers = norm.powers(node.input(0));
  node.give(0, norm.root(node.add(Reduce{ReduceKind::sum, std::move(axes)}, {powers},
                                  {norm.type_of_sums(), std::move(shape)})));
}

constexpr std::array table_of_lp_pools{
    OperatorEntry{"GlobalLpPool", lower_global_lp_pool, 1, 1, "p"},
    OperatorEntry{"LpPool", lower_lp_pool, 1, 1,
                  "auto_pad ceil_mode dilations kernel_shape p pads strides"},
};

}  // namespace

std::span<const OperatorEntry> lp_pool_operators() { return table_of_lp_pools; }

}  // namespace millrace::formats::onnx
