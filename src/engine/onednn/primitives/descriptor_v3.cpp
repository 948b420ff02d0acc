// For oneDNN 3.x, where a descriptor is closed: it tells what it is when asked, but a layout with
// inner blocks can only be made by naming one of oneDNN's format tags.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "engine/onednn/primitives/descriptor.h"
#include "engine/onednn/primitives/layout.h"

namespace millrace::engine::onednn {
namespace {

using Tag = dnnl::memory::format_tag;
using Kind = dnnl::memory::format_kind;

/// Null if oneDNN refuses.
Desc tagged(const Blocking& blocking, int tag) {
  return Desc(blocking.shape, blocking.type, static_cast<Tag>(tag), true);
}

/// A descriptor whose tag puts every element in its place, with these very strides if there is one:
/// strides of dimensions of a single block place nothing.
std::optional<Desc> find_tagged(const Blocking& blocking) {
  constexpr int first = dnnl_format_tag_any + 1, last = dnnl_format_tag_last;
  std::optional<Desc> found;
  for (int tag = first; tag < last; ++tag) {
    const Desc desc = tagged(blocking, tag);
    if (!desc) continue;
    const auto its = blocking_of(desc);
    if (!its || !same_places(*its, blocking)) continue;
    found = desc;
    if (its->strides == blocking.strides) break;
  }
  return found;
}

}  // namespace

std::optional<Blocking> blocking_of(const Desc& desc) {
  if (desc.get_format_kind() != Kind::blocked || desc.get_submemory_offset() != 0)
    return std::nullopt;
  return Blocking{desc.get_data_type(), desc.get_dims(),       desc.get_padded_dims(),
                  desc.get_strides(),   desc.get_inner_blks(), desc.get_inner_idxs()};
}

std::optional<Desc> desc_of(const Blocking& blocking) {
  if (!blocking.blocks.empty()) return find_tagged(blocking);
  const Desc desc(blocking.shape, blocking.type, blocking.strides, true);
  return desc ? std::optional(desc) : std::nullopt;
}

Desc retyped(const Desc& desc, Type type) {
  if (type_of(desc) == type) return desc;
  if (desc.get_format_kind() == Kind::any) return any_desc(dims_of(desc), type);
  auto blocking = blocking_of(desc);
  if (blocking) blocking->type = type;
  const auto result = blocking ? desc_of(*blocking) : std::nullopt;
  if (!result)
    throw EngineError("oneDNN's layout " + format_of({desc}) +
                      " has no name that would give it to numbers of another type; use oneDNN 2");
  return *result;
}

Type type_of(const Desc& desc) { return desc.get_data_type(); }

Dims dims_of(const Desc& desc) { return desc.get_dims(); }

/// What oneDNN appends to packed 8-bit weights shows in their size only.
std::string key_of(const Desc& desc) {
  return fmt::format("{} {} {}:{},{},{},{},{},{};", static_cast<int>(desc.get_format_kind()),
                     static_cast<int>(type_of(desc)), desc.get_size(),
                     fmt::join(desc.get_dims(), "x"), fmt::join(desc.get_padded_dims(), "x"),
                     fmt::join(desc.get_strides(), "x"), fmt::join(desc.get_inner_blks(), "x"),
                     fmt::join(desc.get_inner_idxs(), "x"), desc.get_submemory_offset());
}

bool set_address(dnnl_memory_t memory, void* address, const dnnl::stream&) {
  return dnnl_memory_set_data_handle(memory, address) == dnnl_success;
}

}  // namespace millrace::engine::onednn
