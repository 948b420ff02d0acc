#pragma once
// The groups of a system as searches see them: networks, times, candidates.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "deployment/deployment.h"
#include "explore/system/group_plan.h"
#include "explore/system/pareto.h"
#include "profile/profile.h"

namespace millrace::explore {

/// Stays where it is: `context` and the models borrow.
struct GroupSource {
  const network::Network* network = nullptr;
  board::Board board;  // with the processors that the network may use only
  std::string engine;
  profile::Profile profile;
  Problem problem, estimated;
  std::optional<Problem> worst;  // of measured times
  plan::BuildOptions build = build_options_under_deadlines();
  std::unique_ptr<SearchContext> context, estimated_context;
};

struct GroupSourceOptions {
  std::vector<std::string> processors;  // for networks; empty: see processors_for_networks
  /// On this machine: tasks take the sums of their layers' worst cases, which are seldom all worst
  /// at once; else the medians and the deviation, until they are measured themselves.
  bool sums_of_worst = false;
  std::string engine = {};
  /// The times of the group's network on this board, which is this machine.
  std::function<profile::Profile(const network::Network&, const board::Board&)> measure = {};
  Ranks* ranks = nullptr;  // of which the first measures; borrowed; null: nobody
};

/// All that are not CPU cores if one of them runs all operators, else all.
std::vector<std::string> processors_for_networks(const board::Board& board);

struct GroupOnBoard {
  const system::Group& group;  // borrowed, like the others
  const network::Network& network;
  const board::Board& board;
  bool is_modelled = false;  // the system names a board, whose times are the cost model's
};
std::unique_ptr<GroupSource> group_source(const GroupOnBoard& of,
                                          const GroupSourceOptions& options);

/// Borrows the source and the board.
GroupModel group_model(const GroupSource& source, const system::System& system,
                       system::GroupId group, const board::Board& board);
/// With layer-wise estimates of accelerators' times.
GroupModel estimated_model(const GroupSource& source, const GroupModel& actual);

}  // namespace millrace::explore
