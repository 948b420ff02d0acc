#include "profile/limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "network/operator_kinds.h"

namespace millrace::profile {
namespace {

bool names(const std::vector<std::string>& operators, const network::Operator& op) {
  return std::find(operators.begin(), operators.end(), network::name_of(op)) != operators.end();
}

/// The first layer of the group that the layer is in.
std::size_t head_of(const std::vector<LayerTimes>& layers, std::size_t layer) {
  while (layers[layer].fused_into) layer = layers[layer].fused_into->index;
  return layer;
}

/// Layers of which some may not run do not run as one kernel.
void limit(std::vector<LayerTimes>& layers, const std::vector<Verdict>& verdicts) {
  std::vector<std::size_t> heads;
  std::vector<bool> broken(layers.size());  // by head
  for (std::size_t i = 0; i < layers.size(); ++i) {
    heads.push_back(head_of(layers, i));
    if (!verdicts[i]) broken[heads[i]] = true;
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (!broken[heads[i]]) continue;
    LayerTimes own;
    own.variant = layers[i].variant;
    if (verdicts[i]) own.together = own.alone = layers[i].alone;
    own.refusal = verdicts[i].reason();
    own.refused_by_board = !verdicts[i];
    layers[i] = std::move(own);
  }
}

}  // namespace

Verdict within_limits(const board::Limits& limits, board::Precision precision,
                      const network::Operator& op) {
  const auto& allowed = limits.precisions;
  if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), precision) == allowed.end())
    return Verdict::no(fmt::format("its SDK does not run {}", to_text(precision)));
  if (network::is_reshape(op)) return Verdict::yes();
  const bool listed = limits.operators.empty() || names(limits.operators, op);
  if (!listed || names(limits.not_operators, op))
    return Verdict::no(fmt::format("its SDK does not run {}", network::name_of(op)));
  return Verdict::yes();
}

Profile within_limits(Profile profile, const network::Network& network, const board::Board& board) {
  for (ProcessorProfile& each : profile.processors) {
    const board::Device* device = board::device_of(board, each.processor);
    if (device == nullptr) continue;
    std::vector<Verdict> verdicts;
    for (const network::Layer& layer : network.layers)
      verdicts.push_back(within_limits(device->limits, each.precision, layer.op));
    limit(each.layers, verdicts);
  }
  return profile;
}

Profile within_engine(Profile profile, const network::Network& network,
                      const engine::Engine& engine) {
  for (ProcessorProfile& each : profile.processors) {
    const bool is_core = each.processor.kind == board::ProcessorKind::cpu;
    if (is_core || !engine.traits(each.processor)) continue;
    std::vector<Verdict> verdicts;
    for (std::size_t i = 0; i < network.layers.size(); ++i)
      verdicts.push_back(network::is_reshape(network.layers[i].op)
                             ? Verdict::yes()
                             : engine.supports(network, LayerId(i), each.processor));
    limit(each.layers, verdicts);
  }
  return profile;
}

}  // namespace millrace::profile
