#include "profile/fitting/fit_board.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/quantity.h"
#include "board/shipped.h"
#include "profile/fit.h"

namespace millrace::profile {
namespace {

struct PublishedTotal {
  std::string device;
  Time time{};
};

PublishedTotal read_total(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw InputError("⟨total⟩ " + text, "expected DEVICE=TIME, such as gpu=7.3ms");
  return {text.substr(0, equals), read_duration(text.substr(equals + 1), "⟨total⟩ " + text)};
}

void add_source(board::Board& board, const std::string& text) {
  const std::string name = "fit";
  std::erase_if(board.sources, [&](const board::Source& each) { return each.name == name; });
  board.sources.push_back({name, text, {}, true});
  for (board::Device& device : board.devices)
    for (board::Efficiency& each : device.efficiency)
      if (each.origins == board::Origins{}) each.origins.all = name;
}

/// Samples from all networks: what was measured on processors of the device in the precision.
std::vector<Sample> samples_on(const board::Board& board, const board::Device& device,
                                        const std::vector<MeasuredNetwork>& measured) {
  std::vector<Sample> samples;
  for (const MeasuredNetwork& each : measured)
    for (const ProcessorProfile& p : each.profile.processors) {
      if (board::device_of(board, p.processor) != &device || p.precision != board::Precision::f32)
        continue;
      const auto more = samples_of(each.network, p);
      samples.insert(samples.end(), more.begin(), more.end());
    }
  return samples;
}

}  // namespace

board::Board fit_to_totals(const FitOptions& options, const network::Network& network,
                   board::Precision precision) {
  if (options.board.empty())
    throw InputError("⟨total⟩", "is for a board that is not this machine; name it with ⟨board⟩");
  if (!options.also.empty())
    throw InputError("⟨also⟩ " + options.also.front(),
                     "is measured, but ⟨total⟩ is not; give only one of them");
  board::Board board = board::find_board(options.board);
  for (const std::string& text : options.totals) {
    const PublishedTotal total = read_total(text);
    board = fitted_to_total(board, total.device, {network, total.time, precision});
  }
  add_source(board, fmt::format("the share of the peak that gives the published time of {}",
                                network.name));
  return board;
}

board::Board fit_to_profiles(const FitOptions& options,
                             const std::vector<MeasuredNetwork>& measured,
                             const std::function<board::Board()>& this_machine) {
  board::Board board = options.board.empty() ? this_machine() : board::find_board(options.board);
  bool any = false;
  for (board::Device& device : board.devices) {
    const auto samples = samples_on(board, device, measured);
    if (samples.empty()) continue;
    const board::Peaks peaks = board::peaks_of(board, board::processors_of(device).front());
    if (!peaks.operations.contains(board::Precision::f32) || peaks.bytes <= 0)
      throw InputError(options.board,
                       fmt::format("says no peak in f32 or no bandwidth of {}; write it with "
                                   "`millrace board ⟨measure⟩ ⟨write⟩ FILE`",
                                   device.name));
    device = fitted(device, samples, peaks, board::Precision::f32);
    any = true;
  }
  if (!any)
    throw InputError(options.board,
                     "has no device with a processor of this machine; give ⟨total⟩ DEVICE=TIME for "
                     "a board that is not at hand");
  add_source(board, "fitted to layers that Millrace measured on this machine");
  return board;
}

}  // namespace millrace::profile
