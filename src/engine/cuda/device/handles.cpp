#include "engine/cuda/device/handles.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace millrace::engine::cuda {
namespace {

std::size_t at_least_one(Bytes size) {
  return static_cast<std::size_t>(std::max<std::int64_t>(size.count, 1));
}

[[noreturn]] void fail_for_memory(const Driver& driver, Bytes size) {
  std::size_t free = 0, all = 0;
  driver.free_memory(&free, &all);
  throw EngineError(fmt::format("{} of memory are needed, but only {} of the GPU's {} are free",
                                to_text(size), to_text(Bytes{static_cast<std::int64_t>(free)}),
                                to_text(Bytes{static_cast<std::int64_t>(all)})));
}

}  // namespace

DeviceMemory::DeviceMemory(const Driver& driver, Bytes size) : driver_(&driver), size_(size) {
  const int status = driver.allocate(&address_, at_least_one(size));
  if (status == out_of_memory) fail_for_memory(driver, size);
  check(driver, status);
}

void DeviceMemory::reset() {
  if (address_ != 0) driver_->release(address_);
}

PinnedMemory::PinnedMemory(const Driver& driver, Bytes size) : driver_(&driver) {
  const int status = driver.allocate_pinned(&data_, at_least_one(size));
  if (status == out_of_memory)
    throw EngineError(
        fmt::format("{} of this machine's memory cannot be given to the GPU", to_text(size)));
  check(driver, status);
}

PinnedMemory::~PinnedMemory() {
  if (data_ != nullptr) driver_->release_pinned(data_);
}

Owned<StreamObject> make_stream(const Driver& driver) {
  Stream stream = nullptr;
  check(driver, driver.make_stream(&stream, non_blocking));
  return {stream, {driver.release_stream}};
}

Owned<EventObject> make_event(const Driver& driver, Wait wait, bool timed) {
  Event event = nullptr;
  const unsigned flags =
      (wait == Wait::asleep ? blocking_event : 0u) | (timed ? 0u : untimed_event);
  check(driver, driver.make_event(&event, flags));
  return {event, {driver.release_event}};
}

}  // namespace millrace::engine::cuda
