#include "analysis/link_energy.h"

#include <algorithm>
#include <set>
#include <utility>

namespace millrace::analysis {
namespace {

/// On the wire; tensors that are not of float32 cross as they are.
double bytes_of(const network::Tensor& tensor, const board::Link& link) {
  const auto bytes = static_cast<double>(tensor.size().count);
  if (tensor.type != network::DataType::float32) return bytes;
  return bytes * static_cast<double>(board::bytes_on_wire(link.wire)) / sizeof(float);
}

bool is_over(const plan::Phase& phase, const board::Link& link) {
  return phase.transfer && (phase.transfer->from == link.board || phase.transfer->to == link.board);
}

/// Of its frames, how many the stage works on behind the link, where it moves tensors itself.
double share_over(const plan::Stage& stage, const board::Link& link) {
  if (!stage.space.empty() || plan::is_copying(stage)) return 0;
  const auto there = std::ranges::count_if(stage.processors, [&](const board::Processor& each) {
    return each.name.starts_with(link.board + ".");
  });
  return static_cast<double>(there) / static_cast<double>(stage.processors.size());
}

/// What goes in and comes out, each tensor once.
double bytes_around(const plan::Plan& plan, std::size_t stage, const network::Network& network,
                    const board::Link& link) {
  std::set<std::pair<TensorId, bool>> moved;
  for (const plan::Channel& channel : plan.channels) {
    if (channel.from.stage == channel.to.stage) continue;
    if (channel.from.stage == stage) moved.emplace(channel.tensor, false);
    if (channel.to.stage == stage) moved.emplace(channel.tensor, true);
  }
  double bytes = 0;
  for (const auto& [tensor, is_in] : moved) bytes += bytes_of(network[tensor], link);
  return bytes;
}

double bytes_over(const plan::Plan& plan, const network::Network& network,
                  const board::Link& link) {
  double bytes = 0;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const plan::Stage& stage = plan.stages[s];
    for (const plan::Phase& phase : stage.phases)
      if (is_over(phase, link)) bytes += bytes_of(network[phase.transfer->tensor], link);
    if (const double share = share_over(stage, link); share > 0)
      bytes += share * bytes_around(plan, s, network, link);
  }
  return bytes;
}

}  // namespace

std::vector<board::DeviceEnergy> link_energy(const plan::Plan& plan,
                                             const network::Network& network,
                                             std::span<const board::Link> links) {
  constexpr double mj_of_nj = 1e-6;
  std::vector<board::DeviceEnergy> result;
  for (const board::Link& link : links)
    if (const double energy = bytes_over(plan, network, link) * link.nj_per_byte * mj_of_nj;
        energy > 0)
      result.push_back({link.board + ".link", 0, energy, link.board});
  return result;
}

}  // namespace millrace::analysis
