#pragma once
// The engines that are here, and what they can.
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "board/board.h"
#include "engine/device.h"
#include "network/network.h"
#include "product/context.h"
#include "profile/views/plain_loops.h"

namespace millrace::product {

struct EngineVersion {
  std::string name, version;
  std::string absent = {};  // why it is not in this build; empty: it is
  bool competes = false;    // `plan` measures it on this machine's cores, or would if it were here
};
/// In the order of preference, then those that are absent.
std::vector<EngineVersion> engines(const millrace::Context& context = {});

/// The GPUs and NPUs that the engines reach.
std::vector<engine::ReachedDevice> devices(const millrace::Context& context = {});

/// By engine: the layers it cannot run, with its reasons, and in which precisions it can run how
/// many of those that it has a choice for.
struct Support {
  std::string engine;
  std::string device = {};  // that it was asked about; empty: the board's first processor
  std::size_t supported = 0;
  std::vector<std::pair<LayerId, std::string>> refused = {};
  std::map<board::Precision, std::size_t> precisions = {};
  /// The layers without a fast kernel, by one run with inputs of zeros. Nothing if there are none,
  /// if the engine has nothing else, is not the one by default or does not run the whole network,
  /// or if a run would take long: 20 G operations, or 2 GiB of tensors.
  std::optional<profile::PlainLoops> plain_loops = {};
};

/// By engine, on the board's first processor; of an engine that runs nothing there, on the first
/// device that it reaches.
std::vector<Support> supports(const network::Network& network, const board::Board& board,
                              const millrace::Context& context = {});

/// Peaks of this machine, by processor: one at a time, then all at once.
struct MeasuredPeaks {
  std::vector<board::Peaks> alone, together;
};
MeasuredPeaks measure_peaks(const board::Board& board);

}  // namespace millrace::product
