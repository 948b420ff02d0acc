#include "runtime/stage_times.h"

#include <algorithm>
#include <numeric>

#include "network/random_values.h"
#include "runtime/preparation.h"

namespace millrace::runtime {
namespace {

constexpr int warmup = 2;
constexpr std::size_t least_runs = 7, most_runs = 200;
constexpr Time enough = std::chrono::milliseconds(250);

/// A phase with buffers of its own.
class PhaseTrial {
 public:
  PhaseTrial(engine::Subnet& subnet, const network::Network& network, Random& random)
      : subnet_(subnet) {
    for (const engine::Port& port : subnet.inputs()) {
      buffers_.emplace_back(port.layout.size);
      network::fill_random(buffers_.back(), network[port.tensor].type, random);
      in_.push_back(buffers_.back().data());
    }
    for (const engine::Port& port : subnet.outputs()) {
      buffers_.emplace_back(port.layout.size);
      out_.push_back(buffers_.back().data());
    }
  }

  Time run() {
    const auto start = std::chrono::steady_clock::now();
    subnet_.run(in_, out_);
    return std::chrono::steady_clock::now() - start;
  }

 private:
  engine::Subnet& subnet_;
  std::vector<network::Buffer> buffers_;
  std::vector<const std::byte*> in_;
  std::vector<std::byte*> out_;
};

Time median(std::vector<Time> samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

StageTimes times_of(const plan::Stage& planned, const PreparedStage& stage,
                    const network::Network& network) {
  const board::PinGuard pinned(planned.processor);
  Random random(1);
  std::vector<PhaseTrial> trials;
  for (const auto& subnet : stage.subnets) trials.emplace_back(*subnet, network, random);
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
    result.push_back(times_of(plan.stages[s], stages[s], network));
  return result;
}

}  // namespace millrace::runtime
