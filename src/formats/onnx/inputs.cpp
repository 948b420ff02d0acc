#include "formats/onnx/inputs.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "formats/onnx/graph/names.h"
#include "formats/onnx/tensor_data.h"
#include "formats/onnx/types.h"
#include "network/evaluate/evaluate.h"

namespace millrace::formats::onnx {
namespace {

constexpr std::int64_t open = -1;

/// One input as the file declares it. An open dimension is -1.
struct Declared {
  std::string name, place;
  DataType type = DataType::float32;
  std::optional<Shape> shape;
  std::int64_t negative = 0;  // a size that the file says, if there is such a one
};

std::string text_of(const Shape& shape) {
  std::string text;
  for (const std::int64_t size : shape)
    text += fmt::format("{}{}", text.empty() ? "" : "x", size == open ? "?" : std::to_string(size));
  return text.empty() ? "scalar" : text;
}

/// The shape with usual numbers for open dimensions: rows and columns of a picture, else one.
std::string example(Shape shape) {
  constexpr std::size_t sides_of_images = 4;
  constexpr std::int64_t pixels = 224;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (shape[i] == open) shape[i] = shape.size() == sides_of_images && i >= 2 ? pixels : 1;
  return to_text(shape);
}

Declared declared(const ::onnx::ValueInfoProto& info, const std::string& file) {
  Declared result{info.name(), fmt::format("{}: the input '{}'", file, info.name()), {}, {}};
  if (!info.type().has_tensor_type())
    throw InputError(result.place, "is not a tensor; only dense tensors are supported");
  const ::onnx::TypeProto::Tensor& tensor = info.type().tensor_type();
  const std::optional<DataType> type = known_type(tensor.elem_type());
  if (!type)
    throw InputError(result.place, fmt::format("has the type {}; {}", type_name(tensor.elem_type()),
                                               supported_types()));
  result.type = *type;
  if (!tensor.has_shape()) return result;
  result.shape.emplace();
  for (const ::onnx::TensorShapeProto::Dimension& dimension : tensor.shape().dim()) {
    // Exporters write 0 for a batch of any size.
    const bool is_batch = result.shape->empty() && tensor.shape().dim_size() > 1;
    const std::int64_t least = is_batch ? 1 : 0;
    if (dimension.dim_value() < 0) result.negative = dimension.dim_value();
    const bool known = dimension.has_dim_value() && dimension.dim_value() >= least;
    result.shape->push_back(known ? dimension.dim_value() : open);
  }
  return result;
}

bool fits(const std::optional<Shape>& declared, const Shape& given) {
  if (!declared) return true;
  if (declared->size() != given.size()) return false;
  for (std::size_t i = 0; i < given.size(); ++i)
    if ((*declared)[i] != open && (*declared)[i] != given[i]) return false;
  return true;
}

void check_fits(const Declared& input, const Shape& given) {
  if (!fits(input.shape, given))
    throw InputError(input.place, fmt::format("has the shape {} in the file, but was given {}; "
                                              "only the dimensions shown as ? can be chosen",
                                              text_of(*input.shape), to_text(given)));
}

using Sides = std::optional<std::array<std::int64_t, 2>>;

/// Shape of a picture: a batch of one, and the sides that the file names.
Shape with_sides(Shape shape, const Sides& sides) {
  constexpr std::size_t rank = 4, channels = 1, rows = 2;
  if (!sides || shape.size() != rank || shape[channels] == open) return shape;
  if (shape.front() == open) shape.front() = 1;
  for (std::size_t i = 0; i < sides->size(); ++i)
    if (shape[rows + i] == open) shape[rows + i] = (*sides)[i];
  return shape;
}

Shape chosen_shape(const Declared& input, const ModelSource& source, const Sides& sides = {}) {
  const auto given = source.shapes.find(input.name);
  Shape shape;
  if (given != source.shapes.end()) {
    check_fits(input, given->second);
    shape = given->second;
  } else if (!input.shape) {
    throw InputError(input.place, fmt::format("has no shape in the file; give one, as in ⟨shape⟩ "
                                              "{}=1x3x224x224",
                                              input.name));
  } else {
    shape = with_sides(*input.shape, sides);
  }
  for (const std::int64_t size : shape)
    if (size == open)
      throw InputError(
          input.place,
          fmt::format("has the shape {} with open dimensions{}; give all of them, as in ⟨shape⟩ "
                      "{}={}",
                      text_of(shape),
                      input.negative < 0 ? fmt::format(" (the file says {})", input.negative) : "",
                      input.name, example(shape)));
  check_shape(input.type, shape, input.place);
  return shape;
}

/// The shape that a list of numbers takes: in one open dimension it says how many there are.
Shape known_shape(const Declared& input, const Array& list, const ModelSource& source) {
  const bool says_how_many = !input.shape || *input.shape == Shape{open};
  return says_how_many && !source.shapes.contains(input.name) ? list.shape
                                                              : chosen_shape(input, source);
}

/// One number for all places, or one for each.
Array spread(const Declared& input, const Array& list, const Shape& shape) {
  const auto count = static_cast<std::size_t>(element_count(shape));
  const std::size_t found = static_cast<std::size_t>(element_count(list.shape));
  if (found != 1 && found != count)
    throw InputError(input.place, fmt::format("has {} places, but was given {} values; give one "
                                              "for each, or one for all",
                                              count, found));
  const Bytes each = size_of(list.type);
  Buffer memory = Buffer::uninitialized(each * static_cast<std::int64_t>(count));
  const std::size_t size = list.bytes().size();
  for (std::size_t at = 0; at < memory.bytes().size(); at += size)
    std::copy_n(list.bytes().data(), size, memory.data() + at);
  return make_array(list.type, shape, std::move(memory));
}

/// A list of numbers as the input has them.
Array as_input(const Declared& input, const Array& list, const ModelSource& source) {
  const Array wide = spread(input, list, known_shape(input, list, source));
  const Array value = network::converted(wide, input.type);
  const bool rounds = input.type == DataType::float32 || input.type == DataType::float16;
  if (!rounds && network::converted(value, wide.type) != wide)
    throw InputError(input.place, fmt::format("has type {}, which cannot have such a value; give "
                                              "one of its type",
                                              to_text(input.type)));
  return value;
}

bool is_list_of_numbers(const Array& value) {
  return value.shape.size() == 1 &&
         (value.type == DataType::int64 || value.type == DataType::float64);
}

void add_known_input(Reading& reading, const Declared& input, const Array& given,
                     const ModelSource& source) {
  const Array value = is_list_of_numbers(given) ? as_input(input, given, source) : given;
  check_fits(input, value.shape);
  if (value.type != input.type)
    throw InputError(input.place, fmt::format("has type {}, but was given a value of type {}",
                                              to_text(input.type), to_text(value.type)));
  reading.define(input.name, reading.network.add_constant(value));
}

void check_name(const std::string& name, const std::unordered_set<std::string>& inputs,
                const std::string& file) {
  if (inputs.contains(name)) return;
  const std::vector<std::string_view> known(inputs.begin(), inputs.end());
  const std::string near = nearest_word(name, known);
  throw InputError(file, fmt::format("has no input '{}'{}", name,
                                     near.empty() ? "; see the inputs with 'millrace inspect'"
                                                  : fmt::format("; did you mean '{}'?", near)));
}

std::string place_of(const Reading& reading, const ::onnx::TensorProto& weight) {
  return fmt::format("{}: the weight '{}'", reading.source.file, weight.name());
}

/// One after the other, so that they need their memory once.
void add_weights(Reading& reading, ::onnx::GraphProto& graph,
                 std::unordered_set<std::string>& names) {
  const std::unordered_set<std::string> needed = needed_names(nodes_of(graph));
  for (const ::onnx::TensorProto& weight : graph.initializer())
    if (needed.contains(weight.name()))
      count_external_data(weight, reading.files, place_of(reading, weight));
  for (::onnx::TensorProto& left : *graph.mutable_initializer()) {
    ::onnx::TensorProto weight;
    weight.Swap(&left);
    const std::string place = place_of(reading, weight);
    if (!names.insert(weight.name()).second)
      throw InputError(place, "is there twice; every weight needs a name of its own");
    if (!needed.contains(weight.name())) continue;
    const TensorId id = reading.network.add_weight(read_tensor(weight, reading.files, place));
    if (has_four_bits(weight.data_type())) reading.of_four_bits.insert(id);
    reading.define(weight.name(), id);
  }
}

}  // namespace

Sides picture_sides(std::string_view imgsz) {
  constexpr std::int64_t largest = 1 << 16;
  std::vector<std::int64_t> numbers;
  const char* const end = imgsz.data() + imgsz.size();
  for (const char* at = imgsz.data(); at < end;) {
    std::int64_t number = 0;
    const auto read = std::from_chars(at, end, number);
    if (read.ec == std::errc()) numbers.push_back(number);
    at = read.ptr > at ? read.ptr : at + 1;
  }
  if (numbers.size() == 1) numbers.push_back(numbers.front());
  const auto is_side = [](std::int64_t number) { return number >= 1 && number <= largest; };
  if (numbers.size() != 2 || !std::ranges::all_of(numbers, is_side)) return std::nullopt;
  return std::array{numbers[0], numbers[1]};
}

void read_inputs(Reading& reading, ::onnx::GraphProto& graph, const ModelSource& source,
                 const Sides& sides) {
  const std::string& file = reading.source.file;
  std::unordered_set<std::string> names;
  add_weights(reading, graph, names);
  std::unordered_set<std::string> inputs;
  for (const ::onnx::ValueInfoProto& info : graph.input()) {
    if (names.contains(info.name()) && !inputs.contains(info.name())) continue;
    const Declared input = declared(info, file);
    if (!names.insert(input.name).second)
      throw InputError(input.place, "is there twice; every input needs a name of its own");
    inputs.insert(input.name);
    const auto known = source.constants.find(input.name);
    if (known != source.constants.end())
      add_known_input(reading, input, known->second, source);
    else
      reading.define(input.name,
                     reading.network.add_input({input.type, chosen_shape(input, source, sides)}));
  }
  for (const auto& [name, shape] : source.shapes) check_name(name, inputs, file);
  for (const auto& [name, value] : source.constants) check_name(name, inputs, file);
}

}  // namespace millrace::formats::onnx
