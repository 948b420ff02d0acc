// ScatterElements and ScatterNd.
#include <cstring>

#include "network/evaluate/indexed/indices.h"
#include "network/evaluate/types.h"
#include "network/evaluate/walk.h"

namespace millrace::network::loops {
namespace {

template <class T>
T combined(Reduction reduction, T old, T update) {
  using W = Wrapping<T>;
  switch (reduction) {
    case Reduction::add:
      return static_cast<T>(static_cast<W>(old) + static_cast<W>(update));
    case Reduction::mul:
      return static_cast<T>(static_cast<W>(old) * static_cast<W>(update));
    case Reduction::max:
      return old > update || old != old ? old : update;
    case Reduction::min:
      return old < update || old != old ? old : update;
    case Reduction::none:
      break;
  }
  return update;
}

/// Puts in `size` updates that lie one after the other, from element `from` on.
struct Put {
  Reduction reduction;
  const ConstView& updates;
  const View& out;

  void operator()(std::int64_t from, std::int64_t to, std::int64_t size) const {
    const std::int64_t bytes = size_of(out.type).count;
    if (reduction == Reduction::none) {
      std::memcpy(out.data + to * bytes, updates.data + from * bytes,
                  static_cast<std::size_t>(size * bytes));
      return;
    }
    visit_number(out.type, [&]<class T>(std::type_identity<T>) {
      for (std::int64_t i = 0; i < size; ++i)
        out.as<T>()[to + i] =
            combined<T>(reduction, out.as<T>()[to + i], updates.as<T>()[from + i]);
    });
  }
};

void copy_all(const ConstView& in, const View& out) {
  const std::int64_t bytes = count(out.shape) * size_of(out.type).count;
  std::memcpy(out.data, in.data, static_cast<std::size_t>(bytes));
}

Shape steps_of(std::span<const std::int64_t> shape) {
  return strides_of(Shape(shape.begin(), shape.end()));
}

}  // namespace

void run(const ScatterElements& op, Inputs in, Outputs out) {
  copy_all(in[0], out[0]);
  const auto axis = static_cast<std::size_t>(op.axis);
  const std::int64_t size = in[0].shape[axis];
  Walk<2> walk{{in[1].shape.begin(), in[1].shape.end()},
               {steps_of(in[1].shape), steps_of(in[0].shape)}};
  const std::int64_t step = walk.strides[1][axis];
  walk.strides[1][axis] = 0;
  const Put put{op.reduction, in[2], out[0]};
  for_each(walk, walk.rank(), [&](const std::array<std::int64_t, 2>& at) {
    put(at[0], at[1] + from_end(index_at(in[1], at[0]), size) * step, 1);
  });
}

void run(const ScatterNd& op, Inputs in, Outputs out) {
  copy_all(in[0], out[0]);
  const std::int64_t length = in[1].shape.back();
  const Shape strides = steps_of(in[0].shape);
  const std::int64_t tuples = count(in[1].shape, 0, in[1].shape.size() - 1);
  const std::int64_t block =
      count(in[0].shape, static_cast<std::size_t>(length), in[0].shape.size());
  const Put put{op.reduction, in[2], out[0]};
  for (std::int64_t t = 0; t < tuples; ++t) {
    std::int64_t to = 0;
    for (std::int64_t k = 0; k < length; ++k) {
      const auto dimension = static_cast<std::size_t>(k);
      to += from_end(index_at(in[1], t * length + k), in[0].shape[dimension]) * strides[dimension];
    }
    put(t * block, to, block);
  }
}

}  // namespace millrace::network::loops
