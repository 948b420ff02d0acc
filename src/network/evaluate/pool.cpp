#include <limits>
#include <vector>

#include "network/evaluate/loops.h"
#include "network/evaluate/sliding.h"
#include "network/evaluate/types.h"

namespace millrace::network::loops {
namespace {

/// The part of a window that lies inside the input, in one dimension.
struct Extent {
  std::int64_t first = 0, step = 1, size = 0;
  std::int64_t padded = 0;  // with the positions that lie in the padding
};

/// One extent for each output position.
std::vector<Extent> extents(const Sliding& s, std::size_t d) {
  std::vector<Extent> result(static_cast<std::size_t>(s.out[d]));
  std::int64_t start = -s.begin[d];
  for (Extent& extent : result) {
    extent.step = s.dilations[d];
    for (std::int64_t k = 0; k < s.kernel[d]; ++k) {
      const std::int64_t i = start + k * extent.step;
      if (i < s.in[d] + s.end[d]) ++extent.padded;
      if (i < 0 || i >= s.in[d]) continue;
      if (extent.size == 0) extent.first = i;
      ++extent.size;
    }
    start += s.strides[d];
  }
  return result;
}

using Box = std::array<Extent, 3>;

/// Calls f(flat index in the channel) for every position of the box.
template <class F>
void for_each_in(const Box& box, const Three& sizes, F&& f) {
  for (std::int64_t d = 0; d < box[0].size; ++d)
    for (std::int64_t h = 0; h < box[1].size; ++h) {
      const std::int64_t row =
          ((box[0].first + d * box[0].step) * sizes[1] + box[1].first + h * box[1].step) * sizes[2];
      for (std::int64_t w = 0; w < box[2].size; ++w) f(row + box[2].first + w * box[2].step);
    }
}

/// The windows of all outputs of one channel, in order.
class Boxes {
 public:
  explicit Boxes(const Sliding& s) : extents_{extents(s, 0), extents(s, 1), extents(s, 2)} {}

  template <class F>
  void for_each(F&& f) const {
    std::int64_t flat = 0;
    for (const Extent& d : extents_[0])
      for (const Extent& h : extents_[1])
        for (const Extent& w : extents_[2]) f(flat++, Box{d, h, w});
  }

 private:
  std::array<std::vector<Extent>, 3> extents_;
};

template <class T>
void average(const Pool& op, Inputs in, const View& out) {
  const Sliding s = sliding(op.window, in[0].shape, out.shape);
  const Boxes boxes(s);
  const std::int64_t channels = out.shape[0] * out.shape[1];
  for (std::int64_t c = 0; c < channels; ++c) {
    const T* x = in[0].as<T>() + c * volume(s.in);
    T* y = out.as<T>() + c * volume(s.out);
    boxes.for_each([&](std::int64_t i, const Box& box) {
      T sum{};
      for_each_in(box, s.in, [&](std::int64_t at) { sum += x[at]; });
      const std::int64_t divisor =
          op.count_include_pad ? box[0].padded * box[1].padded * box[2].padded
                               : box[0].size * box[1].size * box[2].size;
      y[i] = divisor == 0 ? T{} : sum / static_cast<T>(divisor);
    });
  }
}

/// ONNX numbers the maxima through the whole input; storage order turns only the spatial part.
std::int64_t column_major(std::int64_t flat, const Three& sizes) {
  const Three at = position(flat, sizes);
  return at[0] + sizes[0] * (at[1] + sizes[1] * at[2]);
}

template <class T>
void maximum(const Pool& op, Inputs in, Outputs out) {
  const Sliding s = sliding(op.window, in[0].shape, out[0].shape);
  const Boxes boxes(s);
  const std::int64_t channels = out[0].shape[0] * out[0].shape[1];
  const bool wants_index = out.size() > 1 && out[1].present();
  for (std::int64_t c = 0; c < channels; ++c) {
    const T* x = in[0].as<T>() + c * volume(s.in);
    T* y = out[0].as<T>() + c * volume(s.out);
    boxes.for_each([&](std::int64_t i, const Box& box) {
      T best = std::numeric_limits<T>::lowest();
      std::int64_t index = -1;
      for_each_in(box, s.in, [&](std::int64_t at) {
        if (index >= 0 && !(x[at] > best)) return;
        best = x[at];
        index = at;
      });
      y[i] = best;
      if (!wants_index) return;
      const std::int64_t inside = op.column_major_indices ? column_major(index, s.in) : index;
      out[1].as<std::int64_t>()[c * volume(s.out) + i] = c * volume(s.in) + inside;
    });
  }
}

}  // namespace

void run(const Pool& op, Inputs in, Outputs out) {
  if (op.kind == PoolKind::average)
    return visit_float(out[0].type,
                       [&]<class T>(std::type_identity<T>) { average<T>(op, in, out[0]); });
  visit_number(out[0].type, [&]<class T>(std::type_identity<T>) { maximum<T>(op, in, out); });
}

}  // namespace millrace::network::loops
