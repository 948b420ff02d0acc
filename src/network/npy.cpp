#include "network/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <fstream>
#include <iterator>
#include <numeric>
#include <ostream>
#include <string_view>

#include "base/error.h"
#include "base/file.h"

namespace millrace::network {
namespace {

static_assert(std::endian::native == std::endian::little, "values are copied as they lie");

constexpr std::string_view magic{"\x93NUMPY", 6};
constexpr std::size_t most_dimensions = 32;
constexpr std::size_t longest_header = 1 << 20;
constexpr Bytes most_values{std::int64_t{16} << 30};

struct Description {
  std::string_view text;
  DataType type;
};
constexpr std::array<Description, 12> descriptions{{{"<f4", DataType::float32},
                                                    {"<f8", DataType::float64},
                                                    {"<f2", DataType::float16},
                                                    {"|i1", DataType::int8},
                                                    {"|u1", DataType::uint8},
                                                    {"<i2", DataType::int16},
                                                    {"<u2", DataType::uint16},
                                                    {"<i4", DataType::int32},
                                                    {"<u4", DataType::uint32},
                                                    {"<i8", DataType::int64},
                                                    {"<u8", DataType::uint64},
                                                    {"|b1", DataType::boolean}}};

/// Reads the dictionary of Python literals at the file's beginning, without caring about the
/// order of its keys.
class Header {
 public:
  Header(std::string_view text, std::string place) : text_(text), place_(std::move(place)) {}

  DataType type() const {
    const std::string_view value = after("descr");
    const std::size_t end = value.size() > 1 ? value.find(value[0], 1) : value.npos;
    if (value.empty() || (value[0] != '\'' && value[0] != '"') || end == value.npos)
      fail("its header has no type such as '<f4' at 'descr'");
    const std::string_view name = value.substr(1, end - 1);
    for (const Description& known : descriptions)
      if (known.text == name) return known.type;
    fail(
        fmt::format("has values of type '{}'; save little-endian numbers, for example with "
                    "numpy.save(path, array.astype('<f4'))",
                    name));
  }

  /// Whether the first dimension's elements are neighbours.
  bool is_column_major() const {
    const std::string_view value = after("fortran_order");
    if (!value.starts_with("False") && !value.starts_with("True"))
      fail("its header's 'fortran_order' is neither True nor False");
    return value.starts_with("True");
  }

  Shape shape() const {
    std::string_view rest = after("shape");
    if (!rest.starts_with('(')) fail("its header has no tuple at 'shape'");
    rest.remove_prefix(1);
    Shape shape;
    while (skip_to_value(rest), !rest.starts_with(')')) {
      std::int64_t size = 0;
      const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), size);
      if (error != std::errc{} || size < 0 || shape.size() == most_dimensions)
        fail("its header's 'shape' is not a tuple of at most 32 sizes");
      shape.push_back(size);
      rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    }
    return shape;
  }

  [[noreturn]] void fail(const std::string& text) const { throw InputError(place_, text); }

 private:
  static void skip_to_value(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(" ,"), text.size()));
  }

  std::string_view after(std::string_view key) const {
    const std::size_t at = text_.find(key);
    const std::size_t colon = at == text_.npos ? at : text_.find(':', at);
    if (colon == text_.npos) fail(fmt::format("its header has no field '{}'", key));
    std::string_view value = text_.substr(colon + 1);
    skip_to_value(value);
    return value;
  }

  std::string_view text_;
  std::string place_;
};

struct Parts {
  std::string_view header;
  std::size_t values = 0;  // where they begin
};

/// `file`: its beginning.
Parts split(std::string_view file, const std::string& place) {
  if (!file.starts_with(magic) || file.size() < magic.size() + 4)
    throw InputError(place, "is not a NumPy file: expected what numpy.save writes");
  const auto byte = [&](std::size_t i) -> std::size_t {
    return static_cast<unsigned char>(file[i]);
  };
  const std::size_t version = byte(6);
  if (version < 1 || version > 3)
    throw InputError(place,
                     fmt::format("has version {} of the NumPy format; 1 to 3 are known", version));
  const std::size_t begin = version == 1 ? 10 : 12;
  if (file.size() < begin) throw InputError(place, "ends inside its header; copy it again");
  std::size_t size = byte(8) | byte(9) << 8;
  if (version > 1) size |= byte(10) << 16 | byte(11) << 24;
  if (size > file.size() - begin) throw InputError(place, "ends inside its header; copy it again");
  return {file.substr(begin, size), begin + size};
}

/// All dimensions in the other order.
Array transposed(const Array& array) {
  const Shape shape(array.shape.rbegin(), array.shape.rend());
  Shape steps = strides_of(array.shape);  // in the array, of each dimension of the result
  std::ranges::reverse(steps);
  const std::int64_t width = size_of(array.type).count;
  Buffer memory(array.memory->size());
  Shape index(shape.size());
  std::int64_t from = 0;
  for (std::int64_t to = 0; to < memory.size().count; to += width) {
    std::copy_n(array.memory->data() + from * width, width, memory.data() + to);
    for (std::size_t i = shape.size(); i-- > 0;) {
      from += steps[i];
      if (++index[i] < shape[i]) break;
      from -= steps[i] * shape[i];
      index[i] = 0;
    }
  }
  return make_array(array.type, shape, std::move(memory));
}

std::string header_of(const Array& array) {
  std::string_view description;
  for (const Description& known : descriptions)
    if (known.type == array.type) description = known.text;
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", description,
                  fmt::join(array.shape, ", "), array.shape.size() == 1 ? "," : "");
  // The values begin at a multiple of 64 bytes, and a newline ends the header.
  const std::size_t unpadded = magic.size() + 4 + header.size() + 1;
  header.append((64 - unpadded % 64) % 64, ' ').push_back('\n');
  return header;
}

}  // namespace

Array read_npy(const std::filesystem::path& path) {
  const std::string place = path.string();
  std::ifstream in = open_regular_file(path);
  std::string beginning(longest_header, '\0');
  in.read(beginning.data(), std::ssize(beginning));
  beginning.resize(static_cast<std::size_t>(in.gcount()));
  const Parts parts = split(beginning, place);
  const Header header(parts.header, place);
  const bool column_major = header.is_column_major();
  const DataType type = header.type();
  const Shape shape = header.shape();
  const Bytes expected = size_of(type) * element_count(shape, place);
  const auto found = static_cast<std::int64_t>(std::filesystem::file_size(path) - parts.values);
  if (found != expected.count)
    header.fail(fmt::format("has {} bytes of values where {} {} needs {}; copy or save it again",
                            found, to_text(type), to_text(shape), expected.count));
  if (expected > most_values)
    header.fail(fmt::format("has {}, but arrays of at most {} can be read; split it",
                            millrace::to_text(expected), millrace::to_text(most_values)));
  Buffer memory = Buffer::uninitialized(expected);
  in.clear();  // the end may have been seen
  in.seekg(static_cast<std::streamoff>(parts.values));
  in.read(reinterpret_cast<char*>(memory.data()), expected.count);
  if (!in) header.fail("cannot be read to its end; copy it again");
  if (!column_major) return make_array(type, shape, std::move(memory));
  return transposed(make_array(type, {shape.rbegin(), shape.rend()}, std::move(memory)));
}

void write_npy(const std::filesystem::path& path, const Array& array) {
  const std::string header = header_of(array);
  write_file(path, [&](std::ostream& out) {
    const char start[] = {1, 0, static_cast<char>(header.size() & 0xff),
                          static_cast<char>(header.size() >> 8)};
    out << magic;
    out.write(start, sizeof start);
    out << header;
    out.write(reinterpret_cast<const char*>(array.bytes().data()), array.memory->size().count);
  });
}

}  // namespace millrace::network
