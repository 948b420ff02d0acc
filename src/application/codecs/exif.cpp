#include "application/codecs/exif.h"

#include <cstddef>
#include <optional>

namespace millrace::application {
namespace {

/// Nothing beyond the end.
std::optional<std::size_t> exif_number(std::string_view bytes, std::size_t at, std::size_t length,
                                       bool is_little) {
  if (at > bytes.size() || bytes.size() - at < length) return std::nullopt;
  std::size_t number = 0;
  for (std::size_t i = 0; i < length; ++i) {
    const std::size_t place = is_little ? length - 1 - i : i;
    number = number << 8 | static_cast<unsigned char>(bytes[at + place]);
  }
  return number;
}

/// The orientation, from the entries of the first directory: 12 bytes each, the tag first.
std::optional<std::size_t> orientation_of(std::string_view exif) {
  constexpr std::size_t orientation = 0x112, entry_bytes = 12;
  if (exif.starts_with("Exif")) exif.remove_prefix(exif.size() < 6 ? exif.size() : 6);
  const bool is_little = exif.starts_with("II");
  if (!is_little && !exif.starts_with("MM")) return std::nullopt;
  const auto directory = exif_number(exif, 4, 4, is_little);
  const auto entries = directory ? exif_number(exif, *directory, 2, is_little) : std::nullopt;
  if (!entries) return std::nullopt;
  for (std::size_t i = 0; i < *entries; ++i) {
    const std::size_t at = *directory + 2 + i * entry_bytes;
    const auto tag = exif_number(exif, at, 2, is_little);
    if (!tag) return std::nullopt;
    if (*tag == orientation) return exif_number(exif, at + 8, 2, is_little);
  }
  return std::nullopt;
}

}  // namespace

int exif_orientation(std::string_view exif) {
  const auto found = orientation_of(exif);
  return found && *found >= 1 && *found <= 8 ? static_cast<int>(*found) : 1;
}

}  // namespace millrace::application
