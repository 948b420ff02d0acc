#include "application/codecs/picture_size.h"

#include <algorithm>
#include <cstddef>

namespace millrace::application {
namespace {

/// Numbers of a file, whose bytes lie in one of two orders. What is beyond its end is 0.
struct Numbers {
  std::string_view bytes;
  bool last_first = false;

  std::uint64_t at(std::uint64_t place, std::size_t size) const {
    std::uint64_t number = 0;
    if (place > bytes.size() || bytes.size() - place < size) return 0;
    for (std::size_t i = 0; i < size; ++i)
      number =
          number << 8 | static_cast<unsigned char>(bytes[place + (last_first ? size - 1 - i : i)]);
    return number;
  }
};

std::uint64_t pixels_of_bmp(const Numbers& numbers) {
  constexpr std::uint64_t old_header = 12, sign = std::uint64_t{1} << 31;
  if (numbers.at(14, 4) == old_header) return numbers.at(18, 2) * numbers.at(20, 2);
  const std::uint64_t rows = numbers.at(22, 4);  // below zero: from the top
  return numbers.at(18, 4) * (rows < sign ? rows : 2 * sign - rows);
}

/// Sizes of what a directory of a TIFF file consists of, in bytes.
struct TiffForm {
  std::uint64_t first = 4;  // where the place of the first directory is
  std::size_t place = 4, count = 2;
};

std::uint64_t pixels_of_tiff(const Numbers& numbers, const TiffForm& form) {
  constexpr std::uint64_t width = 256, rows = 257, short_type = 3, long_type = 4;
  const std::uint64_t directory = numbers.at(form.first, form.place);
  const std::uint64_t entry = 4 + 2 * form.place;  // its tag, its type; how many; the value
  const std::uint64_t entries =
      std::min(numbers.at(directory, form.count), numbers.bytes.size() / entry);
  std::uint64_t sides[2] = {0, 0};
  for (std::uint64_t i = 0; i < entries; ++i) {
    const std::uint64_t at = directory + form.count + i * entry, tag = numbers.at(at, 2);
    if (tag != width && tag != rows) continue;
    const std::uint64_t type = numbers.at(at + 2, 2);
    sides[tag - width] = numbers.at(at + 4 + form.place, type == short_type  ? 2
                                                         : type == long_type ? 4
                                                                             : form.place);
  }
  constexpr std::uint64_t longest = 0xffffffff;
  return std::min(sides[0], longest) * std::min(sides[1], longest);
}

}  // namespace

std::uint64_t pixels_announced(std::string_view bytes) {
  const Numbers numbers{bytes, bytes.starts_with("BM") || bytes.starts_with("II")};
  if (bytes.starts_with("\x89PNG")) return numbers.at(16, 4) * numbers.at(20, 4);
  if (bytes.starts_with("BM")) return pixels_of_bmp(numbers);
  if (!bytes.starts_with("II") && !bytes.starts_with("MM")) return 0;
  const bool is_big = numbers.at(2, 2) == '+';
  return pixels_of_tiff(numbers, is_big ? TiffForm{8, 8, 8} : TiffForm{});
}

}  // namespace millrace::application
