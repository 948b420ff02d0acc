#include "application/codecs/container.h"

#include <bit>
#include <fstream>
#include <string>
#include <string_view>

#include "base/file.h"

namespace millrace::application {
namespace {

std::string beginning_of(const std::filesystem::path& path) {
  std::ifstream in = open_file(path);
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

}  // namespace

bool announces_frames(const std::filesystem::path& path) {
  const std::string content = beginning_of(path);
  const std::string_view text = content;
  const bool is_avi = text.starts_with("RIFF") && text.substr(0, 12).ends_with("AVI ");
  if (text.find("mvex") != std::string_view::npos) return false;  // an MP4 file in fragments
  const std::string_view box = text.size() < 8 ? std::string_view{} : text.substr(4, 4);
  return is_avi || box == "ftyp" || box == "moov" || box == "mdat" || box == "wide" ||
         box == "free" || box == "skip";
}

std::optional<std::uint64_t> announced_bytes(const std::filesystem::path& path) {
  constexpr std::string_view head{"\x1a\x45\xdf\xa3"}, segment{"\x18\x53\x80\x67"};
  const std::string content = beginning_of(path);
  std::string_view rest = content;
  if (!rest.starts_with(head)) return std::nullopt;
  rest.remove_prefix(head.size());
  const auto size = take_size(rest);
  if (!size || *size > rest.size()) return std::nullopt;
  rest.remove_prefix(static_cast<std::size_t>(*size));
  if (!rest.starts_with(segment)) return std::nullopt;
  rest.remove_prefix(segment.size());
  const auto bytes = take_size(rest);
  if (!bytes) return std::nullopt;
  return content.size() - rest.size() + *bytes;
}

}  // namespace millrace::application
