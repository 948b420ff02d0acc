#include "memory.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "settings.h"
#include "status.h"

namespace emulated {
namespace {

constexpr int unwritten = 0xCB;
constexpr std::size_t alignment = 256;  // what the driver promises

/// Allocations by address.
struct Memory {
  std::mutex lock;
  std::map<Address, std::size_t> device, pinned;
  std::size_t device_bytes = 0;
};

/// Never destroyed: the engine may release its memory while the program ends.
Memory& memory() {
  static Memory& the_memory = *new Memory;
  return the_memory;
}

void* filled(std::size_t bytes) {
  void* made = nullptr;
  if (::posix_memalign(&made, alignment, bytes) != 0) return nullptr;
  return std::memset(made, unwritten, bytes);
}

}  // namespace

int allocate(Address* address, std::size_t bytes) {
  if (address == nullptr || bytes == 0) return invalid_value;
  Memory& all = memory();
  const std::lock_guard guard(all.lock);
  const std::size_t limit = device_memory();
  if (bytes > limit || all.device_bytes > limit - bytes) return out_of_memory;
  void* const made = filled(bytes);
  if (made == nullptr) return out_of_memory;
  *address = address_of(made);
  all.device.emplace(*address, bytes);
  all.device_bytes += bytes;
  return success;
}

int release(Address address) {
  if (address == 0) return success;
  Memory& all = memory();
  const std::lock_guard guard(all.lock);
  const auto found = all.device.find(address);
  if (found == all.device.end()) return invalid_value;
  all.device_bytes -= found->second;
  all.device.erase(found);
  std::free(pointer_to(address));
  return success;
}

int allocate_pinned(void** address, std::size_t bytes) {
  if (address == nullptr || bytes == 0) return invalid_value;
  Memory& all = memory();
  const std::lock_guard guard(all.lock);
  *address = filled(bytes);
  if (*address == nullptr) return out_of_memory;
  all.pinned.emplace(address_of(*address), bytes);
  return success;
}

int release_pinned(void* address) {
  Memory& all = memory();
  const std::lock_guard guard(all.lock);
  if (all.pinned.erase(address_of(address)) == 0) return invalid_value;
  std::free(address);
  return success;
}

bool is_allocated(Address address, std::size_t bytes) {
  Memory& all = memory();
  const std::lock_guard guard(all.lock);
  auto after = all.device.upper_bound(address);
  if (after == all.device.begin()) return false;
  const auto [begin, size] = *--after;
  const std::size_t offset = address - begin;
  return offset <= size && bytes <= size - offset;
}

std::size_t allocated_bytes() {
  Memory& all = memory();
  const std::lock_guard guard(all.lock);
  return all.device_bytes;
}

}  // namespace emulated
