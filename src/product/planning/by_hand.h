#pragma once
// Plans whose stages somebody wrote down: `plan --cut-points --devices`, an application's mapping.
#include "application/application.h"
#include "explore/choose.h"

namespace millrace::product {

/// The layers with which stages end, all but the last one's. InputError at the mapping's place if
/// one is not in the network, or they do not rise.
std::vector<std::size_t> cuts_of(const application::ByHand& mapping,
                                 const network::Network& network);

/// In which precision each layer is, by its stage; empty if the mapping does not say.
std::vector<board::Precision> precisions_by_layer(const application::ByHand& mapping,
                                                  const network::Network& network);

/// That plan, measured as `choose` says beside one processor alone, which never wins. InputError
/// where the mapping is none of this network and board: unknown devices. Layers that one
/// kernel would fuse may be separated: then each runs as a kernel of its own.
struct HandPlace {
  const network::Network& network;  // borrowed, like the others
  const board::Board& board;
  const profile::Profile& profile;
};
explore::Choice choose_by_hand(const HandPlace& place, const application::ByHand& mapping,
                               const explore::ChooseOptions& choose);

}  // namespace millrace::product
