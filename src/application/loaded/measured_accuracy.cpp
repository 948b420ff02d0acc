#include "application/loaded/measured_accuracy.h"

#include <fmt/format.h>

#include <chrono>

#include "base/interrupt.h"

namespace millrace::application {

const GroundTruth& checked_truth(const LoadedApplication& loaded) {
  const Application& application = loaded.application;
  for (const Input& input : application.inputs())
    if (input.kind != InputKind::images) return *loaded.truth;
  std::vector<std::string> names;
  const auto source = open_source(application, loaded.network());
  while (auto picture = source->next()) names.push_back(std::move(picture->name));
  check_names(*loaded.truth, names);
  return *loaded.truth;
}

Accuracy measure_accuracy(const LoadedApplication& loaded) {
  const runtime::Loaded& network = *loaded.loaded;
  const InterruptGuard interrupt(network.context.interrupt);
  const auto work = network.context.begin("measuring the accuracy");
  AccuracyMeter meter(checked_truth(loaded), loaded.application);
  const auto source = open_source(loaded.application, loaded.network());
  auto session = deploy(network, network.plan, loaded.application.file, {});
  Run run(loaded.application, loaded.parts_for_truth(*source), session,
                       [&](const Outcome& outcome) { meter.take(outcome); });
  constexpr std::chrono::milliseconds look_up{100};
  while (!run.wait_for(look_up)) interrupt.check();
  return meter.result();
}

void note_left_out(const Accuracy& accuracy, const Context& context) {
  if (accuracy.without_truth > 0)
    context.note(fmt::format("{} of {} frames have no ground truth and do not count",
                             accuracy.without_truth, accuracy.frames + accuracy.without_truth));
  if (accuracy.not_seen > 0)
    context.note(fmt::format("the ground truth has {} more {}, which did not come and do not count",
                             accuracy.not_seen, accuracy.not_seen == 1 ? "frame" : "frames"));
}

}  // namespace millrace::application
