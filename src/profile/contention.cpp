#include "profile/contention.h"

#include <memory>

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
  Contender(const Subject& subject, ProcessorProfile& profile)
      : once_(one_run(subject.options)), profile_(&profile) {
    const board::PinGuard pinned(profile.processor);
    trial_ = std::make_unique<PassTrial>(subject, variants_of(profile.layers));
    trial_->run(once_);
  }

  void run() {
    const board::PinGuard pinned(profile_->processor);
    trial_->run(once_);
  }

  void measure(const MeasureOptions& options) {
    const board::PinGuard pinned(profile_->processor);
    Random random(options.seed);
    trial_->start_again();
    trial_->run(once_);
    const Time frame = trial_->result().whole.median;
    trial_->start_again();
    MeasureOptions counted = options;
    counted.warmup = 0;
    repeat(counted, [&](bool) {
      const Time wait = time_from_seconds(seconds(frame) * random.unit());
      spin(wait);
      trial_->run(once_);
      return wait + frame;
    });
    const Pass pass = trial_->result();
    for (std::size_t i = 0; i < profile_->layers.size(); ++i)
      profile_->layers[i].contended = pass.layers[i].together;
  }

 private:
  MeasureOptions once_;
  ProcessorProfile* profile_;
  std::unique_ptr<PassTrial> trial_;
};

}  // namespace

void measure_contention(const network::Network& network, engine::Engine& engine,
                        std::span<ProcessorProfile> profiles, const MeasureOptions& options) {
  if (profiles.size() < 2 || !options.meanwhile) return;
  std::vector<Contender> contenders;
  for (ProcessorProfile& profile : profiles)
    contenders.emplace_back(Subject{network, engine, profile.processor, options}, profile);
  for (Contender& measured : contenders) {
    std::vector<std::function<void()>> others;
    for (Contender& other : contenders)
      if (&other != &measured) others.emplace_back([&other] { other.run(); });
    options.meanwhile(others, [&] { measured.measure(options); });
  }
}

}  // namespace millrace::profile
