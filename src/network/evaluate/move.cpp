// Concat, Split, Slice, Gather, Tile, Reshape, Transpose, DepthToSpace: they only move elements.
#include <cstring>

#include "network/evaluate/copy.h"
#include "network/evaluate/loops.h"

namespace millrace::network::loops {
namespace {

std::size_t element_of(const View& view) {
  return static_cast<std::size_t>(size_of(view.type).count);
}

Shape dense_strides(std::span<const std::int64_t> shape) {
  return strides_of(Shape(shape.begin(), shape.end()));
}

/// Between the whole of a part and its place, `offset` steps along the axis, in the joined array.
struct PartOfAxis {
  AroundAxis part, joined;
  std::int64_t offset = 0;

  Shape shape() const { return {part.outer, part.size * part.inner}; }
  Shape part_strides() const { return {part.size * part.inner, 1}; }
  Shape joined_strides() const { return {joined.size * joined.inner, 1}; }
  std::int64_t first() const { return offset * joined.inner; }
};

}  // namespace

void run(const Concat& op, Inputs in, Outputs out) {
  const std::size_t element = element_of(out[0]);
  PartOfAxis place{{}, around(out[0].shape, op.axis), 0};
  for (const ConstView& input : in) {
    place.part = around(input.shape, op.axis);
    copy({place.shape(), {place.part_strides(), place.joined_strides()}}, input.data,
         out[0].data + place.first() * static_cast<std::int64_t>(element), element);
    place.offset += place.part.size;
  }
}

void run(const Split& op, Inputs in, Outputs out) {
  const auto element = static_cast<std::size_t>(size_of(in[0].type).count);
  PartOfAxis place{{}, around(in[0].shape, op.axis), 0};
  for (const View& output : out) {
    place.part = around(output.shape, op.axis);
    if (output.present())
      copy({place.shape(), {place.joined_strides(), place.part_strides()}},
           in[0].data + place.first() * static_cast<std::int64_t>(element), output.data, element);
    place.offset += place.part.size;
  }
}

void run(const Slice& op, Inputs in, Outputs out) {
  const Shape strides = dense_strides(in[0].shape);
  Copy walk{{out[0].shape.begin(), out[0].shape.end()}, {strides, dense_strides(out[0].shape)}};
  if (count(out[0].shape) == 0) return;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    first += op.starts[i] * strides[i];
    walk.strides[0][i] *= op.steps[i];
  }
  const std::size_t element = element_of(out[0]);
  copy(walk, in[0].data + first * static_cast<std::int64_t>(element), out[0].data, element);
}

void run(const Gather& op, Inputs in, Outputs out) {
  const AroundAxis axis = around(in[0].shape, op.axis);
  const auto block = axis.inner * static_cast<std::int64_t>(element_of(out[0]));
  const std::int64_t indices = count(in[1].shape);
  const bool narrow = in[1].type == DataType::int32;
  std::byte* to = out[0].data;
  for (std::int64_t o = 0; o < axis.outer; ++o) {
    const std::byte* from = in[0].data + o * axis.size * block;
    for (std::int64_t i = 0; i < indices; ++i, to += block) {
      const std::int64_t index = narrow ? in[1].as<std::int32_t>()[i] : in[1].as<std::int64_t>()[i];
      std::memcpy(to, from + (index < 0 ? index + axis.size : index) * block,
                  static_cast<std::size_t>(block));
    }
  }
}

/// Every dimension of the output is a repetition and, within it, a dimension of the input.
void run(const Tile&, Inputs in, Outputs out) {
  const Shape from = dense_strides(in[0].shape), to = dense_strides(out[0].shape);
  Copy walk;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::int64_t size = in[0].shape[i];
    walk.shape.insert(walk.shape.end(), {size == 0 ? 0 : out[0].shape[i] / size, size});
    walk.strides[0].insert(walk.strides[0].end(), {0, from[i]});
    walk.strides[1].insert(walk.strides[1].end(), {to[i] * size, to[i]});
  }
  copy(walk, in[0].data, out[0].data, element_of(out[0]));
}

void run(const Reshape&, Inputs in, Outputs out) {
  std::memcpy(out[0].data, in[0].data,
              static_cast<std::size_t>(count(out[0].shape)) * element_of(out[0]));
}

void run(const Transpose& op, Inputs in, Outputs out) {
  const Shape from = dense_strides(in[0].shape);
  Copy walk{{out[0].shape.begin(), out[0].shape.end()}, {from, dense_strides(out[0].shape)}};
  for (std::size_t i = 0; i < from.size(); ++i)
    walk.strides[0][i] = from[static_cast<std::size_t>(op.permutation[i])];
  copy(walk, in[0].data, out[0].data, element_of(out[0]));
}

void run(const DepthToSpace& op, Inputs in, Outputs out) {
  const std::int64_t b = op.block;
  const std::int64_t n = out[0].shape[0], c = out[0].shape[1];
  const std::int64_t h = in[0].shape[2], w = in[0].shape[3];
  // Visited in the order of the output: n, c, h, block row, w, block column.
  const Shape shape{n, c, h, b, w, b};
  const std::int64_t plane = h * w;
  const std::int64_t c_step = op.column_row_depth ? b * b * plane : plane;
  const std::int64_t block_step = op.column_row_depth ? plane : c * plane;
  copy({shape, {Shape{c * b * b * plane, c_step, w, b * block_step, 1, block_step},
                strides_of(shape)}},
       in[0].data, out[0].data, element_of(out[0]));
}

}  // namespace millrace::network::loops
