// Ground truth as YOLO has it: a text file for each picture, lines in shares of its size.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "application/accuracy/truth.h"
#include "base/error.h"
#include "base/file.h"
#include "base/utf8.h"

namespace millrace::application {
namespace {

/// A class, then the centre and the size of the box, or the corners around the object.
std::vector<double> numbers_in(const std::string& line, const std::string& place) {
  std::vector<double> numbers;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    char* end = nullptr;
    numbers.push_back(std::strtod(word.c_str(), &end));
    if (*end != '\0') throw InputError(place, fmt::format("found '{}', expected a number", word));
  }
  const bool is_box = numbers.size() == 5;
  const bool is_outline = numbers.size() >= 7 && numbers.size() % 2 == 1;
  if (!is_box && !is_outline)
    throw InputError(place, fmt::format("found {} numbers, expected 5: the class, then the box's "
                                        "centre, width and height as shares of the picture's size",
                                        numbers.size()));
  return numbers;
}

MarkedObject around(const std::vector<double>& numbers) {
  MarkedObject object;
  double right = -1, bottom = -1;
  object.left = object.top = 2;
  for (std::size_t i = 1; i < numbers.size(); i += 2) {
    object.left = std::min(object.left, numbers[i]);
    object.top = std::min(object.top, numbers[i + 1]);
    right = std::max(right, numbers[i]);
    bottom = std::max(bottom, numbers[i + 1]);
  }
  object.width = right - object.left;
  object.height = bottom - object.top;
  return object;
}

MarkedObject centred(const std::vector<double>& numbers) {
  MarkedObject object;
  object.left = numbers[1] - numbers[3] / 2;
  object.top = numbers[2] - numbers[4] / 2;
  object.width = numbers[3];
  object.height = numbers[4];
  return object;
}

void check_share(const MarkedObject& object, const std::string& place) {
  constexpr double rounding = 0.005;
  const bool inside = object.left >= -rounding && object.top >= -rounding && object.width >= 0 &&
                      object.height >= 0 && object.left + object.width <= 1 + rounding &&
                      object.top + object.height <= 1 + rounding;
  if (inside) return;
  throw InputError(place, fmt::format("the box from ({:.6g}, {:.6g}) to ({:.6g}, {:.6g}) is not "
                                      "inside of the picture, which reaches from 0 to 1; expected "
                                      "shares of the picture's size, not pixels",
                                      object.left, object.top, object.left + object.width,
                                      object.top + object.height));
}

}  // namespace

MarkedPicture read_yolo_text(const std::string& path, const ClassNames& names) {
  MarkedPicture picture;
  picture.place = path;
  picture.in_shares = true;
  const std::string content = read_file(path);
  std::string_view rest = without_byte_order_mark(content);
  for (int number = 1; !rest.empty(); ++number) {
    const std::string line(take_line(rest));
    if (line.find_first_not_of(" \t") == std::string::npos) continue;
    const std::string place = fmt::format("{}: line {}", path, number);
    const std::vector<double> numbers = numbers_in(line, place);
    MarkedObject object = numbers.size() == 5 ? centred(numbers) : around(numbers);
    if (!(numbers[0] >= 0) || numbers[0] > 1e6 || std::trunc(numbers[0]) != numbers[0])
      throw InputError(place,
                       fmt::format("found {} as the class, expected a whole number", numbers[0]));
    object.label = names.checked(static_cast<std::int64_t>(numbers[0]), place);
    check_share(object, place);
    picture.objects.push_back(object);
  }
  return picture;
}

}  // namespace millrace::application
