// Tasks around two networks: a sheet with a few digits is written, one network finds them, each is
// cut out, another network reads it, and a line says what was read.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "application/tasks/task.h"

namespace {

using millrace::application::Task;
using millrace::application::TaskFiring;
using millrace::application::TaskPort;

constexpr std::size_t side = 128, field = 16, digit = 8, most = 12, in_a_row = 4, classes = 10;

const TaskPort sheet{"float32", {1, 1, side, side}}, found{"float32", {1, 1, 8, 8}},
    one_digit{"float32", {1, 1, digit, digit}}, scores{"float32", {1, classes}};

/// Of an array of NumPy's: float32, each of 8 x 8.
std::vector<float> read_digits(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  constexpr std::size_t header = 10;
  if (bytes.size() < header) throw std::runtime_error(path + " cannot be read");
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const std::size_t begin = header + byte(8) + 256u * byte(9);
  std::vector<float> values((bytes.size() - begin) / sizeof(float));
  std::memcpy(values.data(), bytes.data() + begin, values.size() * sizeof(float));
  return values;
}

/// Of the digit number `place` on a sheet, in its pixels.
std::size_t corner_of(std::size_t place) {
  const std::size_t column = place % in_a_row * 2 * field + field / 4;
  const std::size_t row = place / in_a_row * 2 * field + field / 4;
  return row * side + column;
}

/// Frame n has n % 13 digits, from 5 n on; a rehearsal has the most.
void write_sheet(const TaskFiring& firing) {
  auto& digits = firing.state<std::vector<float>>();
  if (digits.empty()) digits = read_digits(firing.parameter("digits"));
  const std::span<float> pixels = firing.output<float>(0);
  std::ranges::fill(pixels, 0.0f);
  const auto frame = static_cast<std::size_t>(firing.number());
  const std::size_t count = firing.is_rehearsal() ? most : frame % (most + 1);
  constexpr std::size_t size = digit * digit;
  for (std::size_t i = 0; i < count; ++i) {
    const float* from = digits.data() + (5 * frame + i) % (digits.size() / size) * size;
    for (std::size_t y = 0; y < digit; ++y)
      std::copy_n(from + y * digit, digit, pixels.data() + corner_of(i) + y * side);
  }
}

/// The middle of each field with ink; tokens without one are left empty.
void crop(const TaskFiring& firing) {
  const std::span<const float> pixels = firing.input<float>(0), ink = firing.input<float>(1);
  const std::span<float> crops = firing.output<float>(0);
  constexpr float least = 0.25f;
  std::size_t count = 0;
  for (std::size_t cell = 0; cell < ink.size() && count < most; ++cell) {
    if (ink[cell] < least) continue;
    const std::size_t row = cell / 8 * field + field / 4, column = cell % 8 * field + field / 4;
    for (std::size_t y = 0; y < digit; ++y)
      std::copy_n(pixels.data() + (row + y) * side + column, digit,
                  crops.data() + (count * digit + y) * digit);
    ++count;
  }
  firing.leave_empty(0, count);
}

/// The digits of a frame in a line.
void report(const TaskFiring& firing) {
  if (firing.is_rehearsal()) return;
  auto& file = firing.state<std::ofstream>();
  if (!file.is_open()) file.open(firing.parameter("file", "digits.txt"));
  const std::span<const float> all = firing.input<float>(0);
  file << firing.number() << ':';
  for (std::size_t i = 0; i < all.size() / classes; ++i) {
    if (!firing.is_filled(0, i)) continue;
    const float* begin = all.data() + i * classes;
    file << ' ' << std::max_element(begin, begin + classes) - begin;
  }
  file << std::endl;
}

/// A digit, one after the other.
void write_digit(const TaskFiring& firing) {
  auto& digits = firing.state<std::vector<float>>();
  if (digits.empty()) digits = read_digits(firing.parameter("digits"));
  const std::size_t count = digits.size() / (digit * digit);
  const std::size_t which = static_cast<std::size_t>(firing.number()) % count;
  std::copy_n(digits.data() + which * digit * digit, digit * digit,
              firing.output<float>(0).data());
}

/// Of what two networks say of a picture: the mean.
void fuse(const TaskFiring& firing) {
  const std::span<const float> a = firing.input<float>(0), b = firing.input<float>(1);
  const std::span<float> mean = firing.output<float>(0);
  for (std::size_t i = 0; i < mean.size(); ++i) mean[i] = (a[i] + b[i]) / 2;
}

}  // namespace

extern "C" const Task write_sheet_task{.run = write_sheet, .inputs = {}, .outputs = {sheet}};
extern "C" const Task crop_task{.run = crop, .inputs = {sheet, found}, .outputs = {one_digit}};
extern "C" const Task report_task{.run = report, .inputs = {scores}, .outputs = {}};
extern "C" const Task write_digit_task{.run = write_digit, .inputs = {}, .outputs = {one_digit}};
extern "C" const Task fuse_task{.run = fuse, .inputs = {scores, scores}, .outputs = {scores}};
