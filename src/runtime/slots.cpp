#include "runtime/slots.h"

#include <fmt/format.h>

#include <limits>
#include <new>

#include "base/error.h"

namespace millrace::runtime {
namespace {

std::int64_t stride_of(Bytes size) {
  constexpr auto alignment = static_cast<std::int64_t>(network::tensor_alignment);
  return (size.count + alignment - 1) / alignment * alignment;
}

network::Buffer allocate(const std::string& tensor, Bytes stride, std::int64_t capacity) {
  try {
    if (stride.count > std::numeric_limits<std::int64_t>::max() / capacity) throw std::bad_alloc();
    return network::Buffer(stride * capacity);
  } catch (const std::bad_alloc&) {
    throw EngineError(fmt::format("not enough memory for {} frames of tensor '{}', {} each",
                                  capacity, tensor, to_text(stride)));
  }
}

}  // namespace

Slots::Slots(const std::string& tensor, Bytes size, std::int64_t capacity)
    : size_(size),
      capacity_(capacity),
      stride_(stride_of(size)),
      memory_(allocate(tensor, Bytes{stride_}, capacity)),
      stand_ins_(static_cast<std::size_t>(capacity)) {}

Slots::Slots(Bytes size, std::vector<std::shared_ptr<std::byte>> handles)
    : size_(size),
      capacity_(static_cast<std::int64_t>(handles.size())),
      stride_(0),
      handles_(std::move(handles)),
      stand_ins_(handles_.size()) {}

Slots make_slots(const std::string& tensor, const engine::Layout& layout, std::int64_t capacity,
                 engine::Subnet& subnet) {
  if (layout.space.empty()) return {tensor, layout.size, capacity};
  std::vector<std::shared_ptr<std::byte>> handles;
  try {
    for (std::int64_t slot = 0; slot < capacity; ++slot)
      handles.push_back(subnet.allocate(layout));
  } catch (const EngineError& error) {
    throw EngineError(fmt::format("tensor '{}' needs {} times {} of the memory {}: {}", tensor,
                                  capacity, to_text(layout.size), layout.space, error.what()));
  }
  return {layout.size, std::move(handles)};
}

void Slots::stand_in(std::int64_t frame, std::shared_ptr<const network::Buffer> memory) {
  stand_ins_[slot_of(frame)] = std::move(memory);
}

bool Slots::are_joined(std::int64_t first, std::int64_t count) const {
  if (count == 1) return true;
  if (!handles_.empty()) return false;
  if (stride_ != size_.count || first % capacity_ + count > capacity_) return false;
  for (std::int64_t frame = first; frame < first + count; ++frame)
    if (stand_in_of(frame) != nullptr) return false;
  return true;
}

}  // namespace millrace::runtime
