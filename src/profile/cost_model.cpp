#include "profile/cost_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "network/operator_kinds.h"
#include "profile/limits.h"

namespace millrace::profile {
namespace {

constexpr int model_version = 2;

const board::Device& device_for(const board::Board& board, const board::Processor& processor) {
  const board::Device* device = board::device_of(board, processor);
  if (device == nullptr || device->units.empty())
    throw InputError(board.name, fmt::format("says nothing about how fast {} is; give its device "
                                             "'units' with peak_gops",
                                             processor.name));
  return *device;
}

/// What the device says under this word, rather of this precision than of any.
const board::Efficiency* efficiency_named(const board::Device& device, const std::string& word,
                                          board::Precision precision) {
  const board::Efficiency* any = nullptr;
  for (const board::Efficiency& each : device.efficiency) {
    if (each.op == word && each.precision == precision) return &each;
    if (each.op == word && !each.precision) any = &each;
  }
  return any;
}

const board::Efficiency* efficiency_of(const board::Device& device, const Load& load,
                                       board::Precision precision) {
  for (const std::string& word : load.kinds)
    if (const auto* found = efficiency_named(device, word, precision)) return found;
  return efficiency_named(device, "other", precision);
}

Statistics always(Time time) { return {time, time, {}, time, time, 0, true}; }

using Groups = std::vector<std::optional<LayerId>>;

std::vector<LayerId> members_of(const Groups& groups, LayerId first) {
  std::vector<LayerId> layers{first};
  for (std::size_t i = first.index + 1; i < groups.size(); ++i)
    if (groups[i] == first) layers.emplace_back(i);
  return layers;
}

/// One processor in one precision.
struct Way {
  board::Processor processor;
  board::Precision precision;
  CostModel model;
};

LayerTimes times_of(const network::Network& network, const Groups& groups, LayerId layer,
                    const Way& way) {
  LayerTimes times;
  times.variant.precision = way.precision;
  times.fused_into = groups[layer.index];
  if (const Verdict verdict = way.model.supports(network[layer].op); !verdict) {
    times.refusal = verdict.reason();
    times.refused_by_board = true;
    return times;
  }
  if (network::is_reshape(network[layer].op)) return times;  // free
  const auto time_of = [&](const std::vector<LayerId>& layers) {
    return always(way.model.time(load_of(network, layers, way.model.bytes_per_element())));
  };
  times.kernel = load_of(network, {layer}, 1).kinds.front();
  times.alone = time_of({layer});
  if (!times.fused_into) times.together = time_of(members_of(groups, layer));
  return times;
}

ProcessorProfile profile_of(const network::Network& network, const Groups& groups, const Way& way) {
  ProcessorProfile result;
  result.processor = way.processor;
  result.engine = modelled_engine;
  result.engine_version = std::to_string(model_version);
  result.precision = way.precision;
  Time whole{};
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    result.layers.push_back(times_of(network, groups, LayerId(i), way));
    whole += result.layers.back().together.median;
  }
  result.whole = always(whole);
  result.borders = way.model.borders();
  return result;
}

/// By layer, where it can run: as many answers as ways.
MayJoin where_layers_run(const network::Network& network, const std::vector<Way>& ways) {
  MayJoin where;
  for (const network::Layer& layer : network.layers) {
    auto& answers = where.emplace_back();
    for (const Way& way : ways) answers.push_back(static_cast<bool>(way.model.supports(layer.op)));
    if (std::find(answers.begin(), answers.end(), true) != answers.end()) continue;
    std::vector<std::string> reasons;
    for (const Way& way : ways) {
      const std::string reason =
          fmt::format("{}: {}", way.processor.name, way.model.supports(layer.op).reason());
      if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end())
        reasons.push_back(reason);
    }
    throw InputError(network.name,
                     fmt::format("no processor of the board can run layer '{}' ({}): {}",
                                 layer.name, network::name_of(layer.op), fmt::join(reasons, "; ")));
  }
  return where;
}

/// As in profile files, so that no sum overflows.
constexpr double longest_seconds = 1e6;

}  // namespace

CostModel::CostModel(const board::Board& board, const board::Processor& processor,
                     board::Precision precision)
    : device_(device_for(board, processor)), precision_(precision) {
  const board::Peaks peaks = board::peaks_of(board, processor);
  const auto found = peaks.operations.find(precision);
  operations_ = found != peaks.operations.end() ? found->second : 0;
  bytes_ = peaks.bytes;
}

Verdict CostModel::supports(const network::Operator& op) const {
  if (operations_ <= 0) return Verdict::no(fmt::format("has no unit for {}", to_text(precision_)));
  return within_limits(device_.limits, precision_, op);
}

Time CostModel::time(const Load& load) const {
  double arithmetic = usual_arithmetic, memory = usual_memory;
  if (const auto* efficiency = efficiency_of(device_, load, precision_)) {
    arithmetic = efficiency->arithmetic;
    memory = efficiency->memory;
  }
  const double calculating = load.operations / (operations_ * arithmetic);
  const double moving = bytes_ > 0 ? load.bytes / (bytes_ * memory) : 0;
  const double seconds = std::max(calculating, moving);
  if (!(seconds <= longest_seconds))
    throw InputError(device_.name,
                     fmt::format("a layer would take {:.3g} s there, more than twelve days; check "
                                 "its units' operations and its memory's bytes, which are per "
                                 "second",
                                 seconds));
  return borders().kernel + time_from_seconds(seconds);
}

BorderCosts CostModel::borders() const {
  BorderCosts borders;
  const double bandwidth = device_.costs.transfer.value_or(bytes_);
  if (bandwidth > 0) borders.read_ns = borders.write_ns = bytes_per_element() / bandwidth * 1e9;
  borders.border = device_.costs.border;
  borders.feeding = device_.costs.feeding;
  borders.of_ends = device_.costs.transfer.has_value();
  const bool by_subnet = device_.limits.granularity == board::Granularity::subnet;
  (by_subnet ? borders.launch : borders.kernel) = device_.costs.launch;
  return borders;
}

double CostModel::bytes_per_element() const { return board::bytes_per_element(precision_); }

Profile modelled(const network::Network& network, const board::Board& board,
                 const std::vector<board::Precision>& precisions) {
  Profile profile;
  profile.modelled = true;
  profile.network = network::hash_of(network);
  profile.board = board::hash_of(board);
  profile.network_name = network.name;
  for (const network::Layer& layer : network.layers) profile.layer_names.push_back(layer.name);
  std::vector<Way> ways;
  for (const board::Precision precision : precisions)
    for (const board::Processor& processor : board.processors)
      ways.push_back({processor, precision, CostModel(board, processor, precision)});
  const Groups groups = usual_groups(network, where_layers_run(network, ways));
  for (const Way& way : ways) profile.processors.push_back(profile_of(network, groups, way));
  return profile;
}

}  // namespace millrace::profile
