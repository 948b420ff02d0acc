#include "profile/contention.h"

#include "base/random.h"
#include "profile/pass.h"

namespace millrace::profile {
namespace {

/// Idle, but at work as far as the operating system can see.
void spin(Time duration) {
  const auto end = std::chrono::steady_clock::now() + duration;
  while (std::chrono::steady_clock::now() < end) {
  }
}

/// The network on one of the processors.
class Contender {
 public:
  Contender(Measured& measured, const MeasureOptions& options)
      : once_(one_run(options)), measured_(&measured) {}

  void run() {
    const board::PinGuard pinned(measured_->profile.processor);
    measured_->trial.run(once_);
  }

  void measure(const MeasureOptions& options) {
    const board::PinGuard pinned(measured_->profile.processor);
    Random random(options.seed);
    const Time frame = measured_->profile.whole.median;
    measured_->trial.start_again();
    MeasureOptions counted = options;
    counted.warmup = 0;
    repeat(counted, [&](bool) {
      const Time wait = time_from_seconds(seconds(frame) * random.unit());
      spin(wait);
      measured_->trial.run(once_);
      return wait + frame;
    });
    const Pass pass = measured_->trial.result();
    std::vector<LayerTimes>& layers = measured_->profile.layers;
    for (std::size_t i = 0; i < layers.size(); ++i) layers[i].contended = pass.layers[i].together;
  }

 private:
  MeasureOptions once_;
  Measured* measured_;
};

}  // namespace

void measure_contention(std::span<Measured> processors, const MeasureOptions& options) {
  if (processors.size() < 2 || !options.meanwhile) return;
  std::vector<Contender> contenders;
  for (Measured& measured : processors) contenders.emplace_back(measured, options);
  for (Contender& measured : contenders) {
    std::vector<std::function<void()>> others;
    for (Contender& other : contenders)
      if (&other != &measured) others.emplace_back([&other] { other.run(); });
    options.meanwhile(others, [&] { measured.measure(options); });
  }
}

}  // namespace millrace::profile
