#pragma once
// Why a layer is where it is.
#include <optional>
#include <string>
#include <vector>

#include "board/board.h"
#include "board/variant.h"
#include "explore/choose.h"
#include "explore/configuration/configuration.h"

namespace millrace::explore {

/// What crosses between processors for each frame: every tensor once for each other processor that
/// reads it, in the precision of the layer that makes it.
Bytes crossing_bytes(const SearchContext& context, const plan::Mapping& mapping);

/// One sentence for each other processor: that it cannot run the layer, why, and who says so; or
/// how much slower the layer would be there, what would cross between processors, what the slowest
/// stage would take, and which limit of the board that would break.
std::vector<std::string> reasons(const SearchContext& context, const plan::Mapping& mapping,
                                 LayerId layer);

/// Why no layer is there, though all could be: half a sentence. Of one behind a link, what crosses
/// that at least.
std::string why_unused(const Problem& problem, ProcessorId processor);

/// For each accelerator that the plan leaves idle: why. One sentence each.
std::vector<std::string> idle_accelerators(const network::Network& network,
                                           const board::Board& board, const Problem& problem,
                                           const plan::Plan& plan);

struct LayerReasons {
  LayerId layer;
  board::Processor processor;
  std::optional<LayerId> fused_with;
  board::Variant variant;  // on one frame
  std::vector<std::string> reasons;
};

/// In the plan that was chosen.
LayerReasons reasons_in(const SearchContext& context, const Candidate& chosen, LayerId layer);

}  // namespace millrace::explore
