#pragma once
// oneDNN's descriptors of memory, looked into and made from what is found in them: what differs
// between its versions is in descriptor_v2.cpp and descriptor_v3.cpp.
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <string>

namespace millrace::engine::onednn {

using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;
using Type = dnnl::memory::data_type;

/// A layout by numbers. Each dimension is rounded up to whole blocks; the blocks lie at its stride,
/// in elements; inside of them lie the inner blocks, from outside to inside.
struct Blocking {
  Type type = Type::f32;
  Dims shape, padded, strides;  // by dimension
  Dims blocks, blocked;         // by inner block: its size, its dimension
};
/// Nothing for a layout of another kind: the kernel's own, one yet to be chosen, or one that begins
/// behind the beginning of its memory.
std::optional<Blocking> blocking_of(const Desc& desc);
/// Nothing if oneDNN has no such layout, or its version has no way to ask for it.
std::optional<Desc> desc_of(const Blocking& blocking);

/// The same places for elements of another type. EngineError if desc_of() does not know them.
Desc retyped(const Desc& desc, Type type);
Dims dims_of(const Desc& desc);
Type type_of(const Desc& desc);

/// What identifies a layout, packed weights included, as far as oneDNN tells; for comparison only.
std::string key_of(const Desc& desc);

/// Whether oneDNN takes it.
bool set_address(dnnl_memory_t memory, void* address, const dnnl::stream& stream);

}  // namespace millrace::engine::onednn
