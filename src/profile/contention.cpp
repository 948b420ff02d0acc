#include "profile/contention.h"

#include "base/random.h"
#include "profile/network_run.h"

namespace millrace::profile {
namespace {

/// Idle, but at work as far as the operating system can see.
void spin(Time duration) {
  const auto end = std::chrono::steady_clock::now() + duration;
  while (std::chrono::steady_clock::now() < end) {
  }
}

/// The network on one of the processors, again and again, with a rest before each run: so its
/// layers meet now these, now those of the other processors.
class Contender {
 public:
  Contender(Measured& measured, const MeasureOptions& options, std::uint64_t seed)
      : options_(options), measured_(&measured), random_(seed) {
    measured_->trial.start_again();
  }

  void run() {
    constexpr double longest_rest = 0.25;  // of a frame: the others are to meet somebody
    const Time frame = measured_->profile.whole.median;
    const board::PinGuard pinned(measured_->profile.processor);
    spin(time_from_seconds(seconds(frame) * random_.unit() * (runs_ == 0 ? 1 : longest_rest)));
    measured_->trial.run(one_run(options_));
    ++runs_;
    spent_ += frame;
  }
  bool has_enough() const {
    return runs_ >= options_.most || (runs_ >= options_.least && spent_ >= options_.duration);
  }
  void finish() {
    const NetworkRun run = measured_->trial.result();
    std::vector<LayerTimes>& layers = measured_->profile.layers;
    for (std::size_t i = 0; i < layers.size(); ++i) layers[i].contended = run.layers[i].together;
  }

 private:
  const MeasureOptions& options_;
  Measured* measured_;
  Random random_;
  int runs_ = 0;
  Time spent_{};
};

}  // namespace

void measure_contention(std::span<Measured> processors, const MeasureOptions& options) {
  if (processors.size() < 2 || !options.under_background_load) return;
  std::vector<Contender> contenders;
  for (Measured& measured : processors)
    contenders.emplace_back(measured, options, options.seed + contenders.size());
  for (Contender& contender : contenders) {
    if (contender.has_enough()) continue;  // as one of the others
    std::vector<std::function<void()>> others;
    for (Contender& other : contenders)
      if (&other != &contender) others.emplace_back([&other] { other.run(); });
    options.under_background_load(others, [&] {
      while (!contender.has_enough()) contender.run();
    });
  }
  for (Contender& contender : contenders) contender.finish();
}

}  // namespace millrace::profile
