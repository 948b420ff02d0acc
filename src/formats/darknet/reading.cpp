#include "formats/darknet/reading.h"

#include <fmt/format.h>

#include "formats/size_limit.h"

namespace millrace::formats::darknet {

std::string Reading::name(std::string_view kind) const {
  return fmt::format("{}{}", kind, outputs_.size());
}

const Shape& Reading::image() const {
  const Shape& shape = network_[before()].shape;
  if (shape.size() != 4)
    section().fail(
        fmt::format("needs an image, but the layer before gives {} values without width "
                    "and height",
                    to_text(shape)));
  return shape;
}

TensorId Reading::add_tensor(const std::string& name, Shape shape) {
  const bool is_input = network_.inputs.empty();
  const std::string place = is_input ? sections_.front().place() : section().place();
  check_size(DataType::float32, shape, place);
  network_.tensors.push_back({name, DataType::float32, std::move(shape), std::nullopt});
  return TensorId(network_.tensors.size() - 1);
}

TensorId Reading::add_input(const std::string& name, Shape shape) {
  const TensorId id = add_tensor(name, std::move(shape));
  network_.inputs.push_back(id);
  return id;
}

std::string Reading::unique(const std::string& name) {
  std::string result = name;
  while (++names_[result] > 1) result = fmt::format("{}_{}", name, names_[result]);
  return result;
}

TensorId Reading::add(const std::string& name, Operator op, std::vector<TensorId> inputs,
                      Shape shape) {
  const std::string own = unique(name);
  const TensorId output = add_tensor(own, std::move(shape));
  network_.layers.push_back({own, std::move(op), std::move(inputs), {output}});
  return output;
}

std::vector<TensorId> Reading::split(const std::string& name, TensorId x, const Shape& sizes) {
  std::vector<TensorId> parts;
  for (const std::int64_t size : sizes) {
    Shape part = shape(x);
    part[1] = size;
    parts.push_back(add_tensor(fmt::format("{}_{}", name, parts.size()), std::move(part)));
  }
  network_.layers.push_back({unique(name), Split{1}, {x}, parts});
  return parts;
}

TensorId Reading::weight(const std::string& name, Shape shape, const Spread& spread) {
  const TensorId id = add_tensor(name, std::move(shape));
  wanted_.push_back({id, spread, section().place()});
  return id;
}

TensorId Reading::constant(const std::string& name, float value) {
  const TensorId id = add_tensor(name, {1});
  network_.tensors[id.index].constant =
      make_array<float>(DataType::float32, {1}, std::span<const float>(&value, 1));
  return id;
}

void Reading::add_head(Head head, TensorId output) {
  head.layer = outputs_.size();
  heads_.push_back(std::move(head));
  network_.outputs.push_back(output);
}

}  // namespace millrace::formats::darknet
