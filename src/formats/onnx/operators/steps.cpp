#include "formats/onnx/operators/steps.h"

#include <fmt/format.h>

namespace millrace::formats::onnx {

Shape Steps::common(TensorId a, TensorId b) const {
  const std::optional<Shape> result = broadcast(shape(a), shape(b));
  if (!result)
    node_.fail(fmt::format("'{}' of shape {} and '{}' of shape {} do not fit", node_.tensor(a).name,
                           to_text(shape(a)), node_.tensor(b).name, to_text(shape(b))));
  return *result;
}

TensorId Steps::reshaped(TensorId id, const Shape& to) {
  if (shape(id) == to) return id;
  if (element_count(shape(id)) != element_count(to))
    node_.fail(fmt::format("'{}' has shape {}, expected {}", node_.tensor(id).name,
                           to_text(shape(id)), to_text(to)));
  return node_.add(Reshape{}, {id}, {type(id), to});
}

TensorId Steps::transposed(TensorId id, const Shape& order) {
  Shape result;
  for (const std::int64_t axis : order) result.push_back(shape(id)[static_cast<std::size_t>(axis)]);
  return node_.add(Transpose{order}, {id}, {type(id), result});
}

TensorId Steps::product(TensorId a, TensorId b) {
  const Shape left = shape(a), right = shape(b);
  std::optional<Shape> result;
  if (left.size() > 1 && right.size() > 1 && left.back() == right[right.size() - 2])
    result = broadcast(Shape(left.begin(), left.end() - 2), Shape(right.begin(), right.end() - 2));
  if (!result)
    node_.fail(fmt::format("the matrices {} and {} do not fit", to_text(left), to_text(right)));
  result->push_back(left[left.size() - 2]);
  result->push_back(right.back());
  return node_.add(MatMul{}, {a, b}, {type(a), *result});
}

TensorId Steps::combined(BinaryKind kind, TensorId a, TensorId b) {
  const Shape result = common(a, b);
  if (type(a) != type(b))
    node_.fail(fmt::format("'{}' has type {} and '{}' has type {}, expected one type",
                           node_.tensor(a).name, to_text(type(a)), node_.tensor(b).name,
                           to_text(type(b))));
  return node_.add(Binary{kind}, {a, b}, {type(a), result});
}

TensorId Steps::scaled(TensorId id, double factor) {
  return factor == 1 ? id : combined(BinaryKind::mul, id, number(factor, type(id)));
}

TensorId Steps::function(const Unary& op, TensorId id) {
  return node_.add(op, {id}, {type(id), shape(id)});
}

TensorId Steps::softmax(TensorId id) {
  const auto rank = static_cast<std::int64_t>(shape(id).size());
  return node_.add(Softmax{rank - 1, rank, false}, {id}, {type(id), shape(id)});
}

TensorId Steps::part(TensorId id, std::size_t axis, std::int64_t first, std::int64_t count) {
  Shape result = shape(id);
  if (first == 0 && count == result[axis]) return id;
  Slice op{Shape(result.size(), 0), Shape(result.size(), 1)};
  op.starts[axis] = first;
  result[axis] = count;
  return node_.add(op, {id}, {type(id), result});
}

TensorId Steps::joined(const std::vector<TensorId>& parts, std::size_t axis) {
  Shape result = shape(parts.front());
  std::int64_t total = 0;
  for (const TensorId id : parts) {
    Shape other = shape(id);
    if (other.size() == result.size()) {
      total += other[axis];
      other[axis] = result[axis];
    }
    if (other != result || type(id) != type(parts.front()))
      node_.fail(fmt::format("'{}' of shape {} and '{}' of shape {} cannot be joined",
                             node_.tensor(parts.front()).name, to_text(result),
                             node_.tensor(id).name, to_text(shape(id))));
  }
  result[axis] = total;
  return node_.add(Concat{static_cast<std::int64_t>(axis)}, parts, {type(parts.front()), result});
}

TensorId Steps::gathered(TensorId table, TensorId indices) {
  Shape result = shape(indices);
  const Shape& of = shape(table);
  if (of.empty()) node_.fail("a table of values is a scalar");
  if (type(indices) != DataType::int64 && type(indices) != DataType::int32)
    node_.fail(fmt::format("the indices '{}' have type {}, expected int64",
                           node_.tensor(indices).name, to_text(type(indices))));
  result.insert(result.end(), of.begin() + 1, of.end());
  return node_.add(Gather{0}, {table, indices}, {type(table), result});
}

TensorId Steps::chosen(TensorId condition, TensorId if_true, TensorId otherwise) {
  const std::optional<Shape> result = broadcast(shape(condition), common(if_true, otherwise));
  if (!result) node_.fail("a mask does not fit what it masks");
  return node_.add(Where{}, {condition, if_true, otherwise}, {type(if_true), *result});
}

TensorId Steps::holds(CompareKind kind, TensorId a, TensorId b) {
  return node_.add(Compare{kind}, {a, b}, {DataType::boolean, common(a, b)});
}

TensorId Steps::as(TensorId id, DataType to) {
  return type(id) == to ? id : node_.add(Cast{}, {id}, {to, shape(id)});
}

TensorId Steps::number(double value, DataType of) {
  const std::vector<double> values{value};
  if (of == DataType::float64) return node_.add_constant(make_array<double>(of, {}, values));
  return numbers({}, {static_cast<float>(value)}, of);
}

TensorId Steps::numbers(const Shape& of, const std::vector<float>& values, DataType to) {
  return as(node_.add_constant(make_array<float>(DataType::float32, of, values)), to);
}

TensorId Steps::integers(const Shape& of, const std::vector<std::int64_t>& values, DataType to) {
  return as(node_.add_constant(make_array<std::int64_t>(DataType::int64, of, values)), to);
}

}  // namespace millrace::formats::onnx
