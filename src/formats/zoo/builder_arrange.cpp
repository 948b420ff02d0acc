// The nodes of detectors: what rearranges tensors and what ends them.
#include <fmt/format.h>

#include "formats/zoo/attributes.h"
#include "formats/zoo/builder.h"

namespace millrace::formats::zoo {

Value Builder::mish(const Value& x) {
  constexpr std::int64_t first_with_mish = 18;
  need_opset(first_with_mish);
  node("Mish", {x.name}, x.name + "_mish");
  return {x.name + "_mish", x.shape};
}

Value Builder::affine(const std::string& name, const Value& x, float factor, float less) {
  const std::string scaled = name + "_scaled", shifted = name + "_shifted";
  node("Mul", {x.name, scalar(name + ".factor", factor)}, scaled);
  node("Sub", {scaled, scalar(name + ".shift", less)}, shifted);
  return {shifted, x.shape};
}

Value Builder::sigmoid(const std::string& name, const Value& x) {
  node("Sigmoid", {x.name}, name);
  return {name, x.shape};
}

Value Builder::softmax(const std::string& name, const Value& x) {
  attribute(node("Softmax", {x.name}, name), "axis", std::int64_t{1});
  return {name, x.shape};
}

Value Builder::upsample(const std::string& name, const Value& x, std::int64_t factor) {
  const Shape shape{x.shape[0], x.shape[1], x.shape[2] * factor, x.shape[3] * factor};
  const std::string sizes = constant(name + ".sizes", shape);
  auto& added = node("Resize", {x.name, "", "", sizes}, name);
  attribute(added, "mode", "nearest");
  attribute(added, "coordinate_transformation_mode", "asymmetric");
  attribute(added, "nearest_mode", "floor");
  return {name, shape};
}

Value Builder::reshape(const std::string& name, const Value& x, const Shape& shape) {
  node("Reshape", {x.name, constant(name + ".shape", shape)}, name);
  return {name, shape};
}

Value Builder::transpose(const std::string& name, const Value& x, const Shape& permutation) {
  attribute(node("Transpose", {x.name}, name), "perm", permutation);
  Shape shape;
  for (const std::int64_t dimension : permutation)
    shape.push_back(x.shape[static_cast<std::size_t>(dimension)]);
  return {name, shape};
}

Value Builder::channels(const std::string& name, const Value& x, std::int64_t first,
                        std::int64_t count) {
  const std::string start = constant(name + ".start", Shape{first});
  const std::string end = constant(name + ".end", Shape{first + count});
  node("Slice", {x.name, start, end, constant(name + ".axis", Shape{1})}, name);
  Shape shape = x.shape;
  shape[1] = count;
  return {name, shape};
}

Value Builder::pad_channels(const std::string& name, const Value& x, std::int64_t count) {
  const Shape pads{0, 0, 0, 0, 0, count - x.channels(), 0, 0};
  node("Pad", {x.name, constant(name + ".pads", pads)}, name);
  Shape shape = x.shape;
  shape[1] = count;
  return {name, shape};
}

std::vector<Value> Builder::split(const std::string& name, const Value& x, const Shape& sizes) {
  auto& added = node("Split", {x.name, constant(name + ".sizes", sizes)}, name + "_0");
  added.set_name(name);
  attribute(added, "axis", std::int64_t{1});
  std::vector<Value> parts;
  for (const std::int64_t size : sizes) {
    Shape shape = x.shape;
    shape[1] = size;
    parts.push_back({fmt::format("{}_{}", name, parts.size()), std::move(shape)});
    if (parts.size() > 1) added.add_output(parts.back().name);
  }
  return parts;
}

}  // namespace millrace::formats::zoo
