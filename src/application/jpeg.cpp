#include "application/jpeg.h"

namespace millrace::application {
namespace {

constexpr unsigned start_of_image = 0xd8, end_of_image = 0xd9, start_of_scan = 0xda;

unsigned byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

/// Those without a segment behind them: restarts within a scan, the start, and TEM.
bool stands_alone(unsigned marker) {
  return (marker >= 0xd0 && marker <= start_of_image) || marker == 0x01;
}

/// Where the marker behind the data of a scan begins. In the data 0xff is followed by 0, by the
/// number of a restart, or by another 0xff that fills.
std::size_t end_of_scan(std::string_view bytes, std::size_t at) {
  for (; at + 1 < bytes.size(); ++at) {
    if (byte_at(bytes, at) != 0xff) continue;
    const unsigned next = byte_at(bytes, at + 1);
    if (next != 0 && next != 0xff && !(next >= 0xd0 && next <= 0xd7)) return at;
  }
  return bytes.size();
}

}  // namespace

bool is_cut_jpeg(std::string_view bytes) {
  if (bytes.size() < 4 || byte_at(bytes, 0) != 0xff || byte_at(bytes, 1) != start_of_image)
    return false;
  std::size_t at = 2;
  while (at + 1 < bytes.size()) {
    const unsigned marker = byte_at(bytes, at + 1);
    if (byte_at(bytes, at) != 0xff || marker == 0xff || marker == 0) {
      ++at;  // bytes between segments, which decoders pass over
      continue;
    }
    if (marker == end_of_image) return false;
    at += 2;
    if (stands_alone(marker)) continue;
    if (at + 1 >= bytes.size()) return true;
    at += byte_at(bytes, at) * 256 + byte_at(bytes, at + 1);
    if (marker == start_of_scan) at = end_of_scan(bytes, at);
  }
  return true;
}

}  // namespace millrace::application
