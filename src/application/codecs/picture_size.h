#pragma once
// How large a picture says that it is, before anything is decoded: a file of a few bytes may say
// that it needs gigabytes.
#include <cstdint>
#include <string_view>

namespace millrace::application {

/// More are not decoded: 800 MB in colours, and more than any camera has.
constexpr std::uint64_t most_pixels = std::uint64_t{1} << 28;

/// Pixels that a PNG, BMP or TIFF file announces, for its first picture; 0: it does not say. WebP
/// has no room for more than are read.
std::uint64_t pixels_announced(std::string_view bytes);

}  // namespace millrace::application
