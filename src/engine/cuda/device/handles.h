#pragma once
// Objects of the driver that free themselves. They outlive neither the driver nor the context,
// which stay as long as the process.
#include <memory>
#include <utility>

#include "base/units.h"
#include "engine/cuda/library/driver.h"

namespace millrace::engine::cuda {

/// Memory of the GPU whose context is the calling thread's. EngineError if there is not enough.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(const Driver& driver, Bytes size);
  ~DeviceMemory() { reset(); }
  DeviceMemory(DeviceMemory&& other) noexcept { swap(other); }
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    swap(other);
    return *this;
  }

  Address address() const { return address_; }
  Bytes size() const { return size_; }

 private:
  void reset();
  void swap(DeviceMemory& other) {
    std::swap(driver_, other.driver_);
    std::swap(address_, other.address_);
    std::swap(size_, other.size_);
  }

  const Driver* driver_ = nullptr;
  Address address_ = 0;
  Bytes size_;
};

/// Memory of the host that the GPU reads and writes by itself.
class PinnedMemory {
 public:
  PinnedMemory() = default;
  PinnedMemory(const Driver& driver, Bytes size);
  ~PinnedMemory();
  PinnedMemory(PinnedMemory&& other) noexcept
      : driver_(other.driver_), data_(std::exchange(other.data_, nullptr)) {}
  PinnedMemory& operator=(PinnedMemory&& other) noexcept {
    std::swap(driver_, other.driver_);
    std::swap(data_, other.data_);
    return *this;
  }

  std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  const Driver* driver_ = nullptr;
  void* data_ = nullptr;
};

/// Frees an object of the driver.
template <class T>
struct Release {
  int (*release)(T*) = nullptr;
  void operator()(T* object) const { release(object); }
};
template <class T>
using Owned = std::unique_ptr<T, Release<T>>;

Owned<StreamObject> make_stream(const Driver& driver);
enum class Wait { asleep, spinning };
/// Timed: milliseconds_between() takes it.
Owned<EventObject> make_event(const Driver& driver, Wait wait, bool timed);

}  // namespace millrace::engine::cuda
