// For oneDNN 2.x, where a descriptor is a structure open to all.
#include <algorithm>

#include "engine/onednn/primitives/descriptor.h"

namespace millrace::engine::onednn {

std::optional<Blocking> blocking_of(const Desc& desc) {
  const dnnl_memory_desc_t& d = desc.data;
  if (d.format_kind != dnnl_blocked || d.offset0 != 0) return std::nullopt;
  const dnnl_blocking_desc_t& b = d.format_desc.blocking;
  const auto list = [](const dnnl_dims_t& numbers, int count) {
    return Dims(numbers, numbers + count);
  };
  return Blocking{desc.data_type(),
                  list(d.dims, d.ndims),
                  list(d.padded_dims, d.ndims),
                  list(b.strides, d.ndims),
                  list(b.inner_blks, b.inner_nblks),
                  list(b.inner_idxs, b.inner_nblks)};
}

std::optional<Desc> desc_of(const Blocking& blocking) {
  Desc desc(blocking.shape, blocking.type, Dims());
  dnnl_blocking_desc_t& b = desc.data.format_desc.blocking;
  std::copy(blocking.strides.begin(), blocking.strides.end(), b.strides);
  std::copy(blocking.padded.begin(), blocking.padded.end(), desc.data.padded_dims);
  std::copy(blocking.blocks.begin(), blocking.blocks.end(), b.inner_blks);
  std::copy(blocking.blocked.begin(), blocking.blocked.end(), b.inner_idxs);
  b.inner_nblks = static_cast<int>(blocking.blocks.size());
  return desc;
}

Desc retyped(const Desc& desc, Type type) {
  Desc result = desc;
  result.data.data_type = dnnl::memory::convert_to_c(type);
  return result;
}

Type type_of(const Desc& desc) { return desc.data_type(); }

Dims dims_of(const Desc& desc) { return desc.dims(); }

std::string key_of(const Desc& desc) {
  return std::string(reinterpret_cast<const char*>(&desc.data), sizeof desc.data);
}

bool set_address(dnnl_memory_t memory, void* address, const dnnl::stream& stream) {
  return dnnl_memory_set_data_handle_v2(memory, address, stream.get()) == dnnl_success;
}

}  // namespace millrace::engine::onednn
