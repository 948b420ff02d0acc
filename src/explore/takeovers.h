#pragma once
// Plans that are prepared for the loss of boards.
#include <string>
#include <vector>

#include "board/board.h"
#include "network/network.h"
#include "plan/takeovers.h"
#include "profile/profile.h"

namespace millrace::explore {

/// What the first plan was searched with. Borrowed.
struct PlannedNetwork {
  const network::Network& network;
  const board::Board& board;
  const profile::Profile& profile;
  const std::string& engine;  // by which stages are built
};

struct Takeovers {
  std::vector<plan::Takeover> plans;
  std::vector<std::string> texts;  // by loss, a sentence: what takes over, or why nothing does
};

/// For each loss, the plan that the predictions favour on the processors that remain. Nothing if
/// the first plan uses none of the boards. `losses`: sets of names, as board::losses_of().
Takeovers takeovers(const PlannedNetwork& planned, const plan::PlanFile& first,
                    const std::vector<std::vector<std::string>>& losses);

}  // namespace millrace::explore
