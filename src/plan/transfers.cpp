#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "plan/phase_order.h"
#include "plan/steps.h"

namespace millrace::plan {
namespace {

/// A transfer to be placed.
struct Move {
  Transfer transfer;
  Endpoint maker;                 // of the tensor
  std::vector<Endpoint> readers;  // where it goes, on the device; none: it leaves the device
  std::size_t rank = 0;           // when its maker is done
  const std::string& device_space() const {
    return transfer.to.empty() ? transfer.from : transfer.to;
  }
  bool goes_in() const { return !transfer.to.empty(); }
};

/// Where one or more stages work in a memory of a device's own.
struct Space {
  const board::Device* device = nullptr;  // borrowed from the board
  std::string engine;
  bool is_used_within = false;  // a tensor goes from one phase there to another
};

/// The memory of all the stage's processors; empty: the host's, or they differ.
std::string common_space(const Stage& stage, const board::Board& board) {
  std::set<std::string> spaces;
  for (const board::Processor& processor : stage.processors) {
    const board::Device* const device = board::device_of(board, processor);
    spaces.insert(device == nullptr ? "" : board::space_of(*device));
  }
  return spaces.size() == 1 ? *spaces.begin() : "";
}

bool has_batches(const Stage& stage) {
  return std::ranges::any_of(stage.phases, [](const Phase& phase) { return phase.batch > 1; });
}

class Transfers {
 public:
  Transfers(Plan plan, const Material& material) : plan_(std::move(plan)), material_(material) {}

  Plan add() {
    find_spaces();
    if (spaces_.empty()) return std::move(plan_);
    collect_moves();
    for (const auto& [name, space] : spaces_) place(name, space);
    plan_.channels = needed_channels(plan_, material_.network);
    return std::move(plan_);
  }

 private:
  void find_spaces() {
    for (Stage& stage : plan_.stages) {
      stage.space = has_batches(stage) ? "" : common_space(stage, material_.board);
      if (stage.space.empty()) continue;
      Space& space = spaces_[stage.space];
      space.device = board::device_of(material_.board, stage.processors.front());
      if (space.engine.empty()) space.engine = stage.engine;
    }
    for (const Channel& channel : plan_.channels)
      if (const std::string& from = space_at(channel.from);
          !from.empty() && from == space_at(channel.to))
        spaces_[from].is_used_within = true;
    std::erase_if(spaces_, [](const auto& entry) {
      return entry.second.device->costs.copy_engines == 0 && !entry.second.is_used_within;
    });
    for (Stage& stage : plan_.stages)
      if (!spaces_.contains(stage.space)) stage.space.clear();
  }

  const std::string& space_at(const Endpoint& end) const {
    static const std::string host;
    return end.is_outside() ? host : plan_.stages[end.stage].space;
  }

  /// Moves of each tensor once for each memory, in the order in which their makers are done.
  void collect_moves() {
    const std::vector<Endpoint> order = phase_order(plan_);
    std::map<TensorId, std::map<std::string, std::vector<Endpoint>>> readers;  // by space
    std::map<TensorId, Endpoint> makers;
    for (const Channel& channel : plan_.channels) {
      readers[channel.tensor][space_at(channel.to)].push_back(channel.to);
      makers[channel.tensor] = channel.from;
    }
    for (const auto& [tensor, by_space] : readers) {
      const Endpoint& maker = makers[tensor];
      const auto found = std::ranges::find(order, maker);
      const auto rank =
          maker.is_outside() ? 0 : 1 + static_cast<std::size_t>(found - order.begin());
      const std::string& home = space_at(maker);
      const bool leaves =
          std::ranges::any_of(by_space, [&](const auto& entry) { return entry.first != home; });
      if (!home.empty() && leaves) moves_.push_back({{tensor, home, ""}, maker, {}, rank});
      for (const auto& [space, ends] : by_space)
        if (!space.empty() && space != home)
          moves_.push_back({{tensor, "", space}, maker, in_order(ends, order), rank});
    }
    std::ranges::stable_sort(moves_, {}, &Move::rank);
  }

  static std::vector<Endpoint> in_order(std::vector<Endpoint> ends,
                                        const std::vector<Endpoint>& order) {
    std::ranges::sort(ends, {}, [&](const Endpoint& end) {
      return std::ranges::find(order, end) - order.begin();
    });
    return ends;
  }

  void place(const std::string& name, const Space& space) {
    std::vector<Move> own;
    for (const Move& move : moves_)
      if (move.device_space() == name) own.push_back(move);
    const int engines = space.device->costs.copy_engines;
    if (engines == 0) return place_within(own);
    if (engines == 1) return place_on(name, "copy", own);
    const auto out = std::ranges::stable_partition(own, &Move::goes_in);
    place_on(name, "in", std::span(own.begin(), out.begin()));
    place_on(name, "out", out);
  }

  /// A stage of a copy engine.
  void place_on(const std::string& name, const std::string& lane, std::span<const Move> moves) {
    if (moves.empty()) return;
    const Space& space = spaces_[name];
    Stage stage{
        .name = fmt::format("transfers{}", copying_++),
        .engine = space.engine,
        .processors = {{fmt::format("{}.{}", name, lane), space.device->kind, {}}},
        .phases = {}};
    for (const Move& move : moves)
      stage.phases.push_back({.layers = {}, .transfer = move.transfer});
    plan_.stages.push_back(std::move(stage));
  }

  /// Before who reads first on the device, behind who makes it there.
  void place_within(std::span<const Move> moves) {
    std::map<std::pair<std::size_t, std::size_t>, std::vector<Phase>> before, behind;
    for (const Move& move : moves) {
      const Endpoint at = move.goes_in() ? move.readers.front() : move.maker;
      (move.goes_in() ? before : behind)[{at.stage, at.phase}].push_back(
          {.layers = {}, .transfer = move.transfer});
    }
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      std::vector<Phase> phases;
      const auto add = [&](const std::vector<Phase>& more) {
        phases.insert(phases.end(), more.begin(), more.end());
      };
      for (std::size_t p = 0; p < plan_.stages[s].phases.size(); ++p) {
        add(before[{s, p}]);
        phases.push_back(plan_.stages[s].phases[p]);
        add(behind[{s, p}]);
      }
      plan_.stages[s].phases = std::move(phases);
    }
  }

  Plan plan_;
  const Material& material_;
  std::map<std::string, Space> spaces_;
  std::vector<Move> moves_;
  int copying_ = 0;
};

}  // namespace

bool is_copying(const Stage& stage) {
  return std::ranges::all_of(stage.phases,
                             [](const Phase& phase) { return phase.transfer.has_value(); });
}

Plan add_transfers(Plan plan, const Material& material) {
  if (!material.options.transfers || is_first_free(plan)) return plan;
  return Transfers(std::move(plan), material).add();
}

Plan without_transfers(Plan plan, const network::Network& network) {
  std::map<TensorId, std::int64_t> capacities;
  for (const Channel& channel : plan.channels)
    capacities[channel.tensor] = std::max(capacities[channel.tensor], channel.capacity);
  for (Stage& stage : plan.stages) {
    stage.space.clear();
    std::erase_if(stage.phases, [](const Phase& phase) { return phase.transfer.has_value(); });
  }
  std::erase_if(plan.stages, [](const Stage& stage) { return stage.phases.empty(); });
  plan.channels = needed_channels(plan, network);
  std::int64_t largest = 0;
  for (const Channel& channel : plan.channels)
    largest = std::max(largest, offset_of(plan, channel));
  for (Channel& channel : plan.channels)
    channel.capacity = std::max(capacities[channel.tensor],
                                rounded_up(largest, replicas_of(plan)) + replicas_of(plan));
  return plan;
}

std::string fault_of_transfers(const Plan& plan, const Material& material) {
  std::set<std::pair<TensorId, std::string>> seen;
  for (const Stage& stage : plan.stages)
    for (const Phase& phase : stage.phases)
      if (phase.transfer && !seen.insert({phase.transfer->tensor, phase.transfer->to}).second)
        return fmt::format("'{}' is transferred twice to the same memory",
                           material.network[phase.transfer->tensor].name);
  return fault_of_channels(plan, material);
}

}  // namespace millrace::plan
