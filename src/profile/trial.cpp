#include "profile/trial.h"

#include "base/interleaved.h"
#include "network/random_values.h"

namespace millrace::profile {
Trial::Trial(std::unique_ptr<engine::Subnet> subnet, const network::Network& network,
             std::uint64_t seed)
    : subnet_(std::move(subnet)) {
  Random random(seed);
  for (const engine::Port& port : subnet_->inputs()) {
    buffers_.emplace_back(port.layout.size);
    network::fill_random(buffers_.back().bytes(), network[port.tensor].type, random);
    in_.push_back(buffers_.back().data());
  }
  for (const engine::Port& port : subnet_->outputs()) {
    buffers_.emplace_back(port.layout.size);
    out_.push_back(buffers_.back().data());
  }
}

Time Trial::run() {
  const auto start = std::chrono::steady_clock::now();
  subnet_->run(in_, out_);
  return std::chrono::steady_clock::now() - start;
}

std::vector<engine::GroupTime> Trial::run_timed() { return subnet_->run_timed(in_, out_); }

MeasureOptions one_run(MeasureOptions options) {
  options.warmup = 0;
  options.least = options.most = 1;
  return options;
}

void repeat(const MeasureOptions& options, const std::function<Time(bool counted)>& once) {
  const auto looked = [&](bool counted) {
    if (options.look) options.look();
    return once(counted);
  };
  for (int i = 0; i < options.warmup; ++i) looked(false);
  const RoundLimits limits{options.most, options.least, options.duration};
  Time spent{};
  for (int round = 0; !limits.reached(round, spent); ++round) spent += looked(true);
}

Statistics time_of(Trial& trial, const MeasureOptions& options) {
  std::vector<Time> samples;
  repeat(options, [&](bool counted) {
    const Time time = trial.run();
    if (counted) samples.push_back(time);
    return time;
  });
  return statistics_of(std::move(samples));
}

}  // namespace millrace::profile
