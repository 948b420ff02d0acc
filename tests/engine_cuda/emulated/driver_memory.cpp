// The driver's functions for memory.
#include <atomic>
#include <cstring>

#include "context.h"
#include "memory.h"
#include "status.h"
#include "stream.h"

namespace emulated {
namespace {

/// For calls that concern all streams.
template <class Call>
int outside_captures(const Call& call) {
  return in_context([&] {
    const int status = refuse_while_capturing();
    return status == success ? call() : status;
  });
}

/// The part of the device's memory that an operation reads or writes.
struct Part {
  Address begin;
  std::size_t bytes;
};

/// Now and, since memory may have been released, when a graph does it again.
template <class Work>
int do_with(const Part& part, StreamObject* stream, const Work& work) {
  if (part.bytes == 0) return success;
  return in_context([&] {
    if (!is_allocated(part.begin, part.bytes)) return int{invalid_value};
    return do_or_record(stream, [=]() -> int {
      if (!is_allocated(part.begin, part.bytes)) return illegal_address;
      work();
      return success;
    });
  });
}

/// Bytes that crossed between the host's memory and the device's.
std::atomic<std::size_t> crossed = 0;

int copy_in(Address to, const void* from, std::size_t bytes, StreamObject* stream) {
  return do_with({to, bytes}, stream, [=] {
    std::memcpy(pointer_to(to), from, bytes);
    crossed += bytes;
  });
}

int copy_out(void* to, Address from, std::size_t bytes, StreamObject* stream) {
  return do_with({from, bytes}, stream, [=] {
    std::memcpy(to, pointer_to(from), bytes);
    crossed += bytes;
  });
}

/// Neither end in the host's memory.
int copy_within(Address to, Address from, std::size_t bytes, StreamObject* stream) {
  if (bytes != 0 && !is_allocated(from, bytes)) return invalid_value;
  return do_with({to, bytes}, stream, [=]() {
    std::memcpy(pointer_to(to), pointer_to(from), bytes);
  });
}

int fill(Address to, unsigned char value, std::size_t bytes, StreamObject* stream) {
  return do_with({to, bytes}, stream, [=] { std::memset(pointer_to(to), value, bytes); });
}

}  // namespace
}  // namespace emulated

using emulated::Address;

/// For tests.
extern "C" std::size_t millrace_crossed_bytes() { return emulated::crossed; }

extern "C" int cuMemAlloc_v2(Address* address, std::size_t bytes) {
  return emulated::outside_captures([&] { return emulated::allocate(address, bytes); });
}
extern "C" int cuMemFree_v2(Address address) {
  return emulated::outside_captures([&] { return emulated::release(address); });
}
extern "C" int cuMemAllocHost_v2(void** address, std::size_t bytes) {
  return emulated::outside_captures([&] { return emulated::allocate_pinned(address, bytes); });
}
extern "C" int cuMemFreeHost(void* address) {
  return emulated::outside_captures([&] { return emulated::release_pinned(address); });
}

extern "C" int cuMemcpyHtoD_v2(Address to, const void* from, std::size_t bytes) {
  return emulated::copy_in(to, from, bytes, nullptr);
}
extern "C" int cuMemcpyDtoH_v2(void* to, Address from, std::size_t bytes) {
  return emulated::copy_out(to, from, bytes, nullptr);
}
extern "C" int cuMemcpyHtoDAsync_v2(Address to, const void* from, std::size_t bytes,
                                    StreamObject* stream) {
  return emulated::copy_in(to, from, bytes, stream);
}
extern "C" int cuMemcpyDtoHAsync_v2(void* to, Address from, std::size_t bytes,
                                    StreamObject* stream) {
  return emulated::copy_out(to, from, bytes, stream);
}
extern "C" int cuMemcpyDtoDAsync_v2(Address to, Address from, std::size_t bytes,
                                    StreamObject* stream) {
  return emulated::copy_within(to, from, bytes, stream);
}
extern "C" int cuMemsetD8Async(Address to, unsigned char value, std::size_t bytes,
                               StreamObject* stream) {
  return emulated::fill(to, value, bytes, stream);
}
