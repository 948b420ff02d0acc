#include "explore/admission/variants.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/error.h"
#include "profile/cost_model.h"

namespace millrace::explore {
namespace {

/// The element, and a core of the host that takes over what the element cannot run.
board::Board with_host(const Element& element, const board::Board& host) {
  board::Board board = element.board;
  if (board.processors[0].kind == board::ProcessorKind::cpu) return board;
  for (const board::Device& device : host.devices) {
    if (device.kind != board::ProcessorKind::cpu) continue;
    board.devices.push_back(device);
    const std::vector<board::Processor> cores = processors_of(device);
    board.processors.push_back(cores.back());
    break;
  }
  return board;
}

/// The modelled time: on the first processor, and where that refuses, on the second.
Time time_of(const profile::Profile& profile) {
  const profile::ProcessorProfile& element = profile.processors.front();
  const profile::ProcessorProfile& host = profile.processors.back();
  Time sum = element.borders->launch;
  bool on_host = false;
  for (std::size_t layer = 0; layer < element.layers.size(); ++layer) {
    const bool refused = !element.layers[layer].refusal.empty();
    if (refused != on_host) sum += element.borders->border;
    if (!refused && on_host) sum += element.borders->launch;
    on_host = refused;
    sum += (refused ? host : element).layers[layer].together.median;
  }
  return sum;
}

/// In the bytes of the precision, as the cost model counts what crosses.
Time transfer_time(const network::Network& network, const std::vector<TensorId>& tensors,
                   const std::pair<board::Precision, double>& at) {
  const auto& [precision, bytes_per_second] = at;
  double elements = 0;
  for (const TensorId tensor : tensors)
    elements += static_cast<double>(network::element_count(network[tensor].shape));
  return Time(static_cast<std::int64_t>(
      std::ceil(elements * board::bytes_per_element(precision) / bytes_per_second * 1e9)));
}

LinkTimes transfers_on(const network::Network& network, const Element& element,
                       board::Precision precision) {
  const std::optional<double>& transfer = element.board.devices.front().costs.transfer;
  if (!transfer) return {};
  return {transfer_time(network, network.inputs, {precision, *transfer}),
          transfer_time(network, network.outputs, {precision, *transfer})};
}

}  // namespace

VariantTime modelled_variant(const network::Network& network, const Element& element,
                             const board::Board& host,
                             std::span<const board::Precision> precisions) {
  const board::Board board = with_host(element, host);
  VariantTime best{.refusal = "none of its precisions"};
  for (const board::Precision precision : precisions) {
    if (!board::peaks_of(board, board.processors[0]).operations.contains(precision)) continue;
    try {
      const Time time = time_of(profile::modelled(network, board, {precision}));
      const LinkTimes transfers = transfers_on(network, element, precision);
      if (!best.time || time < *best.time) best = {time, precision, {}, transfers};
    } catch (const InputError& error) {
      if (!best.time) best.refusal = error.what();
    }
  }
  return best;
}

}  // namespace millrace::explore
