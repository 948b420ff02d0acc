// GatherElements, GatherNd and OneHot.
#include <cstring>

#include "network/evaluate/copy.h"
#include "network/evaluate/indexed/indices.h"
#include "network/evaluate/types.h"

namespace millrace::network::loops {
namespace {

Shape dense(std::span<const std::int64_t> shape) {
  return strides_of(Shape(shape.begin(), shape.end()));
}

/// The number whole, if the type has fractions.
std::int64_t whole_at(const ConstView& view, std::int64_t i) {
  std::int64_t result = 0;
  visit_number(view.type, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_floating_point_v<T>)
      result = saturate<std::int64_t>(static_cast<double>(view.as<T>()[i]));
    else
      result = static_cast<std::int64_t>(view.as<T>()[i]);
  });
  return result;
}

}  // namespace

void run(const GatherElements& op, Inputs in, Outputs out) {
  const auto axis = static_cast<std::size_t>(op.axis);
  const std::int64_t size = in[0].shape[axis];
  const std::int64_t bytes = size_of(out[0].type).count;
  Walk<2> walk{{out[0].shape.begin(), out[0].shape.end()},
               {dense(out[0].shape), dense(in[0].shape)}};
  const std::int64_t step = walk.strides[1][axis];
  walk.strides[1][axis] = 0;
  for_each(walk, walk.rank(), [&](const std::array<std::int64_t, 2>& at) {
    const std::int64_t from = at[1] + from_end(index_at(in[1], at[0]), size) * step;
    std::memcpy(out[0].data + at[0] * bytes, in[0].data + from * bytes,
                static_cast<std::size_t>(bytes));
  });
}

void run(const GatherNd& op, Inputs in, Outputs out) {
  const auto first = static_cast<std::size_t>(op.batch_dimensions);
  const std::int64_t length = in[1].shape.back();
  const Shape strides = dense(in[0].shape);
  const std::int64_t tuples = count(in[1].shape, 0, in[1].shape.size() - 1);
  const std::int64_t per_batch = count(in[1].shape, first, in[1].shape.size() - 1);
  const std::int64_t batch = count(in[0].shape, first, in[0].shape.size());
  const std::int64_t block =
      count(in[0].shape, first + static_cast<std::size_t>(length), in[0].shape.size()) *
      size_of(out[0].type).count;
  for (std::int64_t t = 0; t < tuples; ++t) {
    std::int64_t from = t / per_batch * batch;
    for (std::int64_t k = 0; k < length; ++k) {
      const std::size_t dimension = first + static_cast<std::size_t>(k);
      from +=
          from_end(index_at(in[1], t * length + k), in[0].shape[dimension]) * strides[dimension];
    }
    std::memcpy(out[0].data + t * block, in[0].data + from * size_of(out[0].type).count,
                static_cast<std::size_t>(block));
  }
}

void run(const OneHot& op, Inputs in, Outputs out) {
  const AroundAxis axis = around(out[0].shape, op.axis);
  const std::int64_t bytes = size_of(out[0].type).count;
  const auto element = static_cast<std::size_t>(bytes);
  fill(out[0].data, count(out[0].shape), in[1].data, element);
  for (std::int64_t i = 0; i < axis.outer * axis.inner; ++i) {
    const std::int64_t hot = from_end(whole_at(in[0], i), axis.size);
    if (hot < 0 || hot >= axis.size) continue;
    const std::int64_t to = (i / axis.inner * axis.size + hot) * axis.inner + i % axis.inner;
    std::memcpy(out[0].data + to * bytes, in[1].data + bytes, element);
  }
}

}  // namespace millrace::network::loops
