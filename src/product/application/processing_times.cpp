#include "product/application/processing_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "application/application_file.h"
#include "application/run.h"
#include "application/source.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "runtime/sequential.h"

namespace millrace::product {
namespace {

using application::InputKind;
using application::Totals;

constexpr std::size_t rounds_of_frames = 3;
constexpr std::int64_t first_frames = 2;  // what is set up for them counts for no round
constexpr std::int64_t fewest_frames = 3, most_frames = 64;
constexpr double seconds_of_round = 1;

/// The application's frames on one core, as often as wanted.
class InTurn {
 public:
  explicit InTurn(const ProcessingMeasurement& of)
      : of_(of),
        loaded_(load_processing(of.application.file, of.application.application(), of.network)),
        network_(of.network, of.engine, of.processor) {
    if (is_of_application(of.application, of.frames))
      replace_input(loaded_->application, of.frames);
  }

  const application::Application& application() const { return loaded_->application; }

  /// Over so many frames of all inputs together, at most but for those that come together.
  Totals run(std::int64_t frames) {
    application::Application shown = loaded_->application;
    const auto inputs = static_cast<std::int64_t>(shown.inputs().size());
    take_first(shown.input, (frames + inputs - 1) / inputs);
    for (application::Input& each : shown.beside) take_first(each, (frames + inputs - 1) / inputs);
    const board::PinGuard pinned(of_.processor);
    const auto source = application::open_source(shown, loaded_->network());
    application::Parts parts = loaded_->parts(*source);
    parts.skip = [](const InputError&) {};
    return application::run_in_turn(shown, parts, network_,
                                    [&](const auto&) { interrupt_.check(); });
  }

 private:
  static void take_first(application::Input& input, std::int64_t frames) {
    input.frames = input.frames > 0 ? std::min(input.frames, frames) : frames;
  }

  const ProcessingMeasurement& of_;
  std::unique_ptr<application::LoadedApplication> loaded_;
  runtime::Sequential network_;
  InterruptGuard interrupt_{of_.context.interrupt};
};

bool has_camera(const ProcessingMeasurement& of) {
  if (is_of_application(of.application, of.frames) && !of.frames.inputs.empty()) return false;
  const auto inputs = application::read_application(of.application.file).inputs();
  return std::ranges::any_of(
      inputs, [](const application::Input& input) { return input.kind == InputKind::camera; });
}

Time middle(std::array<Time, rounds_of_frames> times) {
  std::ranges::sort(times);
  return times[rounds_of_frames / 2];
}

/// The median of what the rounds took for a frame.
template <class Part>
Time median_of(const std::array<Totals, rounds_of_frames>& rounds, const Part& part) {
  std::array<Time, rounds_of_frames> times;
  std::ranges::transform(rounds, times.begin(), [&](const Totals& round) {
    return part(round.times) / std::max<std::int64_t>(1, round.frames);
  });
  return middle(times);
}

}  // namespace

std::optional<plan::ProcessingTimes> measure_processing(const ProcessingMeasurement& of) {
  if (has_camera(of)) {
    of.context.note(
        "a camera is not opened to measure pre- and post-processing, which count nothing; give "
        "them with ⟨pre_time⟩ and ⟨post_time⟩, or a folder of its pictures with ⟨input⟩");
    return std::nullopt;
  }
  const auto work = of.context.begin("measuring pre- and post-processing");
  InTurn application(of);
  application.run(first_frames);
  const Totals first = application.run(first_frames);
  if (first.frames == 0)
    throw InputError(application.application().input.place,
                     "there are no frames to measure pre- and post-processing on");
  const double frame = seconds(first.elapsed) / static_cast<double>(first.frames);
  const auto fitting = static_cast<std::int64_t>(seconds_of_round / std::max(frame, 1e-6));
  std::array<Totals, rounds_of_frames> rounds;
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    rounds[round] = application.run(std::clamp(fitting, fewest_frames, most_frames));
    work->show(static_cast<double>(round + 1) / rounds_of_frames, "");
  }
  using application::StepTimes;
  plan::ProcessingTimes times;
  times.frames = rounds.front().frames;
  times.reading = median_of(rounds, [](const StepTimes& each) { return each.reading; });
  times.pre = times.reading + median_of(rounds, [](const StepTimes& each) { return each.before; });
  times.post = median_of(rounds, [](const StepTimes& each) { return each.after; });
  return times;
}

}  // namespace millrace::product
