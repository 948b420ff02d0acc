#include "message.h"

#include <unistd.h>

#include <cerrno>
#include <stdexcept>

namespace millrace_cluster {

bool read_all(int descriptor, void* bytes, std::uint64_t count) {
  auto* at = static_cast<char*>(bytes);
  while (count > 0) {
    const ssize_t got = ::read(descriptor, at, count);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    count -= static_cast<std::uint64_t>(got);
  }
  return true;
}

bool write_all(int descriptor, const void* bytes, std::uint64_t count) {
  const auto* at = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t put = ::write(descriptor, at, count);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    at += put;
    count -= static_cast<std::uint64_t>(put);
  }
  return true;
}

bool read_header(int descriptor, Header& header) {
  if (!read_all(descriptor, &header, sizeof header)) return false;
  if (header.magic != magic || header.bytes > largest_body)
    throw std::runtime_error("it does not speak as a worker of this version does");
  return true;
}

bool write_message(int descriptor, Header header, const void* body, std::uint64_t bytes) {
  header.bytes = bytes;
  return write_all(descriptor, &header, sizeof header) && write_all(descriptor, body, bytes);
}

}  // namespace millrace_cluster
