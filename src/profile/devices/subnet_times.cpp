#include "profile/devices/subnet_times.h"

#include <fmt/format.h>

#include <time.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/json_text.h"
#include "profile/devices/transfer_times.h"
#include "profile/trial.h"

namespace millrace::profile {
namespace {

constexpr std::size_t most_parts = 8;  // into which a row of layers is cut and measured

std::vector<LayerId> first_to_last(std::size_t begin, std::size_t end) {
  std::vector<LayerId> layers;
  for (std::size_t i = begin; i < end; ++i) layers.emplace_back(i);
  return layers;
}

/// a * x + b * y = z in the sense of least squares, x and y of all equations, a and b not below 0.
std::pair<double, double> fit_two(std::span<const std::array<double, 3>> equations) {
  double xx = 0, xy = 0, yy = 0, xz = 0, yz = 0;
  for (const auto& [x, y, z] : equations) {
    xx += x * x;
    xy += x * y;
    yy += y * y;
    xz += x * z;
    yz += y * z;
  }
  const double determinant = xx * yy - xy * xy;
  if (determinant > 1e-9 * xx * yy) {
    const double a = (xz * yy - yz * xy) / determinant, b = (xx * yz - xy * xz) / determinant;
    if (a >= 0 && b >= 0) return {a, b};
  }
  // One of them is 0: the better one.
  const double a = xx > 0 ? std::max(0.0, xz / xx) : 0, b = yy > 0 ? std::max(0.0, yz / yy) : 0;
  return a * xz >= b * yz ? std::pair{a, 0.0} : std::pair{0.0, b};
}

/// What the thread took of its core.
Time time_of_this_thread() {
  ::timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

Statistics always_takes(double nanoseconds, std::int64_t count) {
  const Time time(std::llround(nanoseconds));
  return {time, time, {}, time, time, count, true};
}

/// Prepares and runs subnets of one processor.
class SubnetMeasurement {
 public:
  SubnetMeasurement(const MeasurementTarget& target, board::Precision precision)
      : target_(target), options_(target.options), layers_(target.network.layers.size()) {
    options_.warmup = 1;
    options_.least = std::max(1, options_.least / 3);
    options_.duration /= 10;
    transfers_ = measure_transfers(target_.engine, target_.processor);
    for (std::size_t i = 0; i < layers_.size(); ++i) ask(LayerId(i), precision);
  }

  ProcessorProfile run() {
    std::vector<SubnetTime> singles, rows;
    for (std::size_t i = 0; i < layers_.size(); ++i)
      if (layers_[i].refusal.empty()) singles.push_back(measured({LayerId(i)}));
    if (singles.empty())
      throw InputError(
          target_.network.name,
          fmt::format("no layer runs on {} with {}: {}; leave it out with ⟨processors⟩",
                      target_.processor.name, target_.engine.name(),
                      layers_.empty() ? "there is none" : layers_.front().refusal));
    double whole = 0;
    for (const auto& [begin, end] : runs()) whole += measure_row(begin, end, singles, rows);
    return profile_of(fit_subnets(layers_.size(), singles, rows), whole);
  }

 private:
  void ask(LayerId layer, board::Precision precision) {
    const auto ways = target_.engine.variants(target_.network, layer, target_.processor);
    if (ways.empty()) {
      layers_[layer.index].refusal =
          target_.engine.supports(target_.network, layer, target_.processor).reason();
      variants_.emplace_back();
      return;
    }
    const auto way = std::ranges::find(ways, precision, &board::Variant::precision);
    variants_.push_back(way == ways.end() ? ways.front() : *way);
    layers_[layer.index].variant = variants_.back();
  }

  /// Layers one after another that all run here: [begin, end).
  std::vector<std::pair<std::size_t, std::size_t>> runs() const {
    std::vector<std::pair<std::size_t, std::size_t>> result;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (!layers_[i].refusal.empty()) continue;
      if (result.empty() || result.back().second != i) result.emplace_back(i, i);
      ++result.back().second;
    }
    return result;
  }

  /// The row as one, then its halves, and so on; what the whole took.
  double measure_row(std::size_t begin, std::size_t end, std::vector<SubnetTime>& singles,
                     std::vector<SubnetTime>& rows) {
    if (end - begin == 1) return single_of(singles, begin);
    double whole = 0;
    for (std::size_t parts = 1; parts <= most_parts && parts < end - begin; parts *= 2)
      for (std::size_t p = 0; p < parts; ++p) {
        const std::size_t first = begin + (end - begin) * p / parts;
        const std::size_t last = begin + (end - begin) * (p + 1) / parts;
        const std::vector<LayerId> layers = first_to_last(first, last);
        if (layers.size() < 2 || is_too_large(layers) ||
            !target_.engine.supports(target_.network, layers, target_.processor))
          continue;
        rows.push_back(measured(layers));
        if (parts == 1) whole = rows.back().time + moving_ns_;
      }
    if (whole > 0) return whole;
    for (std::size_t i = begin; i < end; ++i) whole += single_of(singles, i);
    return whole;
  }

  bool is_too_large(const std::vector<LayerId>& layers) const {
    Bytes weights{};
    for (const LayerId layer : layers) weights += network::weights_of(target_.network, layer);
    return target_.most_weights && weights > *target_.most_weights;
  }

  static double single_of(const std::vector<SubnetTime>& singles, std::size_t layer) {
    return std::ranges::find_if(
               singles, [&](const SubnetTime& each) { return each.layers.front().index == layer; })
        ->time;
  }

  SubnetTime measured(std::vector<LayerId> layers) {
    const engine::SubnetRequest request = request_for(target_, layers, variants_);
    SubnetTime result{std::move(layers), 0, 0};
    const auto count = [&](TensorId tensor) {
      const network::Tensor& each = target_.network[tensor];
      result.elements += static_cast<double>(network::element_count(each.shape, each.name));
    };
    for (const engine::Port& port : request.inputs) count(port.tensor);
    for (const TensorId output : request.outputs) count(output);
    Trial trial(target_.engine.prepare(request), target_.network, options_.seed);
    const Time busy = time_of_this_thread();
    const auto start = std::chrono::steady_clock::now();
    const Statistics statistics = time_of(trial, options_);
    const Time spent = std::chrono::steady_clock::now() - start;
    runs_ = std::max(runs_, statistics.count);
    if (result.layers.size() >= most_layers_) {
      most_layers_ = result.layers.size();
      feeding_ = std::min(1.0, seconds(time_of_this_thread() - busy) / seconds(spent));
    }
    result.time = static_cast<double>(statistics.median.count());
    if (!transfers_) return result;
    moving_ns_ = moving_ns(request);
    result.time = std::max(0.0, result.time - moving_ns_);
    result.elements = 0;
    return result;
  }

  /// What a run of the subnet copies between the memories.
  double moving_ns(const engine::SubnetRequest& request) const {
    const auto elements = [&](TensorId tensor) {
      const network::Tensor& each = target_.network[tensor];
      return static_cast<double>(network::element_count(each.shape, each.name));
    };
    double sum = 0;
    for (const engine::Port& port : request.inputs)
      sum += transfers_->in_ns + transfers_->read_ns * elements(port.tensor);
    for (const TensorId output : request.outputs)
      sum += transfers_->out_ns + transfers_->write_ns * elements(output);
    return sum;
  }

  ProcessorProfile profile_of(const SubnetModel& model, double whole) {
    ProcessorProfile result;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (!layers_[i].refusal.empty()) continue;
      layers_[i].together = layers_[i].alone = always_takes(model.layers[i], runs_);
      layers_[i].kernel = "subnet";
    }
    result.layers = std::move(layers_);
    result.whole = always_takes(whole, runs_);
    result.borders = BorderCosts{.read_ns = model.element,
                                 .write_ns = model.element,
                                 .launch = Time(std::llround(model.launch)),
                                 .feeding = rounded(feeding_),
                                 .of_ends = true};
    if (transfers_) result.borders = with_transfers(*result.borders, *transfers_);
    if (!target_.processor.cores.empty()) result.borders.reset();  // its memory is the caller's
    return result;
  }

  const MeasurementTarget& target_;
  MeasureOptions options_;
  std::vector<LayerTimes> layers_;
  Variants variants_;
  std::int64_t runs_ = 0;
  std::size_t most_layers_ = 0;
  double feeding_ = 0;  // of the subnet with the most layers
  std::optional<TransferTimes> transfers_ = {};  // nothing: it works in the host's memory
  double moving_ns_ = 0;                         // of the subnet measured last
};

}  // namespace

SubnetModel fit_subnets(std::size_t layers, std::span<const SubnetTime> singles,
                        std::span<const SubnetTime> rows) {
  std::vector<double> alone(layers, 0), elements(layers, 0);
  double least = std::numeric_limits<double>::infinity();
  for (const SubnetTime& each : singles) {
    alone[each.layers.front().index] = each.time;
    elements[each.layers.front().index] = each.elements;
    least = std::min(least, each.time);
  }
  std::vector<std::array<double, 3>> equations;
  for (const SubnetTime& row : rows) {
    std::array<double, 3> equation{static_cast<double>(row.layers.size()) - 1, -row.elements,
                                   -row.time};
    for (const LayerId layer : row.layers) {
      equation[1] += elements[layer.index];
      equation[2] += alone[layer.index];
    }
    equations.push_back(equation);
  }
  SubnetModel model;
  std::tie(model.launch, model.element) = fit_two(equations);
  if (!singles.empty()) model.launch = std::min(model.launch, least);
  for (std::size_t i = 0; i < layers; ++i)
    model.layers.push_back(
        std::max(0.0, alone[i] - (alone[i] > 0 ? model.launch : 0) - model.element * elements[i]));
  // Longest last: it decides.
  std::vector<const SubnetTime*> by_size;
  for (const SubnetTime& row : rows) by_size.push_back(&row);
  std::ranges::stable_sort(by_size, {}, [](const SubnetTime* row) { return row->layers.size(); });
  for (const SubnetTime* row : by_size) {
    double sum = 0;
    for (const LayerId layer : row->layers) sum += model.layers[layer.index];
    const double rest = row->time - model.launch - model.element * row->elements;
    if (sum <= 0 || rest <= 0) continue;
    for (const LayerId layer : row->layers) model.layers[layer.index] *= rest / sum;
  }
  return model;
}

ProcessorProfile measure_by_subnets(const MeasurementTarget& target, board::Precision precision) {
  const board::PinGuard pinned(target.processor);
  return SubnetMeasurement(target, precision).run();
}

}  // namespace millrace::profile
