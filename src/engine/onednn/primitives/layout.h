#pragma once
// How tensors of numbers lie in memory, as oneDNN describes it, and the same as text for the
// borders between subnets. A tensor that is float32 to the network may lie in fewer bits.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/onednn/primitives/descriptor.h"
#include "network/tensor.h"

namespace millrace::engine::onednn {

/// Dense and row-major; a scalar has one dimension of size 1.
Desc row_major_desc(const Dims& shape, Type type);
/// The same in float32.
Desc plain_desc(const Dims& shape);
/// A layout that the primitive chooses.
Desc any_desc(const Dims& shape, Type type = Type::f32);
/// Dense, with the channels innermost; row-major for fewer than three dimensions.
Desc channels_last_desc(const Dims& shape, Type type = Type::f32);
/// Any strides, in elements.
/// Nothing if oneDNN refuses these strides: it takes rows for overlapping where every second
/// element of an odd number is read.
std::optional<Desc> sparse_desc(const Dims& shape, const Dims& strides, Type type);
Desc strided_desc(const Dims& shape, const Dims& strides, Type type = Type::f32);
Bytes size_of(const Desc& desc);

/// Whether two descriptions of one shape place every element at the same address. Strides of
/// dimensions of size 1 do not count.
bool same_memory(const Desc& a, const Desc& b);
bool same_places(const Blocking& a, const Blocking& b);
/// Whether it has room for more channels than there are, to fill whole blocks.
bool is_padded(const Desc& desc);
/// Whether the elements lie in row-major order without gaps.
bool is_row_major(const Desc& desc);
/// The same, and in float32.
bool is_plain(const Desc& desc);

/// Strides in elements, if the layout has no inner blocks and no gaps.
std::optional<Dims> dense_strides(const Desc& desc);
/// The dense layout of `shape` whose dimensions nest in the same order as in `model`, which must
/// have dense strides and the same number of dimensions; of its type.
Desc dense_like(const Desc& model, const Dims& shape);
/// The same blocks of channels, of images of another shape; nothing if `model` has no such blocks,
/// or if the channels do not fill them.
std::optional<Desc> blocks_like(const Desc& model, const Dims& shape);

/// The same memory read with another shape of as many elements. Nothing if its strides do not allow
/// that, as where dimensions become one that do not follow each other.
std::optional<Desc> reshaped(const Desc& desc, const Dims& shape);

/// How a dense tensor falls into equal pieces along an axis: `count` times `bytes`.
struct Pieces {
  std::size_t count = 1, bytes = 1;
};
/// All dimensions that lie outside of the axis count pieces; the axis and what lies inside of it is
/// one piece. Dimensions of size 1 lie anywhere. Precondition: dense strides.
Pieces pieces_of(const Desc& layout, std::size_t axis);

/// The first channels of wider pixels; `whole` has the channels innermost.
Desc first_channels(const Desc& whole, const Dims& shape);
/// Whether it has gaps: first_channels of something wider.
bool is_slice(const Desc& desc);
/// From one pixel to the next, in elements, of such a description.
std::size_t pixel_stride(const Desc& desc);

/// A stored number n stands for scale * (n - zero).
struct Encoding {
  float scale = 1;
  std::int32_t zero = 0;
  bool operator==(const Encoding&) const = default;
};

/// How a tensor lies and what its numbers mean.
struct Form {
  Desc desc;
  Encoding encoding = {};
};
/// "plain", or "onednn:" and a text from which read_format makes the same form.
std::string format_of(const Form& form);
/// Nothing if the text is not such a format for this shape.
std::optional<Form> read_format(const std::string& format, const Dims& shape);

/// The same places, with row-major or channels-last strides where these describe them: oneDNN reads
/// the strides of dimensions of size 1 too, and some kernels take them for another layout.
Desc with_usual_strides(const Desc& desc);
/// Where kernels of two operands may work: in the order of the shape, with the channels innermost,
/// or in blocks of channels without padding. In others oneDNN broadcasts along wrong dimensions,
/// and what it does after a padded block is wrong.
bool suits_two_operands(const Desc& desc);

/// Where arithmetic on single elements or windows is tried: as the tensor lies, then what all
/// kernels know; in its type, and then in float32. 8 bits have no arithmetic of their own.
std::vector<Desc> usual_layouts(const Desc& now);

}  // namespace millrace::engine::onednn
