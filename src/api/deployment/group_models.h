#pragma once
// Inside the room: the groups of a system as searches see them: networks, times, candidates.
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/deployment/open.h"
#include "api/deployment/system_profile.h"
#include "deployment/deployment.h"
#include "explore/system/group_plan.h"
#include "explore/system/pareto.h"
#include "profile/profile.h"

namespace millrace::api {

/// Stays where it is: `context` and the models borrow.
struct GroupSource {
  const network::Network* network = nullptr;
  board::Board board;  // with the processors that the network may use only
  std::string engine;
  profile::Profile profile;
  explore::Problem problem, estimated;
  std::optional<explore::Problem> worst;  // of measured times
  plan::BuildOptions build = explore::build_options_under_deadlines();
  std::unique_ptr<explore::SearchContext> context, estimated_context;
};

struct GroupSourceOptions {
  std::vector<std::string> processors;  // for networks; empty: see processors_for_networks
  /// On this machine: tasks take the sums of their layers' worst cases, which are seldom all worst
  /// at once; else the medians and the deviation, until they are measured themselves.
  bool sums_of_worst = false;
  std::uint64_t seed = 1;
  const ProfileToUse* profile = nullptr;  // of the system; null: the stored ones, or measured now
  Context context = {};
};

/// All that are not CPU cores if one of them runs all operators, else all.
std::vector<std::string> processors_for_networks(const board::Board& board);

/// Modelled times if the system names a board, else measured ones.
std::unique_ptr<GroupSource> group_source(const system::System& system, system::GroupId group,
                                          const board::Board& board,
                                          std::pair<Networks&, const GroupSourceOptions&> with);

/// Leaves out of each assignment the engines that competed and run no layer of its plan. `sources`:
/// by GroupId; null: the group has no network.
void leave_out_engines(std::span<const std::shared_ptr<GroupSource>> sources,
                       const Context& context, deployment::Deployment& deployment);

/// Borrows the source and the board.
explore::GroupModel group_model(const GroupSource& source, const system::System& system,
                                system::GroupId group, const board::Board& board);
/// With layer-wise estimates of accelerators' times.
explore::GroupModel estimated_model(const GroupSource& source, const explore::GroupModel& actual);

}  // namespace millrace::api
