#include "simulate/simulate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "simulate/simulation.h"

namespace millrace::simulate {
namespace {

/// What the frames asked for may last, so that no sum of times overflows: 12 years.
constexpr double longest_s = 4e8;

void check_durations(const Application& application) {
  if (!application.durations.fits(application.plan))
    throw InputError(application.name, "has other phases than the times given for it");
  for (const auto& phases : application.durations)
    for (const Duration& duration : phases)
      if (duration.best < Time{} || duration.worst < duration.best)
        throw InputError(application.name,
                         fmt::format("found a phase that takes between {} and {}, expected a "
                                     "worst time not below the best, and none below 0",
                                     to_text(duration.best), to_text(duration.worst)));
}

void check_recorded(const Application& application) {
  if (application.recorded.empty()) return;
  if (!application.recorded.fits(application.plan))
    throw InputError(application.name,
                     "has other phases than its recorded trace; record this plan");
  for (const auto& phases : application.recorded)
    for (const auto& firings : phases)
      if (firings.empty() || std::any_of(firings.begin(), firings.end(), [](const auto& firing) {
            return firing.time < Time{} || firing.frames < 1;
          }))
        throw InputError(application.name,
                         "the trace has a phase without firings, or a firing with a negative time; "
                         "record the plan again with `millrace bench PLAN ⟨trace⟩ FILE`");
}

void check_release(const Application& application) {
  const Release& release = application.release;
  const auto fail = [&](const std::string& text) { throw InputError(application.name, text); };
  if (application.plan.stages.empty())
    fail("has no layers to run: all its outputs are inputs or constants");
  if (application.frames < 1)
    fail(fmt::format("found {} frames to simulate, expected at least 1", application.frames));
  if (release.arrivals != Arrivals::closed && release.period <= Time{})
    fail(fmt::format("found a period of {}, expected one above 0", to_text(release.period)));
  if (release.jitter < Time{} || application.deadline < Time{})
    fail("found a jitter or a deadline below 0, expected none or a time above it");
  if (release.in_flight < 0)
    fail(
        fmt::format("found at most {} frames in the pipeline, expected 1 or more, or 0 for as many "
                    "as fit",
                    release.in_flight));
  if (release.in_flight > 0 && application.order == Order::graph)
    fail("a limit of frames in the pipeline can stop the graph's order for ever; leave out "
         "⟨in_flight⟩");
}

void check_processors(const Options& options) {
  const auto check = [](const std::string& name, const ProcessorOptions& processor) {
    if (!(processor.scale > 0 && processor.scale <= 1e6))
      throw InputError(name, fmt::format("found a factor of {}, expected one above 0 and at most a "
                                         "million",
                                         processor.scale));
    if (!(processor.busy_mw >= 0 && processor.idle_mw >= 0 &&
          std::isfinite(processor.busy_mw + processor.idle_mw)))
      throw InputError(name, "found a power below 0, expected milliwatts of 0 or more");
  };
  check("processors", options.others);
  for (const auto& [name, processor] : options.processors) check(name, processor);
}

std::vector<board::Processor> processors_of(const plan::Plan& plan) {
  std::vector<board::Processor> processors;
  for (const plan::Stage& stage : plan.stages)
    processors.insert(processors.end(), stage.processors.begin(), stage.processors.end());
  return processors;
}

bool share_a_core(const board::Processor& a, const board::Processor& b) {
  return std::any_of(a.cores.begin(), a.cores.end(), [&](int core) {
    return std::count(b.cores.begin(), b.cores.end(), core) > 0;
  });
}

/// Processors are one if they have one name; then they must have the same cores, and else none in
/// common.
void check_together(const board::Processor& a, const Application& application,
                    const Application& other) {
  for (const board::Processor& b : processors_of(other.plan)) {
    if (a.name == b.name ? a == b : !share_a_core(a, b)) continue;
    throw InputError(
        application.name,
        fmt::format("its processor {} and {} of {} {}; make the plans for one board", a.name,
                    b.name, other.name,
                    a.name == b.name ? "have one name but not the same cores" : "share a core"));
  }
}

void check_board(const std::vector<Application>& applications) {
  for (const Application& application : applications)
    for (const board::Processor& processor : processors_of(application.plan))
      for (const Application& other : applications) check_together(processor, application, other);
}

/// A misspelt name would change nothing and say nothing.
void check_names(const std::vector<Application>& applications, const Options& options) {
  std::vector<std::string> names;
  for (const Application& application : applications)
    for (const board::Processor& processor : processors_of(application.plan))
      if (std::find(names.begin(), names.end(), processor.name) == names.end())
        names.push_back(processor.name);
  for (const auto& [name, processor] : options.processors)
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw InputError(
          name, fmt::format("no plan uses this processor; they use {}", fmt::join(names, ", ")));
}

/// Checks the length of all frames that may be simulated, one after the other.
void check_length(const std::vector<Application>& applications, const Options& options) {
  double scale = options.others.scale, length_s = 0, frames = 0;
  for (const auto& [name, processor] : options.processors) scale = std::max(scale, processor.scale);
  for (const Application& application : applications) {
    double longest = seconds(application.release.period) + seconds(application.release.jitter);
    for (const auto& phases : application.durations)
      for (const Duration& duration : phases) longest += scale * seconds(duration.worst);
    length_s += longest;
    frames += static_cast<double>(application.frames);
  }
  if (length_s * frames > longest_s)
    throw InputError(applications.front().name,
                     fmt::format("{:.0f} frames of up to {:.3g} s last longer than can be "
                                 "simulated; take fewer frames",
                                 frames, length_s));
}

}  // namespace

double ApplicationResult::throughput() const {
  return elapsed > Time{} ? static_cast<double>(frames) / seconds(elapsed) : 0;
}

Result run(const std::vector<Application>& applications, const Options& options) {
  if (applications.empty()) throw InputError("simulate", "there is no plan; give at least one");
  for (const Application& application : applications) {
    check_release(application);
    check_durations(application);
    check_recorded(application);
  }
  check_processors(options);
  check_board(applications);
  check_names(applications, options);
  check_length(applications, options);
  return Simulation(applications, options).run();
}

plan::ByPhase<Duration> predicted_durations(const plan::Plan& plan, const plan::Evidence& evidence,
                                            double best, double worst) {
  const auto times = plan::predicted_times(plan, evidence);
  if (times.empty() && !plan.stages.empty())
    throw InputError(plan.network_name,
                     "the plan has no times of its phases; make it again with 'millrace plan'");
  const auto scaled = [](Time time, double factor) {
    return factor == 1 ? time : time_from_seconds(std::min(seconds(time) * factor, longest_s));
  };
  plan::ByPhase<Duration> result;
  for (const auto& phases : times) {
    std::vector<Duration> durations;
    for (const Time time : phases) durations.push_back({scaled(time, best), scaled(time, worst)});
    result.add(std::move(durations));
  }
  return result;
}

}  // namespace millrace::simulate
