#include "formats/onnx/node/attributes.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "formats/onnx/tensor_data.h"
#include "formats/onnx/types.h"

namespace millrace::formats::onnx {
namespace {

using Proto = ::onnx::AttributeProto;

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    result.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

std::string_view type_text(int type) {
  switch (type) {
    case Proto::FLOAT:
      return "a number";
    case Proto::INT:
      return "an integer";
    case Proto::STRING:
      return "a string";
    case Proto::TENSOR:
      return "a tensor";
    case Proto::FLOATS:
      return "a list of numbers";
    case Proto::INTS:
      return "a list of integers";
    case Proto::GRAPH:
      return "a graph";
    case Proto::STRINGS:
      return "a list of strings";
    default:
      return "of another type";
  }
}

}  // namespace

void Attributes::fail(const std::string& text) const { throw InputError(place_, text); }

const Proto* Attributes::find(std::string_view name) const {
  for (const Proto& attribute : node_->attribute())
    if (attribute.name() == name) return &attribute;
  return nullptr;
}

const Proto* Attributes::find(std::string_view name, int type) const {
  const Proto* attribute = find(name);
  if (attribute != nullptr && attribute->type() != type)
    fail(fmt::format("the attribute '{}' is {}, expected {}", name, type_text(attribute->type()),
                     type_text(type)));
  return attribute;
}

void Attributes::only(std::string_view known) const {
  const std::vector<std::string_view> list = words(known);
  for (const Proto& attribute : node_->attribute()) {
    if (std::find(list.begin(), list.end(), attribute.name()) != list.end()) continue;
    const std::string near = nearest_word(attribute.name(), list);
    fail(fmt::format("unknown attribute '{}'{}", attribute.name(),
                     near.empty() ? fmt::format("; known are: {}", known.empty() ? "none" : known)
                                  : fmt::format("; did you mean '{}'?", near)));
  }
}

std::int64_t Attributes::integer(std::string_view name, std::int64_t fallback) const {
  const Proto* attribute = find(name, Proto::INT);
  return attribute != nullptr ? attribute->i() : fallback;
}

std::int64_t Attributes::required_integer(std::string_view name) const {
  if (!has(name)) fail(fmt::format("the attribute '{}' is missing", name));
  return integer(name, 0);
}

bool Attributes::flag(std::string_view name, bool fallback) const {
  const std::int64_t value = integer(name, fallback ? 1 : 0);
  if (value != 0 && value != 1)
    fail(fmt::format("the attribute '{}' is {}, expected 0 or 1", name, value));
  return value != 0;
}

float Attributes::number(std::string_view name, float fallback) const {
  const Proto* attribute = find(name, Proto::FLOAT);
  return attribute != nullptr ? attribute->f() : fallback;
}

std::string Attributes::text(std::string_view name, const std::string& fallback) const {
  const Proto* attribute = find(name, Proto::STRING);
  return attribute != nullptr ? attribute->s() : fallback;
}

std::optional<Shape> Attributes::integers(std::string_view name) const {
  const Proto* attribute = find(name, Proto::INTS);
  if (attribute == nullptr) return std::nullopt;
  return Shape(attribute->ints().begin(), attribute->ints().end());
}

std::optional<std::vector<float>> Attributes::numbers(std::string_view name) const {
  const Proto* attribute = find(name, Proto::FLOATS);
  if (attribute == nullptr) return std::nullopt;
  return std::vector<float>(attribute->floats().begin(), attribute->floats().end());
}

std::vector<std::string> Attributes::texts(std::string_view name) const {
  const Proto* attribute = find(name, Proto::STRINGS);
  if (attribute == nullptr) return {};
  return {attribute->strings().begin(), attribute->strings().end()};
}

const ::onnx::GraphProto& Attributes::graph(std::string_view name) const {
  const Proto* attribute = find(name, Proto::GRAPH);
  if (attribute == nullptr) fail(fmt::format("the attribute '{}' is missing", name));
  return attribute->g();
}

Array Attributes::tensor(std::string_view name, ExternalFiles& files) const {
  const Proto* attribute = find(name, Proto::TENSOR);
  if (attribute == nullptr) fail(fmt::format("the attribute '{}' is missing", name));
  const std::string place = fmt::format("{}: the attribute '{}'", place_, name);
  if (has_four_bits(attribute->t().data_type()))
    throw InputError(place, "has integers of 4 bits; store them as a weight (an initializer)");
  return read_tensor(attribute->t(), files, place);
}

DataType Attributes::type(std::string_view name) const {
  const std::int64_t code = required_integer(name);
  const bool plausible = code >= 0 && code < 1000;
  const std::optional<DataType> type =
      plausible ? known_type(static_cast<int>(code)) : std::nullopt;
  if (!type)
    fail(fmt::format("the attribute '{}' asks for {}; {}", name,
                     plausible ? type_name(static_cast<int>(code)) : "an unknown type",
                     supported_types()));
  return *type;
}

}  // namespace millrace::formats::onnx
