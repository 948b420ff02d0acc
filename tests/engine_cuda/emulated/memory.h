#pragma once
// The memory of the emulated GPU. It lies in the host's memory, at the same addresses. Any thread.
#include <cstddef>
#include <cstdint>

namespace emulated {

using Address = std::uint64_t;

/// Filled with the byte 0xCB. A Status: more than device_memory() in all is out_of_memory.
int allocate(Address* address, std::size_t bytes);
int release(Address address);
/// Memory of the host, which counts against no limit.
int allocate_pinned(void** address, std::size_t bytes);
int release_pinned(void* address);

/// Whether all these bytes lie in one allocation of the device.
bool is_allocated(Address address, std::size_t bytes);
std::size_t allocated_bytes();

inline void* pointer_to(Address address) { return reinterpret_cast<void*>(address); }
inline Address address_of(const void* pointer) { return reinterpret_cast<Address>(pointer); }

}  // namespace emulated
