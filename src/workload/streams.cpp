#include "workload/streams.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>

#include "workload/link_run.h"

namespace millrace::workload {
namespace {

/// Loaded once, and the same for all streams.
bool is_shared(const Workload& workload, const Link& link) {
  const auto buffer = static_cast<std::size_t>(link.sources.empty() ? 0 : link.sources[0].buffer);
  return link.kind == LinkKind::transfer && runs_of(link) == 1 && workload.buffers[buffer].constant;
}

/// One network on its way through its workloads, in each of them stream by stream.
class StreamPlayer {
 public:
  StreamPlayer(const NetworkStreams& network, const CycleCosts& costs)
      : network_(network), costs_(costs_for(*network.program, costs)) {
    begin_turn();
  }

  bool is_done() const { return workload_ == network_.program->workloads.size(); }
  /// When it asks for a unit next.
  std::int64_t ready() const { return next_lane()->ready; }

  /// Does what it asked for, on the units that others use too.
  void advance(std::map<std::string, std::int64_t>& free) {
    Lane& lane = *next_lane();
    LinkProgress& at = links_[lane.links[lane.next]];
    if (stream_ > 0 && is_shared(workload(), *at.link)) {
      result_.shared += bytes_of(at);
    } else {
      run(at, lane, free[at.link->unit]);
    }
    move_on(at);
    ++lane.next;
    if (std::ranges::all_of(lanes_, [](const Lane& one) { return one.is_done(); })) end_step();
  }

  const StreamCycles& result() const { return result_; }

 private:
  /// Links that run one after the other in a step.
  struct Lane {
    std::vector<std::size_t> links;
    std::size_t next = 0;
    std::int64_t ready = 0;
    bool is_done() const { return next == links.size(); }
  };

  const Workload& workload() const { return network_.program->workloads[workload_]; }

  std::vector<Lane>::iterator next_lane() { return std::ranges::min_element(lanes_, {}, asks_at); }
  std::vector<Lane>::const_iterator next_lane() const {
    return std::ranges::min_element(lanes_, {}, asks_at);
  }
  static std::int64_t asks_at(const Lane& lane) {
    return lane.is_done() ? std::numeric_limits<std::int64_t>::max() : lane.ready;
  }

  void run(const LinkProgress& at, Lane& lane, std::int64_t& unit_free) {
    const std::int64_t end = std::max(lane.ready, unit_free) + cycles_of(at, costs_);
    lane.ready = unit_free = end;
    if (at.link->kind == LinkKind::transfer && at.farthest == 0)
      result_.moved += bytes_of(at);
  }

  void begin_turn() {
    lanes_.clear();
    if (is_done()) return;
    links_ = links_at_start(workload());
    steps_ = steps_of(workload());
    step_ = -1;
    end_step();
  }

  /// Goes on to the next step in which something runs.
  void end_step() {
    for (const Lane& lane : lanes_) result_.cycles = std::max(result_.cycles, lane.ready);
    lanes_.clear();
    while (lanes_.empty() && ++step_ < steps_) begin_step();
    if (!lanes_.empty()) return;
    if (++stream_ == network_.streams) {
      stream_ = 0;
      ++workload_;
    }
    begin_turn();
  }

  void begin_step() {
    std::map<std::string, Lane> lanes;
    for (std::size_t i = 0; i < links_.size(); ++i) {
      const Link& link = *links_[i].link;
      if (is_active(link, step_)) lanes[workload().overlapped ? link.unit : ""].links.push_back(i);
    }
    for (auto& [unit, lane] : lanes) {
      lane.ready = result_.cycles;
      lanes_.push_back(std::move(lane));
    }
  }

  const NetworkStreams& network_;
  CycleCosts costs_;
  std::size_t workload_ = 0;
  std::int64_t stream_ = 0, step_ = 0, steps_ = 0;
  std::vector<LinkProgress> links_;
  std::vector<Lane> lanes_;
  StreamCycles result_;
};

}  // namespace

std::vector<StreamCycles> simulate_streams(std::span<const NetworkStreams> networks,
                                           const CycleCosts& costs) {
  std::vector<StreamPlayer> players;
  for (const NetworkStreams& network : networks) players.emplace_back(network, costs);
  std::map<std::string, std::int64_t> free;  // by unit
  const auto asks_at = [](const StreamPlayer& player) {
    return player.is_done() ? std::numeric_limits<std::int64_t>::max() : player.ready();
  };
  while (!std::ranges::all_of(players, [](const StreamPlayer& one) { return one.is_done(); }))
    std::ranges::min_element(players, {}, asks_at)->advance(free);
  std::vector<StreamCycles> results;
  for (const StreamPlayer& player : players) results.push_back(player.result());
  return results;
}

}  // namespace millrace::workload
