#include "formats/model_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/yaml.h"
#include "formats/fixed_inputs.h"
#include "formats/random_weights.h"
#include "formats/read.h"

namespace millrace::formats {
namespace {

std::pair<std::string, Shape> parse_shape(const std::string& text, const std::string& place) {
  const auto fail = [&]() {
    throw InputError(place + " " + text,
                     "expected NAME=SIZExSIZE..., such as input=1x3x224x224");
  };
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) fail();
  Shape shape;
  for (const char* at = text.data() + equals + 1;;) {
    std::int64_t size = 0;
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(at, end, size);
    if (parsed.ec != std::errc{} || size <= 0) fail();
    shape.push_back(size);
    if (parsed.ptr == end) return {text.substr(0, equals), shape};
    if (*parsed.ptr != 'x') fail();
    at = parsed.ptr + 1;
  }
}

bool is_shape(std::string_view text) {
  return text.find_first_not_of("0123456789x") == std::string_view::npos;
}

}  // namespace

ModelSource read_model_source(const YamlView& view) {
  constexpr std::int64_t largest_size = 1 << 20;
  ModelSource model{.file = view.at("model").name_or_path()};
  const std::optional<Format> format = format_of(model.file);
  if (view.has("weights")) {
    model.weights = view.at("weights").text();
    if (!wants_random_weights(model)) model.weights = view.at("weights").path();
    if (!named_weights(model).empty() && format != Format::darknet)
      view.at("weights").fail("is for Darknet's configurations (.cfg); leave it out");
  }
  if (view.has("size")) {
    if (format == Format::onnx)
      view.at("size").fail(
          "is for Darknet's configurations (.cfg) and networks of the zoo; give "
          "the 'shapes' of an ONNX file");
    model.size = view.at("size").integer(1, largest_size);
  }
  if (view.has("shapes"))
    for (const YamlView& shape : view.at("shapes").items())
      add_shape(model, shape.text(), shape.place());
  if (view.has("fix"))
    for (const YamlView& value : view.at("fix").items())
      add_fixed(model, value.text(), value.place());
  return model;
}

void add_shape(ModelSource& source, const std::string& text, const std::string& place) {
  if (!source.shapes.insert(parse_shape(text, place)).second)
    throw InputError(place + " " + text, "is the second shape for this input; give one");
}

std::string shapes_text(const ModelSource& source) {
  std::vector<std::string> shapes;
  for (const auto& [name, shape] : source.shapes)
    shapes.push_back(fmt::format("{}={}", name, fmt::join(shape, "x")));
  return fmt::format("{}", fmt::join(shapes, " "));
}

void add_shapes(ModelSource& source, const std::string& text, const std::string& place) {
  for (const std::string& shape : split_values(text, is_shape)) add_shape(source, shape, place);
}

std::string divided_text(const ModelSource& source) {
  std::vector<std::string> layers;
  for (const auto& [name, parts] : source.divided)
    layers.push_back(fmt::format("{}={}", name, parts));
  return fmt::format("{}", fmt::join(layers, " "));
}

void add_divided(ModelSource& source, const std::string& text, const std::string& place) {
  const auto is_number = [](std::string_view word) {
    return word.find_first_not_of("0123456789") == std::string_view::npos;
  };
  for (const std::string& word : split_values(text, is_number)) {
    const std::size_t equals = std::min(word.rfind('='), word.size());
    std::int64_t parts = 0;
    if (equals + 1 < word.size())
      std::from_chars(word.data() + equals + 1, word.data() + word.size(), parts);
    if (equals == 0 || parts < 2)
      throw InputError(place, fmt::format("found '{}', expected LAYER=PARTS, such as fc6=2", word));
    source.divided[word.substr(0, equals)] = parts;
  }
}

ModelSource absolute(ModelSource source) {
  std::error_code ignored;
  if (std::filesystem::exists(source.file, ignored))
    source.file = std::filesystem::absolute(source.file).lexically_normal().string();
  if (!named_weights(source).empty())
    source.weights = std::filesystem::absolute(source.weights).lexically_normal();
  return source;
}

}  // namespace millrace::formats
