#pragma once
// How long a network takes on a configuration of compute elements, by the cost model.
#include <optional>
#include <span>
#include <string>

#include "board/variant.h"
#include "explore/admission/elements.h"
#include "network/network.h"

namespace millrace::explore {

/// A variant of a network.
struct VariantTime {
  std::optional<Time> time = {};  // nothing: there is none, for this reason
  board::Precision precision = board::Precision::f32;
  std::string refusal = {};
  LinkTimes transfers = {};  // of the network's inputs and outputs, where the element has a link
};

/// The whole network, one layer after the other, in the fastest of the precisions. Layers that the
/// element's SDK does not run go to one core of `host`, with a border before and behind each run of
/// them; their load of that core, which is a reserved one, is not counted elsewhere. Nor are the
/// transfers of such layers: only those of the network's inputs and outputs are.
VariantTime modelled_variant(const network::Network& network, const Element& element,
                             const board::Board& host,
                             std::span<const board::Precision> precisions);

}  // namespace millrace::explore
