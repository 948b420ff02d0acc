// Changes to text files that stay readable: libFuzzer's own, of bytes, nearly always break a JSON
// or XML file before it says anything. Numbers become others, lines move, double or vanish.
#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <vector>

#include "base/random.h"
#include "fuzz.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed);

namespace {

using millrace::Random;

std::size_t below(std::size_t bound, Random& random) { return random.below(bound); }

struct Piece {
  std::size_t begin = 0, size = 0;
};

bool is_of_number(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) || c == '.' || c == '-' || c == '+';
}

std::vector<Piece> numbers_of(const std::string& text) {
  std::vector<Piece> numbers;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t begin = i;
    while (i < text.size() && is_of_number(text[i])) ++i;
    if (i > begin) numbers.push_back({begin, i - begin});
  }
  return numbers;
}

std::vector<Piece> lines_of(const std::string& text) {
  std::vector<Piece> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    lines.push_back({begin, end - begin});
    begin = end;
  }
  return lines;
}

void change_number(std::string& text, Random& random) {
  static constexpr std::array telling{
      "0", "1", "-1", "2", "3", "7", "16", "255", "256", "1000", "65536", "2147483647",
      "2147483648", "-2147483648", "4294967296", "1000000000", "1000000000000000",
      "9007199254740993", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
      "18446744073709551615", "0.5", "-0.0", "1e-300", "1e15", "1e19", "1e300", "-1e300", "1e999"};
  const std::vector<Piece> numbers = numbers_of(text);
  if (numbers.empty()) return;
  const Piece number = numbers[below(numbers.size(), random)];
  const std::string other = below(4, random) > 0
                                ? telling[below(telling.size(), random)]
                                : std::to_string(below(100, random));
  text.replace(number.begin, number.size, other);
}

void swap_numbers(std::string& text, Random& random) {
  const std::vector<Piece> numbers = numbers_of(text);
  if (numbers.empty()) return;
  const Piece from = numbers[below(numbers.size(), random)];
  const Piece to = numbers[below(numbers.size(), random)];
  text.replace(to.begin, to.size, text.substr(from.begin, from.size));
}

void change_lines(std::string& text, Random& random) {
  const std::vector<Piece> lines = lines_of(text);
  if (lines.empty()) return;
  const Piece first = lines[below(lines.size(), random)];
  const Piece other = lines[below(lines.size(), random)];
  const std::string copy = text.substr(other.begin, other.size);
  const std::size_t kind = below(3, random);
  if (kind == 0) text.erase(first.begin, first.size);
  if (kind == 1) text.insert(first.begin, copy);
  if (kind == 2) text.replace(first.begin, first.size, copy);
}

}  // namespace

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                    unsigned seed) {
  Random random(seed);
  if (size == 0 || below(3, random) == 0) return LLVMFuzzerMutate(data, size, most);
  std::string text(millrace::fuzz::text_of(data, size));
  for (std::size_t i = below(3, random) + 1; i > 0; --i) {
    const std::size_t kind = below(4, random);
    if (kind < 2) change_number(text, random);
    if (kind == 2) swap_numbers(text, random);
    if (kind == 3) change_lines(text, random);
  }
  text.resize(std::min(text.size(), most));
  std::copy(text.begin(), text.end(), data);
  return text.size();
}
