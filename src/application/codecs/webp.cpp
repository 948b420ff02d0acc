#include "application/codecs/webp.h"

#include <cstddef>
#include <optional>

#include "application/codecs/exif.h"

namespace millrace::application {
namespace {

constexpr std::size_t head_bytes = 12, chunk_head_bytes = 8;

/// Size of the content of the chunk at `at`, in bytes; nothing beyond the end.
std::optional<std::size_t> chunk_size(std::string_view bytes, std::size_t at) {
  if (at > bytes.size() || bytes.size() - at < chunk_head_bytes) return std::nullopt;
  std::size_t size = 0;
  for (std::size_t i = chunk_head_bytes; i > 4; --i)
    size = size << 8 | static_cast<unsigned char>(bytes[at + i - 1]);
  return size;
}

/// The content of the first chunk of this name; nothing if there is none.
std::optional<std::string_view> webp_chunk(std::string_view bytes, std::string_view name) {
  if (bytes.size() < head_bytes || !bytes.starts_with("RIFF") || bytes.substr(8, 4) != "WEBP")
    return std::nullopt;
  std::size_t at = head_bytes;
  while (const auto size = chunk_size(bytes, at)) {
    if (bytes.substr(at, name.size()) == name)
      return bytes.substr(at).substr(chunk_head_bytes).substr(0, *size);
    at += chunk_head_bytes + *size + *size % 2;
  }
  return std::nullopt;
}

}  // namespace

int webp_orientation(std::string_view bytes) {
  const auto exif = webp_chunk(bytes, "EXIF");
  return exif ? exif_orientation(*exif) : 1;
}

bool is_animated_webp(std::string_view bytes) {
  constexpr unsigned animation = 0x02;
  const auto head = webp_chunk(bytes, "VP8X");
  return head && !head->empty() && (static_cast<unsigned char>(head->front()) & animation) != 0;
}

}  // namespace millrace::application
