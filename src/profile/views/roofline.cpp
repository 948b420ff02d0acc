#include "profile/views/roofline.h"

#include <algorithm>

#include "network/operator_kinds.h"

namespace millrace::profile {
namespace {

/// 0: unknown.
double peak_of(const board::Peaks& peaks, board::Precision precision) {
  for (const board::Precision each : {precision, board::Precision::f32})
    if (const auto found = peaks.operations.find(each); found != peaks.operations.end())
      return found->second;
  double fastest = 0;
  for (const auto& [each, operations] : peaks.operations) fastest = std::max(fastest, operations);
  return fastest;
}

/// What no rate is known of takes no time: the limit stays one.
Time time_at(double amount, double rate) {
  return rate > 0 ? time_from_seconds(amount / rate) : Time{};
}

Roofline of_layer(const network::Cost& cost, const board::Peaks& peaks,
                  board::Precision precision) {
  Roofline result;
  result.operations = cost.operations;
  result.bytes.count = (cost.read + cost.written).count * board::bytes_per_element(precision) / 4;
  result.arithmetic = time_at(static_cast<double>(result.operations), peak_of(peaks, precision));
  const Time memory = time_at(static_cast<double>(result.bytes.count), peaks.bytes);
  result.limit = std::max(result.arithmetic, memory);
  return result;
}

}  // namespace

Roofline& Roofline::operator+=(const Roofline& other) {
  operations += other.operations;
  bytes += other.bytes;
  arithmetic += other.arithmetic;
  limit += other.limit;
  return *this;
}

Roofline roofline(const network::Network& network, std::span<const LayerId> layers,
                  const board::Peaks& peaks, const PrecisionOf& precision) {
  Roofline sum;
  for (const LayerId layer : layers)
    if (!network::is_reshape(network[layer].op))
      sum += of_layer(network::cost_of(network, layer), peaks, precision(layer));
  return sum;
}

StageRoofline total(const Rooflines& rooflines) {
  StageRoofline sum;
  sum.stage = "total";
  for (const StageRoofline& stage : rooflines.stages) {
    if (stage.again) continue;
    sum.roofline += stage.roofline;
    sum.measured += stage.measured;
  }
  return sum;
}

double limit_fps(const Rooflines& rooflines) {
  return static_cast<double>(rooflines.processors.size()) /
         seconds(total(rooflines).roofline.limit);
}

double share(const StageRoofline& stage) {
  return seconds(stage.roofline.limit) / seconds(stage.measured);
}

}  // namespace millrace::profile
