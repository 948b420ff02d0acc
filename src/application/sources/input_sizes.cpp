#include "application/sources/input_sizes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace millrace::application {

void InputSizes::look_at(const Picture& picture) {
  if (picture.input.empty() || picture.image.empty()) return;
  sizes_.emplace(picture.input, Size{picture.image.width, picture.image.height});
}

std::string InputSizes::text() const {
  std::vector<std::string> each;
  bool differ = false;
  for (const auto& [name, size] : sizes_) {
    differ = differ || size != sizes_.begin()->second;
    each.push_back(fmt::format("{} {} x {}", name, size.width, size.height));
  }
  if (!differ) return {};
  return fmt::format(
      "the inputs have pictures of different sizes ({}); each was brought to the size of the "
      "network's input, and boxes are in pixels of their own picture",
      fmt::join(each, ", "));
}

}  // namespace millrace::application
