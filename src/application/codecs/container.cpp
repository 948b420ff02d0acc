#include "application/codecs/container.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "base/file.h"

namespace millrace::application {
namespace {

std::string beginning_of(const std::filesystem::path& path) {
  std::ifstream in = open_regular_file(path);
  std::string content(1 << 16, '\0');
  in.read(content.data(), static_cast<std::streamsize>(content.size()));
  content.resize(static_cast<std::size_t>(in.gcount()));
  return content;
}

/// An element's size, whose first byte tells how many bytes it has. None: it is not known, or the
/// text ends. (RFC 8794, section 4)
std::optional<std::uint64_t> take_size(std::string_view& text) {
  if (text.empty()) return std::nullopt;
  const auto first = static_cast<unsigned char>(text.front());
  const auto length = static_cast<std::size_t>(std::countl_zero(first)) + 1;
  if (length > 8 || text.size() < length) return std::nullopt;
  const std::uint64_t all_ones = (std::uint64_t{1} << (7 * length)) - 1;
  std::uint64_t size = 0;
  for (const char c : text.substr(0, length)) size = size << 8 | static_cast<unsigned char>(c);
  size &= all_ones;
  text.remove_prefix(length);
  if (size == all_ones) return std::nullopt;
  return size;
}

std::uint64_t integer_in(std::string_view bytes, std::endian order) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::size_t at = order == std::endian::big ? i : bytes.size() - 1 - i;
    number = number << 8 | static_cast<unsigned char>(bytes[at]);
  }
  return number;
}

bool is_avi(std::string_view text) {
  return text.starts_with("RIFF") && text.substr(0, 12).ends_with("AVI ");
}

bool is_mp4(std::string_view text) {
  const std::string_view box = text.size() < 8 ? std::string_view{} : text.substr(4, 4);
  return box == "ftyp" || box == "moov" || box == "mdat" || box == "wide" || box == "free" ||
         box == "skip" || box == "styp" || box == "moof";
}

/// Each takes 8 bytes at least. A writer to a pipe cannot go back to fill in the number of frames
/// and the file's size, and leaves a number far too high.
bool avi_can_hold(const std::filesystem::path& path, std::string_view text, std::int64_t frames) {
  constexpr std::uint64_t not_known = 0xffff'ffff, least_bytes = 8;
  std::error_code error;
  const std::uint64_t is = std::filesystem::file_size(path, error);
  const std::uint64_t said = integer_in(text.substr(4, 4), std::endian::little);
  const std::uint64_t should_be = said == not_known ? 0 : said;
  return error || static_cast<std::uint64_t>(frames) <= std::max(is, should_be) / least_bytes;
}

/// Where the segment of a Matroska or WebM file ends, in bytes; nothing for other files.
std::optional<std::uint64_t> segment_end(std::string_view text) {
  constexpr std::string_view head{"\x1a\x45\xdf\xa3"}, segment{"\x18\x53\x80\x67"};
  std::string_view rest = text;
  if (!rest.starts_with(head)) return std::nullopt;
  rest.remove_prefix(head.size());
  const auto size = take_size(rest);
  if (!size || *size > rest.size()) return std::nullopt;
  rest.remove_prefix(static_cast<std::size_t>(*size));
  if (!rest.starts_with(segment)) return std::nullopt;
  rest.remove_prefix(segment.size());
  const auto bytes = take_size(rest);
  if (!bytes) return std::nullopt;
  return text.size() - rest.size() + *bytes;
}

/// Where the box that is longer than an MP4 file ends, in bytes, if it is one that holds frames:
/// others behind it may be anything. (ISO/IEC 14496-12, section 4.2)
std::optional<std::uint64_t> cut_box_end(const std::filesystem::path& path) {
  constexpr std::uint64_t long_size = 1, box_head_bytes = 8;
  constexpr int most_boxes = 1'000'000;  // a second's work
  std::error_code error;
  const std::uint64_t file_bytes = std::filesystem::file_size(path, error);
  std::ifstream in = open_regular_file(path);
  std::array<char, 16> head{};
  std::uint64_t at = 0;
  for (int boxes = 0; !error && boxes < most_boxes && at + head.size() <= file_bytes; ++boxes) {
    in.seekg(static_cast<std::streamoff>(at));
    if (!in.read(head.data(), head.size())) return std::nullopt;
    const std::string_view text(head.data(), head.size());
    const std::string_view name = text.substr(4, 4);
    std::uint64_t size = integer_in(text.substr(0, 4), std::endian::big);
    if (size == long_size) size = integer_in(text.substr(8), std::endian::big);
    if (size < box_head_bytes || size > INT64_MAX - at) return std::nullopt;
    const bool holds_frames = name == "mdat" || name == "moof" || name == "moov";
    if (size > file_bytes - at) return holds_frames ? std::optional(at + size) : std::nullopt;
    at += size;
  }
  return std::nullopt;
}

}  // namespace

bool announces_frames(const std::filesystem::path& path, std::int64_t frames) {
  const std::string content = beginning_of(path);
  const std::string_view text = content;
  if (frames <= 0) return false;
  if (is_avi(text)) return avi_can_hold(path, text, frames);
  return is_mp4(text) && text.find("mvex") == std::string_view::npos;  // that is for fragments
}

std::optional<std::uint64_t> announced_bytes(const std::filesystem::path& path) {
  const std::string content = beginning_of(path);
  return is_mp4(content) ? cut_box_end(path) : segment_end(content);
}

}  // namespace millrace::application
