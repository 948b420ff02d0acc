#pragma once
// How float32 tensors lie in memory, as oneDNN describes it, and the same as text for the borders
// between subnets.
#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <string>
#include <vector>

#include "network/tensor.h"

namespace millrace::engine::onednn {

using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;

/// Dense and row-major; a scalar has one dimension of size 1.
Desc plain_desc(const Dims& shape);
/// A layout that the primitive chooses.
Desc any_desc(const Dims& shape);
/// Dense, with the channels innermost; plain for fewer than three dimensions.
Desc channels_last_desc(const Dims& shape);
/// Any strides, in elements.
Desc strided_desc(const Dims& shape, const Dims& strides);
Dims dims_of(const Desc& desc);
Bytes size_of(const Desc& desc);

/// Whether two descriptions of one shape place every element at the same address. Strides of
/// dimensions of size 1 do not count.
bool same_memory(const Desc& a, const Desc& b);
/// Whether the elements lie in row-major order without gaps.
bool is_plain(const Desc& desc);

/// Strides in elements, if the layout has no inner blocks and no gaps.
std::optional<Dims> dense_strides(const Desc& desc);
/// The dense layout of `shape` whose dimensions nest in the same order as in `model`, which must
/// have dense strides and the same number of dimensions.
Desc dense_like(const Desc& model, const Dims& shape);

/// "plain", or "onednn:" and a text from which read_format makes the same layout.
std::string format_of(const Desc& desc);
/// Nothing if the text is not such a format for this shape.
std::optional<Desc> read_format(const std::string& format, const Dims& shape);

/// All that identifies a layout, packed weights included; for comparison only.
std::string key_of(const Desc& desc);

}  // namespace millrace::engine::onednn
