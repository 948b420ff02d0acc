#include "profile/loss.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace millrace::profile {
namespace {

using network::Array;
using network::DataType;

/// A NaN counts as smaller than everything.
std::int64_t position_of_largest(std::span<const float> values) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < values.size(); ++i)
    if (values[i] > values[best] || std::isnan(values[best])) best = i;
  return static_cast<std::int64_t>(best);
}

double relative_error(const Array& expected, const Array& found) {
  if (expected.type != DataType::float32) return 0;  // the answer says all about it
  const auto a = expected.values<float>(), b = found.values<float>();
  double difference = 0, largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) {
      if (std::isfinite(a[i])) largest = std::max(largest, std::abs(double{a[i]}));
      continue;
    }
    if (!std::isfinite(a[i]) || !std::isfinite(b[i]))
      return std::numeric_limits<double>::infinity();
    difference = std::max(difference, std::abs(double{a[i]} - double{b[i]}));
    largest = std::max(largest, std::abs(double{a[i]}));
  }
  return difference == 0 ? 0 : difference / std::max(largest, 1e-30);
}

}  // namespace

double Loss::changed_share() const {
  if (fall) return *fall;
  return answers == 0 ? 0 : static_cast<double>(changed) / static_cast<double>(answers);
}

std::vector<std::int64_t> top_answer(const Array& output) {
  std::vector<std::int64_t> answer;
  if (output.type != DataType::float32) {
    for (const std::byte byte : output.bytes()) answer.push_back(std::to_integer<int>(byte));
    return answer;
  }
  const auto values = output.values<float>();
  const bool in_rows = output.shape.size() > 1 && output.shape[0] > 0;
  const std::size_t rows = in_rows ? static_cast<std::size_t>(output.shape[0]) : 1;
  const std::size_t width = values.size() / rows;
  for (std::size_t row = 0; row < rows && width > 0; ++row)
    answer.push_back(position_of_largest(values.subspan(row * width, width)));
  return answer;
}

Answers compare_top_answers(std::span<const Array> expected, std::span<const Array> found) {
  const bool changed = !expected.empty() && top_answer(expected[0]) != top_answer(found[0]);
  return {1, changed ? 1 : 0};
}

void add_frame(Loss& loss, std::span<const Array> expected, std::span<const Array> found,
               Answers answers) {
  double error = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    error = std::max(error, relative_error(expected[i], found[i]));
  if (std::isinf(error)) answers.count = std::max<std::int64_t>(answers.count, 1);
  if (std::isinf(error)) answers.changed = answers.count;
  const auto before = static_cast<double>(loss.frames);
  ++loss.frames;
  loss.answers += answers.count;
  loss.changed += answers.changed;
  loss.mean_error = (loss.mean_error * before + error) / static_cast<double>(loss.frames);
  loss.largest_error = std::max(loss.largest_error, error);
}

LossMeter::LossMeter(const Execution& execution, const Samples& samples,
                     std::function<void()> progress)
    : execution_(execution), samples_(samples), progress_(std::move(progress)) {
  const network::Network& network = *execution_.network;
  if (samples_.count == 0)
    throw InputError(network.name, "there are no frames to measure the loss of accuracy on");
  const network::Topology topology = network::topology(network);
  for (const TensorId output : network.outputs)
    if (topology.producer[output.index]) tensors_.push_back(output);
  FrameRun run(execution_, tensors_);
  for_each_frame(run,
                 [&](std::size_t, Outputs outputs) { expected_.push_back(std::move(outputs)); });
}

Loss LossMeter::measure(const std::vector<board::Variant>& variants,
                        const network::Calibration* calibration) const {
  FrameRun run(execution_, tensors_, variants, calibration);
  Loss loss;
  for_each_frame(run, [&](std::size_t frame, const Outputs& outputs) {
    const std::vector<Array>& expected = expected_[frame];
    add_frame(loss, expected, outputs,
              compare_ ? compare_(frame, outputs) : compare_top_answers(expected, outputs));
  });
  if (conclude_) conclude_(loss);
  return loss;
}

void LossMeter::for_each_frame(FrameRun& run,
                               const std::function<void(std::size_t, Outputs)>& take) const {
  for (std::size_t frame = 0; frame < samples_.count; ++frame) {
    run.run(samples_.at(frame));
    Outputs outputs;
    for (const TensorId id : tensors_) {
      const network::Tensor& tensor = (*execution_.network)[id];
      outputs.push_back(network::make_array(tensor.type, tensor.shape, run.bytes(id)));
    }
    take(frame, std::move(outputs));
    if (progress_) progress_();
  }
}

}  // namespace millrace::profile
