#pragma once
// A Matroska file of one frame that is not compressed, built byte by byte. (RFC 9559)
#include <cstdint>
#include <optional>
#include <string>

namespace millrace::test {

struct RawVideo {
  std::string format = "I420";  // four letters of the planes
  int width = 16, height = 16;
  std::string planes;
  // As the file says; none: it does not.
  std::optional<int> matrix = {}, range = {}, primaries = {}, transfer = {};
  std::optional<int> shown_width = {}, shown_height = {};
  bool is_interlaced = false;
};

inline std::string big_endian(std::uint64_t number, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(number >> (8 * i) & 0xff);
  return text;
}

inline std::string element(std::uint32_t id, const std::string& content) {
  const int bytes = id > 0xffffff ? 4 : id > 0xffff ? 3 : id > 0xff ? 2 : 1;
  return big_endian(id, bytes) + big_endian((std::uint64_t{1} << 56) | content.size(), 8) + content;
}
inline std::string element(std::uint32_t id, std::optional<int> number) {
  return number ? element(id, big_endian(static_cast<std::uint64_t>(*number), 4)) : std::string();
}

inline std::string raw_matroska(const RawVideo& video) {
  const std::string colour = element(0x55b1, video.matrix) + element(0x55b9, video.range) +
                             element(0x55ba, video.transfer) + element(0x55bb, video.primaries);
  const std::string picture =
      element(0xb0, video.width) + element(0xba, video.height) +
      element(0x9a, video.is_interlaced ? 1 : 2) +
      (video.is_interlaced ? element(0x9d, 1) : std::string()) +
      element(0x54b0, video.shown_width) + element(0x54ba, video.shown_height) +
      element(0x2eb524, video.format) + element(0x55b0, colour);
  const std::string track = element(0xd7, 1) + element(0x73c5, 1) + element(0x83, 1) +
                            element(0x23e383, 40'000'000) +
                            element(0x86, std::string("V_UNCOMPRESSED")) + element(0xe0, picture);
  const std::string block = std::string("\x81\x00\x00\x80", 4) + video.planes;
  const std::string segment =
      element(0x1549a966, element(0x2ad7b1, 1'000'000) + element(0x4d80, std::string("test")) +
                              element(0x5741, std::string("test"))) +
      element(0x1654ae6b, element(0xae, track)) +
      element(0x1f43b675, element(0xe7, std::optional(0)) + element(0xa3, block));
  return element(0x1a45dfa3, element(0x4286, 1) + element(0x42f7, 1) + element(0x42f2, 4) +
                                 element(0x42f3, 8) + element(0x4282, std::string("matroska")) +
                                 element(0x4287, 4) + element(0x4285, 2)) +
         element(0x18538067, segment);
}

}  // namespace millrace::test
