#include "profile/fit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/json_text.h"

namespace millrace::profile {
namespace {

constexpr double least_share = 1e-3;
constexpr std::size_t least_samples = 3;

struct Shares {
  double arithmetic = 1, memory = 1;
};

/// Samples as plain seconds at the peaks.
struct Point {
  double calculating = 0, moving = 0, measured = 0, weight = 1;
};

double error_of(const std::vector<Point>& points, const Shares& shares, double launch) {
  double sum = 0;
  for (const Point& p : points) {
    const double modelled =
        launch + std::max(p.calculating / shares.arithmetic, p.moving / shares.memory);
    sum += p.weight * std::abs(modelled / p.measured - 1);
  }
  return sum;
}

/// From the least to `most` in steps of 4 %, those nearest to 1 first.
std::vector<double> candidate_shares(double most) {
  constexpr double step = 1.04;
  std::vector<double> shares{1};
  for (double share = 1 / step; share >= least_share; share /= step) {
    if (1 / share <= most) shares.push_back(1 / share);
    shares.push_back(share);
  }
  return shares;
}

struct Found {
  Shares shares;
  double error = std::numeric_limits<double>::infinity();
};

/// The best by trial. Of equals those nearest to the peaks.
Found best_shares(const std::vector<Point>& points, double launch) {
  constexpr double most_saved = 8;  // by algorithms that calculate less
  static const auto of_arithmetic = candidate_shares(most_saved), of_memory = candidate_shares(1);
  Found best;
  for (const double arithmetic : of_arithmetic)
    for (const double memory : of_memory) {
      const Shares shares{arithmetic, memory};
      const double error = error_of(points, shares, launch);
      if (error < best.error) best = {shares, error};
    }
  return best;
}

using Kinds = std::map<std::string, std::vector<Point>>;

/// By the most special kind; few samples of one go to "other", which has all.
Kinds by_kind(const std::vector<Sample>& samples, double operations, double bytes) {
  Kinds kinds, result;
  for (const Sample& sample : samples) {
    const Point point{sample.load.operations / operations, sample.load.bytes / bytes,
                      seconds(sample.time), sample.weight};
    kinds[sample.load.kinds.front()].push_back(point);
    result["other"].push_back(point);
  }
  for (const auto& [kind, points] : kinds)
    if (points.size() >= least_samples) result[kind] = points;
  return result;
}

std::map<std::string, Found> fit_kinds(const Kinds& kinds, double launch) {
  std::map<std::string, Found> result;
  for (const auto& [kind, points] : kinds) result[kind] = best_shares(points, launch);
  return result;
}

/// Whether its share of the arithmetic peak means anything.
bool calculates(const std::vector<Point>& points) {
  return std::any_of(points.begin(), points.end(),
                     [](const Point& p) { return p.calculating > p.moving; });
}

double total_error(const std::map<std::string, Found>& found) {
  double sum = 0;
  for (const auto& [kind, each] : found)
    if (kind != "other") sum += each.error;
  return sum;
}

board::Device& device_named(board::Board& board, const std::string& name) {
  std::vector<std::string_view> names;
  for (board::Device& device : board.devices) {
    if (device.name == name) return device;
    names.push_back(device.name);
  }
  throw InputError(name, fmt::format("is no device of {}, which has {}{}", board.name,
                                     fmt::join(names, ", "), did_you_mean(name, names)));
}

/// What the model says of a frame of the network on the first processor of the device.
Time modelled_total(const Total& total, const board::Board& board, const board::Device& device) {
  const std::string name = board::processors_of(device).front().name;
  const Profile profile = modelled(total.network, board::only(board, {name}), {total.precision});
  const ProcessorProfile& all = profile.processors.front();
  return all.whole.median + all.borders->launch;
}

/// What the device says of all precisions but one.
std::vector<board::Efficiency> efficiency_of_others(const board::Device& device,
                                                    board::Precision precision) {
  std::set<board::Precision> others;
  for (const board::Unit& unit : device.units)
    for (const auto& [each, operations] : unit.operations)
      if (each != precision) others.insert(each);
  std::vector<board::Efficiency> result;
  for (const board::Efficiency& each : device.efficiency) {
    if (each.precision && each.precision != precision) result.push_back(each);
    if (each.precision) continue;
    for (const board::Precision other : others) {
      result.push_back(each);
      result.back().precision = other;
    }
  }
  return result;
}

double peak_in(const board::Device& device, const board::Peaks& peaks, board::Precision precision) {
  const auto found = peaks.operations.find(precision);
  if (found != peaks.operations.end() && found->second > 0 && peaks.bytes > 0) return found->second;
  throw InputError(device.name, fmt::format("the board gives no peak in {} or no "
                                            "bandwidth for it; the fit needs both, add them",
                                            to_text(precision)));
}

}  // namespace

std::vector<Sample> samples_of(const network::Network& network, const ProcessorProfile& measured) {
  constexpr double bytes_of_f32 = 4;
  std::vector<std::vector<LayerId>> kernels(measured.layers.size());
  for (std::size_t i = 0; i < measured.layers.size(); ++i) {
    std::size_t first = i;
    while (measured.layers[first].fused_into) first = measured.layers[first].fused_into->index;
    kernels[first].emplace_back(i);
  }
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < kernels.size(); ++i)
    if (!kernels[i].empty() && measured.layers[i].together.median > Time{})
      samples.push_back(
          {load_of(network, kernels[i], bytes_of_f32), measured.layers[i].together.median});
  Time whole{};
  for (const Sample& sample : samples) whole += sample.time;
  for (Sample& sample : samples) sample.weight = seconds(sample.time) / seconds(whole);
  return samples;
}

board::Device fitted(board::Device device, const std::vector<Sample>& samples,
                     const board::Peaks& peaks, board::Precision precision) {
  if (samples.empty()) throw InputError(device.name, "there is no measured layer to fit it to");
  const double peak = peak_in(device, peaks, precision);
  const Kinds kinds = by_kind(samples, peak, peaks.bytes);
  std::map<std::string, Found> best;
  for (const double launch : {0.0, 0.5e-6, 1e-6, 2e-6, 4e-6, 8e-6}) {
    auto found = fit_kinds(kinds, launch);
    if (!best.empty() && total_error(found) >= total_error(best)) continue;
    best = std::move(found);
    device.costs.launch = time_from_seconds(launch);
  }
  std::erase_if(device.efficiency, [&](const auto& each) { return each.precision == precision; });
  double highest = 1;
  for (const auto& [kind, found] : best)
    if (calculates(kinds.at(kind))) highest = std::max(highest, found.shares.arithmetic);
  for (const auto& [kind, found] : best)
    device.efficiency.push_back({kind,
                                 precision,
                                 rounded(std::min(1.0, found.shares.arithmetic / highest)),
                                 rounded(found.shares.memory),
                                 {}});
  if (highest > 1)
    device.units.push_back(
        {"fast_algorithms", {{precision, 1e6 * std::round(highest * peak / 1e6)}}, {}});
  return device;
}

board::Board fitted_to_total(board::Board board, const std::string& name, const Total& total) {
  board::Device& device = device_named(board, name);
  const std::vector<board::Efficiency> others = efficiency_of_others(device, total.precision);
  const auto total_with = [&](double share) {
    device.efficiency = others;
    device.efficiency.push_back({"other", total.precision, share, 1, {}});
    return modelled_total(total, board, device);
  };
  const Time fastest = total_with(1), slowest = total_with(least_share);
  if (total.time < fastest || total.time > slowest)
    throw InputError(name, fmt::format("the model gives {} from {} to {} for a frame in {}, so {} "
                                       "cannot be fitted; correct the peaks or the bandwidth of "
                                       "the board",
                                       total.network.name, millrace::to_text(fastest),
                                       millrace::to_text(slowest), to_text(total.precision),
                                       millrace::to_text(total.time)));
  double low = least_share, high = 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = std::sqrt(low * high);
    (total_with(middle) > total.time ? low : high) = middle;
  }
  total_with(rounded(high));
  return board;
}

}  // namespace millrace::profile
