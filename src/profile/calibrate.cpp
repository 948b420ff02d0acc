#include "profile/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "network/operator_kinds.h"
#include "profile/histogram.h"

namespace millrace::profile {
namespace {

using network::Network;
using network::Range;

Range spanning(const Range& a, const Range& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

/// Tensors that are looked at in the same runs; all made by layers, but for the first that also
/// looks at the inputs.
using Batch = std::vector<TensorId>;

std::vector<Batch> batches_of(const Network& network, Bytes limit) {
  std::vector<Batch> batches(1);
  Bytes held;
  for (const TensorId tensor : network::calibrated_tensors(network)) {
    held = held + network[tensor].size();
    if (held > limit && !batches.back().empty()) {
      batches.emplace_back();
      held = network[tensor].size();
    }
    batches.back().push_back(tensor);
  }
  return batches;
}

/// All frames through the layers, and what the tensors of one batch hold then.
class Observation {
 public:
  Observation(const Execution& execution, const Samples& samples, const Batch& batch)
      : network_(*execution.network),
        samples_(samples),
        batch_(batch),
        run_(execution, made_by_layers(network_, batch)) {}

  std::vector<Range> ranges(const std::function<void()>& after_frame) {
    std::vector<Range> seen(batch_.size());
    for_each_frame(after_frame, [&](std::size_t i, std::span<const float> values, std::size_t f) {
      for (const float value : values) {
        if (!std::isfinite(value)) refuse(batch_[i], f);
        seen[i].low = std::min(seen[i].low, value);
        seen[i].high = std::max(seen[i].high, value);
      }
    });
    return seen;
  }

  std::vector<Histogram> histograms(const std::vector<Range>& seen,
                                    const std::function<void()>& after_frame) {
    std::vector<Histogram> result(seen.begin(), seen.end());
    for_each_frame(after_frame, [&](std::size_t i, std::span<const float> values, std::size_t) {
      result[i].add(values);
    });
    return result;
  }

  /// Channel sizes of those tensors of the batch that are multiplied by weights.
  network::ChannelSizes channel_sizes(const std::function<void()>& after_frame) {
    network::ChannelSizes sizes;
    for_each_frame(after_frame, [&](std::size_t i, std::span<const float> values, std::size_t f) {
      if (!is_multiplied(batch_[i]) || values.empty()) return;
      if (!std::ranges::all_of(values, [](float value) { return std::isfinite(value); }))
        refuse(batch_[i], f);
      const network::Tensor& tensor = network_[batch_[i]];
      std::vector<float>& its = sizes[tensor.name];
      its.resize(static_cast<std::size_t>(tensor.shape[1]));
      for (std::size_t c = 0; c < its.size(); ++c) {
        its[c] = std::max(its[c], size_of_channel(values, tensor.shape, c));
      }
    });
    return sizes;
  }

  /// Means of those tensors of the batch that convolutions read, by name.
  std::map<std::string, std::vector<float>> means(const std::function<void()>& after_frame) {
    std::vector<std::vector<double>> sums(batch_.size());
    for (std::size_t i = 0; i < batch_.size(); ++i)
      if (is_convolved(batch_[i]))
        sums[i].resize(static_cast<std::size_t>(network_[batch_[i]].shape[1]));
    for_each_frame(after_frame, [&](std::size_t i, std::span<const float> values, std::size_t) {
      add_means(values, network_[batch_[i]].shape, sums[i]);
    });
    std::map<std::string, std::vector<float>> means;
    const auto frames = static_cast<double>(samples_.count);
    for (std::size_t i = 0; i < batch_.size(); ++i)
      for (const double sum : sums[i])
        means[network_[batch_[i]].name].push_back(static_cast<float>(sum / frames));
    return means;
  }

 private:
  bool is_multiplied(TensorId tensor) const {
    return std::ranges::any_of(network_.layers, [&](const network::Layer& layer) {
      return network::multiplies(layer.op) && layer.inputs[0] == tensor &&
             network_[tensor].shape.size() >= 2;
    });
  }

  static float size_of_channel(std::span<const float> values, const network::Shape& shape,
                               std::size_t channel) {
    constexpr std::size_t one_in = 1000;
    const auto images = static_cast<std::size_t>(shape[0]),
               channels = static_cast<std::size_t>(shape[1]);
    const std::size_t pixels = values.size() / images / channels;
    std::vector<float> sizes;
    for (std::size_t image = 0; image < images; ++image)
      for (const float value : values.subspan((image * channels + channel) * pixels, pixels))
        sizes.push_back(std::abs(value));
    const auto at = sizes.end() - 1 - static_cast<std::ptrdiff_t>(sizes.size() / one_in);
    std::ranges::nth_element(sizes, at);
    return *at;
  }

  bool is_convolved(TensorId tensor) const {
    return std::any_of(network_.layers.begin(), network_.layers.end(), [&](const auto& layer) {
      return std::holds_alternative<network::Conv>(layer.op) && layer.inputs[0] == tensor;
    });
  }

  /// Adds the means of one frame to the sums by channel.
  static void add_means(std::span<const float> values, const network::Shape& shape,
                        std::vector<double>& sums) {
    if (sums.empty() || values.empty()) return;
    const std::size_t images = static_cast<std::size_t>(shape[0]);
    const std::size_t pixels = values.size() / images / sums.size();
    for (std::size_t i = 0; i < images * sums.size(); ++i) {
      double sum = 0;
      for (const float value : values.subspan(i * pixels, pixels)) sum += double{value};
      sums[i % sums.size()] += sum / static_cast<double>(pixels * images);
    }
  }

  static std::vector<TensorId> made_by_layers(const Network& network, const Batch& batch) {
    std::vector<TensorId> made;
    for (const TensorId tensor : batch)
      if (std::find(network.inputs.begin(), network.inputs.end(), tensor) == network.inputs.end())
        made.push_back(tensor);
    return made;
  }

  void for_each_frame(
      const std::function<void()>& after_frame,
      const std::function<void(std::size_t, std::span<const float>, std::size_t)>& look) {
    for (std::size_t frame = 0; frame < samples_.count; ++frame) {
      run_.run(samples_.at(frame));
      for (std::size_t i = 0; i < batch_.size(); ++i) look(i, run_.values<float>(batch_[i]), frame);
      after_frame();
    }
  }

  [[noreturn]] void refuse(TensorId tensor, std::size_t frame) const {
    throw InputError(network_.name,
                     fmt::format("the tensor '{}' is infinite or not a number on frame {}; "
                                 "look at the input, its ⟨mean⟩ and ⟨std⟩, or leave it out",
                                 network_[tensor].name, frame));
  }

  const Network& network_;
  const Samples& samples_;
  const Batch& batch_;
  FrameRun run_;
};

Range range_of(const Histogram& histogram, const CalibrateOptions& options) {
  if (options.method == RangeMethod::squares) return squares_range(histogram);
  return options.method == RangeMethod::entropy ? entropy_range(histogram)
                                                : percentile_range(histogram, options.percentile);
}

std::string method_text(const CalibrateOptions& options) {
  const std::string name = to_text(options.method);
  return options.method == RangeMethod::percentile ? fmt::format("{} {}", name, options.percentile)
                                                   : name;
}

}  // namespace

std::string to_text(RangeMethod method) {
  constexpr std::array<const char*, 4> names{"minmax", "percentile", "entropy", "mse"};
  return names[static_cast<std::size_t>(method)];
}

network::ChannelSizes channel_sizes(const Execution& execution, const Samples& samples,
                                    const CalibrateOptions& options) {
  const Network& network = *execution.network;
  if (samples.count == 0) throw InputError(network.name, "there are no frames to calibrate on");
  const std::vector<Batch> batches = batches_of(network, options.observed);
  const auto runs = static_cast<double>(samples.count * batches.size());
  double done = 0;
  network::ChannelSizes sizes;
  for (const Batch& batch : batches)
    sizes.merge(Observation(execution, samples, batch).channel_sizes([&] {
      if (options.progress) options.progress(++done / runs);
    }));
  return sizes;
}

CalibrationResult calibrate(const Execution& execution, const Samples& samples,
                            const CalibrateOptions& options) {
  const Network& network = *execution.network;
  if (samples.count == 0) throw InputError(network.name, "there are no frames to calibrate on");
  CalibrationResult result;
  result.table = {{network::hash_of(network), {}},
                  method_text(options),
                  static_cast<std::int64_t>(samples.count)};
  const std::vector<Batch> batches = batches_of(network, options.observed);
  const bool twice = options.method != RangeMethod::minmax;
  const std::size_t passes = (twice ? 2u : 1u) + (options.means ? 1u : 0u);
  const std::size_t runs = samples.count * batches.size() * passes;
  std::size_t done = 0;
  const auto after_frame = [&] {
    ++done;
    if (options.progress) options.progress(static_cast<double>(done) / static_cast<double>(runs));
  };
  for (const Batch& batch : batches) {
    Observation observation(execution, samples, batch);
    const std::vector<Range> seen = observation.ranges(after_frame);
    std::vector<Range> ranges = seen;
    if (twice) {
      const auto histograms = observation.histograms(seen, after_frame);
      std::transform(histograms.begin(), histograms.end(), ranges.begin(),
                     [&](const Histogram& histogram) { return range_of(histogram, options); });
    }
    if (options.means) result.table.calibration.means.merge(observation.means(after_frame));
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const std::string& name = network[batch[i]].name;
      result.seen[name] = spanning(result.seen[name], seen[i]);
      Range& range = result.table.calibration.ranges[name];
      range = spanning(range, ranges[i]);
    }
  }
  return result;
}

}  // namespace millrace::profile
