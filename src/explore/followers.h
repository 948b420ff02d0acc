#pragma once
// Searches that ranks share: what the first one knows of this machine and has measured, on the
// others. All of them read the model and the other files.
#include <functional>
#include <optional>

#include "base/operation/ranks.h"
#include "explore/configuration/search.h"

namespace millrace::explore {

/// The first rank's; the others do not measure.
profile::Profile profile_of_first(Ranks* ranks, const std::function<profile::Profile()>& measured);
board::Board board_of_first(Ranks* ranks, const board::Board& here);

/// Before a search for the plan of a network: lets all other ranks, which are in follow(), begin
/// the same one. Nothing on these, and where there is one rank.
void lead(Ranks* ranks, const SearchPlace& place, const plan::BuildOptions& build);

/// What is not the first rank's: it stands in the words of the command, or in files.
struct Followed {
  const network::Network& network;
  std::optional<SearchOptions> search = {};  // if it is one over configurations
  ChooseOptions choose = {};
  Objectives objectives = {};
  Context context = {};
};
/// On all ranks but the first: searches as often as that one leads. Ends by RanksReleased.
[[noreturn]] void follow(const Followed& followed);
}  // namespace millrace::explore
