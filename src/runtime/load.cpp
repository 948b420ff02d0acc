#include "runtime/load.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/random.h"

namespace millrace::runtime {
namespace {

using Clock = std::chrono::steady_clock;

/// Frames on their way, over one or several sessions in turn; all of them are kept full.
class ClosedLoop {
 public:
  ClosedLoop(const std::vector<Session*>& sessions, std::vector<network::Array> inputs)
      : sessions_(sessions), inputs_(std::move(inputs)) {}

  /// Fills up, then takes one result.
  Time step() {
    for (Session* session : sessions_)
      while (session->try_submit(inputs_)) ++submitted_;
    return take();
  }
  void drain() {
    while (received_ < submitted_) take();
  }

 private:
  Time take() {
    return sessions_[static_cast<std::size_t>(received_++) % sessions_.size()]->next()->latency;
  }

  const std::vector<Session*>& sessions_;
  std::vector<network::Array> inputs_;
  std::int64_t submitted_ = 0, received_ = 0;
};

}  // namespace

Time first_latency(Session& session, const network::Network& network, std::uint64_t seed) {
  session.submit(random_inputs(network, seed));
  return session.next()->latency;
}

Load run_load(const std::vector<Session*>& sessions, const network::Network& network,
              const LoadOptions& options) {
  Load load;
  ClosedLoop loop(sessions, random_inputs(network, options.seed));
  for (std::int64_t i = 0; i < options.warmup; ++i) loop.step();
  const auto start = Clock::now();
  while (load.frames < options.least || Clock::now() - start < options.duration) {
    load.latencies.push_back(loop.step());
    ++load.frames;
  }
  load.elapsed = Clock::now() - start;
  loop.drain();
  return load;
}

std::vector<network::Array> random_inputs(const network::Network& network, std::uint64_t seed) {
  Random random(seed);
  std::vector<network::Array> inputs;
  for (const TensorId id : network.inputs) {
    network::Buffer memory(network[id].size());
    if (network[id].type == network::DataType::float32)
      for (float& value : std::span(reinterpret_cast<float*>(memory.data()),
                                    static_cast<std::size_t>(memory.size().count) / sizeof(float)))
        value = random.uniform(-1, 1);
    inputs.push_back(network::make_array(network[id].type, network[id].shape, std::move(memory)));
  }
  return inputs;
}

Time percentile(const std::vector<Time>& sorted, double share) {
  const double rank = std::ceil(share * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

}  // namespace millrace::runtime
