#include "runtime/stage_times.h"

#include <algorithm>
#include <numeric>

#include "network/random_values.h"
#include "runtime/preparation.h"
#include "runtime/slots.h"

namespace millrace::runtime {
namespace {

constexpr int warmup = 2;
constexpr std::size_t least_runs = 7, most_runs = 200;
constexpr Time enough = std::chrono::milliseconds(250);

std::int64_t capacity_of(const plan::Plan& plan, TensorId tensor) {
  std::int64_t capacity = 1;
  for (const plan::Channel& channel : plan.channels)
    if (channel.tensor == tensor) capacity = std::max(capacity, channel.capacity);
  return capacity;
}

/// A phase with slots of its own, as many as it has in the pipeline: what a frame leaves in a cache
/// helps the next one no more than there.
class PhaseTrial {
 public:
  PhaseTrial(engine::Subnet& subnet, const plan::Plan& plan, const network::Network& network)
      : subnet_(subnet) {
    Random random(1);
    const auto slots_for = [&](const engine::Port& port) {
      return Slots(network[port.tensor].name, port.layout.size, capacity_of(plan, port.tensor));
    };
    for (const engine::Port& port : subnet.inputs()) {
      inputs_.push_back(slots_for(port));
      for (std::int64_t frame = 0; frame < inputs_.back().capacity(); ++frame)
        network::fill_random(
            {inputs_.back().of(frame), static_cast<std::size_t>(port.layout.size.count)},
            network[port.tensor].type, random);
    }
    for (const engine::Port& port : subnet.outputs()) outputs_.push_back(slots_for(port));
  }

  Time run() {
    std::vector<const std::byte*> in;
    std::vector<std::byte*> out;
    for (Slots& slots : inputs_) in.push_back(slots.of(frame_));
    for (Slots& slots : outputs_) out.push_back(slots.of(frame_));
    ++frame_;
    const auto start = std::chrono::steady_clock::now();
    subnet_.run(in, out);
    return std::chrono::steady_clock::now() - start;
  }

 private:
  engine::Subnet& subnet_;
  std::vector<Slots> inputs_, outputs_;  // in the order of the subnet's ports
  std::int64_t frame_ = 0;
};

Time median(std::vector<Time> samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

StageTimes times_of(std::size_t number, const PreparedStage& stage, const plan::Plan& plan,
                    const network::Network& network) {
  const plan::Stage& planned = plan.stages[number];
  const board::PinGuard pinned(planned.processor);
  std::vector<PhaseTrial> trials;
  for (const auto& subnet : stage.subnets) trials.emplace_back(*subnet, plan, network);
  std::vector<std::vector<Time>> samples(trials.size());
  Time spent{};
  for (int i = 0; i < warmup; ++i)
    for (PhaseTrial& trial : trials) trial.run();
  while (samples[0].size() < least_runs || (spent < enough && samples[0].size() < most_runs))
    for (std::size_t p = 0; p < trials.size(); ++p) {
      samples[p].push_back(trials[p].run());
      spent += samples[p].back();
    }
  StageTimes result;
  for (std::size_t p = 0; p < samples.size(); ++p)
    result.phases.push_back(median(std::move(samples[p])) / planned.phases[p].batch);
  return result;
}

}  // namespace

Time StageTimes::total() const { return std::accumulate(phases.begin(), phases.end(), Time{}); }

std::vector<StageTimes> stage_times(const plan::Plan& plan, const network::Network& network,
                                    const std::map<std::string, engine::Engine*>& engines) {
  std::vector<StageTimes> result;
  const std::vector<PreparedStage> stages = prepare({plan, network, engines}, true);
  for (std::size_t s = 0; s < stages.size(); ++s)
    result.push_back(times_of(s, stages[s], plan, network));
  return result;
}

}  // namespace millrace::runtime
