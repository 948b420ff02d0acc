#pragma once
// Layers that are where they are because the processor around them cannot run them.
#include <string>
#include <vector>

#include "explore/configuration/configuration.h"

namespace millrace::explore {

/// A layer that `wanted` cannot run, between layers that are on `wanted`.
struct Fallback {
  LayerId layer;
  ProcessorId wanted;
  bool operator==(const Fallback&) const = default;
};

/// Fallbacks of a mapping, by layer. What the layer reads comes from `wanted`, and what reads its
/// results is there; instead of the layer there may be several behind each other that `wanted`
/// cannot run. At the ends of a network there are none, and none where the mapping leaves a
/// processor for layers that it could run as well: these are the same mappings that the searches
/// over configurations have with stages none of whose layers goes elsewhere.
std::vector<Fallback> fallbacks(const Problem& problem, const plan::Mapping& mapping);

/// "relu3 (Relu) does not run on npu0, which has the layers around it: ...", and how many more
/// there are. Precondition: there is one.
std::string text_of(const std::vector<Fallback>& fallbacks, const SearchContext& context);

/// For each processor that cannot run some layer, the first of these and why.
std::vector<std::string> first_refusals(const SearchContext& context);

}  // namespace millrace::explore
