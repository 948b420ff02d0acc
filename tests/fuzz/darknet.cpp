// A configuration; what follows a byte of 0 is its file of weights.
#include <algorithm>
#include <cctype>

#include "formats/darknet/darknet.h"
#include "fuzz.h"

namespace {

/// Random weights are then made in little time: no number has three digits.
bool has_small_numbers(std::string_view text) {
  const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  int digits = 0;
  return text.size() < 2048 && std::ranges::all_of(text, [&](char c) {
    digits = is_digit(static_cast<unsigned char>(c)) ? digits + 1 : 0;
    return digits < 3;
  });
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  using formats::darknet::read_darknet;
  const std::string_view all = fuzz::text_of(data, size);
  const std::size_t end = std::min(all.find('\0'), size);
  const std::string_view text = all.substr(0, end);
  const fuzz::MemoryFile file(text), weights(end == size ? "" : all.substr(end + 1));
  return fuzz::attempt([&] {
    formats::darknet::read_heads({.file = file.path()});
    formats::ModelSource options;
    if (end < size) options.weights = weights.path();
    if (end == size && !has_small_numbers(text)) return;
    const formats::darknet::Model model = read_darknet(text, "fuzz.cfg", options);
    network::validate(model.network);
    network::cost_of(model.network);
  });
}
