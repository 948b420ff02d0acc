#include <algorithm>
#include <numeric>

#include "network/evaluate/loops.h"
#include "network/evaluate/types.h"

namespace millrace::network::loops {
namespace {

/// Not a number counts as larger than all numbers, so that the order is one.
template <class T>
bool is_less(T a, T b) {
  return a < b || (a == a && b != b);
}

template <class T>
void top_k(const TopK& op, const ConstView& in, Outputs out) {
  const AroundAxis axis = around(in.shape, op.axis);
  const std::int64_t k = out[0].shape[static_cast<std::size_t>(op.axis)];
  std::vector<std::int64_t> order(static_cast<std::size_t>(axis.size));
  for (std::int64_t row = 0; row < axis.outer * axis.inner; ++row) {
    const std::int64_t o = row / axis.inner, i = row % axis.inner;
    const T* x = in.as<T>() + o * axis.size * axis.inner + i;
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + k, order.end(),
                      [&](std::int64_t a, std::int64_t b) {
                        const T left = x[a * axis.inner], right = x[b * axis.inner];
                        if (is_less(left, right)) return !op.largest;
                        if (is_less(right, left)) return op.largest;
                        return a < b;
                      });
    for (std::int64_t n = 0; n < k; ++n) {
      const std::int64_t to = (o * k + n) * axis.inner + i;
      const std::int64_t index = order[static_cast<std::size_t>(n)];
      if (out[0].present()) out[0].as<T>()[to] = x[index * axis.inner];
      if (out.size() > 1 && out[1].present()) out[1].as<std::int64_t>()[to] = index;
    }
  }
}

}  // namespace

void run(const TopK& op, Inputs in, Outputs out) {
  visit_number(in[0].type, [&]<class T>(std::type_identity<T>) { top_k<T>(op, in[0], out); });
}

}  // namespace millrace::network::loops
