#include "application/codecs/jpeg.h"

namespace millrace::application {
namespace {

constexpr unsigned first_restart = 0xd0, last_restart = 0xd7;
constexpr unsigned start_of_image = 0xd8, end_of_image = 0xd9, start_of_scan = 0xda;

unsigned byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

/// Those without a segment behind them: restarts within a scan, the start, and TEM.
bool stands_alone(unsigned marker) {
  return (marker >= first_restart && marker <= start_of_image) || marker == 0x01;
}

/// Where the marker behind the data of a scan begins; the end, if there is none or a restart is
/// missing. In the data 0xff is followed by 0, by a restart, or by another 0xff that fills.
/// Restarts count from 0 to 7, again and again.
std::size_t end_of_scan(std::string_view bytes, std::size_t at) {
  unsigned restarts = 0;
  for (; at + 1 < bytes.size(); ++at) {
    if (byte_at(bytes, at) != 0xff) continue;
    const unsigned next = byte_at(bytes, at + 1);
    if (next == 0 || next == 0xff) continue;
    if (next < first_restart || next > last_restart) return at;
    if (next != first_restart + restarts++ % 8) break;
  }
  return bytes.size();
}

}  // namespace

bool is_damaged_jpeg(std::string_view bytes) {
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
