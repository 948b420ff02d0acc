#include "runtime/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "network/evaluate/evaluate.h"
#include "network/evaluate/exact.h"
#include "runtime/session.h"

namespace millrace::runtime {
namespace {

using network::Array;

template <class T>
double relative_error(const Array& reference, const Array& result) {
  const auto a = reference.values<T>(), b = result.values<T>();
  double difference = 0, largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
    if (std::isnan(x) != std::isnan(y)) return std::numeric_limits<double>::infinity();
    if (std::isnan(x) || x == y) continue;
    difference = std::max(difference, std::abs(x - y));
    largest = std::max(largest, std::abs(x));
  }
  for (const T value : a)
    if (std::isfinite(static_cast<double>(value)))
      largest = std::max(largest, std::abs(static_cast<double>(value)));
  return difference == 0 ? 0 : difference / std::max(largest, 1e-30);
}

double error_of(const Array& reference, const Array& result) {
  switch (reference.type) {
    case network::DataType::float16:
      return error_of(network::converted(reference, network::DataType::float32),
                      network::converted(result, network::DataType::float32));
    case network::DataType::float32:
      return relative_error<float>(reference, result);
    case network::DataType::float64:
      return relative_error<double>(reference, result);
    case network::DataType::int64:
      return relative_error<std::int64_t>(reference, result);
    case network::DataType::int32:
      return relative_error<std::int32_t>(reference, result);
    case network::DataType::int8:
      return relative_error<std::int8_t>(reference, result);
    case network::DataType::uint8:
      return relative_error<std::uint8_t>(reference, result);
    default:
      return std::numeric_limits<double>::infinity();  // not bit-equal, no distance
  }
}

Comparison compare_one(const Array& reference, const Array& result) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  if (reference.type != result.type || reference.shape != result.shape) return {1, false, infinite};
  const auto a = reference.bytes(), b = result.bytes();
  if (std::equal(a.begin(), a.end(), b.begin(), b.end())) return {1, true, 0};
  return {1, false, error_of(reference, result)};
}

void merge(Comparison& total, const Comparison& one) {
  total.bit_equal = total.bit_equal && one.bit_equal;
  total.error = std::max(total.error, one.error);
}

Frames in_float64(Frames frames) {
  for (auto& frame : frames)
    for (Array& array : frame)
      if (array.type == network::DataType::float32)
        array = network::converted(array, network::DataType::float64);
  return frames;
}

}  // namespace

bool FromFloat64::agrees(double tolerance) const {
  constexpr double ways_to_round = 4;  // other orders of sums, other formulas of functions
  constexpr double most = 0.01;        // then float32 says too little
  return result <= std::max(tolerance, ways_to_round * std::min(float32, most));
}

Float64Reference::Float64Reference(const network::Network& network, const Frames& inputs,
                                   const Frames& reference) {
  Frames rounded;
  for (const auto& frame : inputs) {
    exact_.push_back(network::evaluate_in_float64(network, frame));
    rounded.push_back(network::evaluate_in_float64(network, frame, rounded.size()));
  }
  float32_ = std::max(beside(reference).result, compare(exact_, rounded).error);
}

FromFloat64 Float64Reference::beside(const Frames& results) const {
  return {compare(exact_, in_float64(results)).error, float32_};
}

Comparison compare(const Frames& reference, const Frames& result) {
  Comparison total;
  total.frames = static_cast<std::int64_t>(reference.size());
  for (std::size_t f = 0; f < reference.size(); ++f)
    for (std::size_t o = 0; o < reference[f].size(); ++o)
      merge(total, compare_one(reference[f][o], result[f][o]));
  return total;
}

Frames run_pipeline(const plan::Plan& plan, const network::Network& network,
                    const std::map<std::string, engine::Engine*>& engines, const Frames& inputs) {
  // Nobody measures how fast it is: a stage that waits leaves its core to others.
  const SessionOptions options{.spin_for_stages = SessionOptions{}.spin};
  Session session = deploy(plan, network, engines, options);
  Frames results;
  std::size_t submitted = 0;
  while (results.size() < inputs.size()) {
    while (submitted < inputs.size() && session.submit_unless_result(inputs[submitted]))
      ++submitted;
    results.push_back(session.next()->outputs);
  }
  return results;
}

Frames run_sequentially(Sequential& sequential, const Frames& inputs) {
  Frames results;
  for (const auto& frame : inputs) results.push_back(sequential.run(frame));
  return results;
}

}  // namespace millrace::runtime
