#pragma once
// Evaluates one layer on values written in a test.
#include <initializer_list>
#include <span>
#include <vector>

#include "network/evaluate/evaluate.h"

namespace millrace::test {

template <class T>
network::Array array(network::DataType type, network::Shape shape, const std::vector<T>& values) {
  return network::make_array<T>(type, std::move(shape), std::span<const T>(values));
}
inline network::Array floats(network::Shape shape, const std::vector<float>& values) {
  return array(network::DataType::float32, std::move(shape), values);
}
inline network::Array int64s(network::Shape shape, const std::vector<std::int64_t>& values) {
  return array(network::DataType::int64, std::move(shape), values);
}

/// What an output looks like.
struct OutputType {
  network::DataType type = network::DataType::float32;
  network::Shape shape;
};

std::vector<network::Array> evaluate_all(const network::Operator& op,
                                         const std::vector<network::Array>& inputs,
                                         const std::vector<OutputType>& outputs);

/// The one output, as numbers.
template <class T>
std::vector<T> evaluate_one(const network::Operator& op, const std::vector<network::Array>& inputs,
                            const OutputType& output) {
  const network::Array result = evaluate_all(op, inputs, {output}).front();
  const auto values = result.values<T>();
  return {values.begin(), values.end()};
}
inline std::vector<float> evaluate_floats(const network::Operator& op,
                                          const std::vector<network::Array>& inputs,
                                          network::Shape shape) {
  return evaluate_one<float>(op, inputs, {network::DataType::float32, std::move(shape)});
}

}  // namespace millrace::test
