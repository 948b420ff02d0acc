// Several networks under deadlines on this machine, to be read by people: measures their tasks,
// finds the highest rates that the analysis admits, and drives at 60 % and at 90 % of them beside
// ordinary threads that want all cores. `deadlines [SECONDS [NETWORK...]]`, by default 60 seconds
// of two classifiers and a detector; 1 if a response exceeds its bound in both of two drives.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "analysis/responses.h"
#include "analysis/schedulability.h"
#include "engine/registry.h"
#include "plan/build.h"
#include "present/text/table.h"
#include "product/deployment/loaded_deployment.h"
#include "product/deployment/measure_deployment.h"
#include "product/setup.h"
#include "runtime/background_load.h"
#include "runtime/controller/controller.h"
#include "runtime/controller/script.h"
#include "runtime/scheduling/host.h"
#include "runtime/scheduling/thread_priority.h"

namespace {

using namespace millrace;

constexpr std::int64_t samples = 300;
/// Frames per second of each group, before all are multiplied by the same factor; the first has the
/// highest rate and the highest priority.
constexpr double first_fps = 20, ratio_of_rates = 0.6;

/// Every group's rates times the factor.
deployment::Deployment with_rates(deployment::Deployment deployment, double factor) {
  for (system::Group& group : deployment.system.groups) {
    group.rates.least_fps *= factor;
    group.rates.most_fps *= factor;
  }
  return deployment;
}

/// Each half of the work on a core; every other network begins on the second core.
plan::Mapping halves(const network::Network& network, std::size_t first_core) {
  std::int64_t all = 0, so_far = 0;
  for (std::size_t l = 0; l < network.layers.size(); ++l)
    all += network::cost_of(network, LayerId(l)).macs;
  plan::Mapping mapping;
  for (std::size_t l = 0; l < network.layers.size(); ++l) {
    const bool is_second = 2 * so_far >= all;
    mapping.processors.emplace_back(is_second ? 1 - first_core : first_core);
    so_far += network::cost_of(network, LayerId(l)).macs;
  }
  return mapping;
}

deployment::Task task(const std::string& name, deployment::Step step, const std::string& on) {
  deployment::Task result;
  result.name = name;
  result.step = step;
  result.processor = on;
  return result;
}

/// Pre-processing, two stages, post-processing; their times are not known yet.
deployment::Assignment assignment_of(const network::Network& network, const board::Board& board,
                                     const formats::ModelSource& source, std::size_t first_core) {
  deployment::Assignment result;
  result.plan.plan = plan::build(network, board, halves(network, first_core),
                                 {.engine = engine::engine_names().front()});
  result.plan.origin.model = source;
  result.plan.evidence = plan::no_evidence(result.plan.plan);
  const auto& stages = result.plan.plan.stages;
  result.tasks.push_back(task("pre", deployment::Step::preprocess, stages[0].processors[0].name));
  for (std::size_t s = 0; s < stages.size(); ++s)
    for (std::size_t p = 0; p < stages[s].phases.size(); ++p) {
      deployment::Task phase =
          task(p == 0 ? stages[s].name : fmt::format("{}.{}", stages[s].name, p),
               deployment::Step::phase, stages[s].processors[0].name);
      phase.stage = s;
      phase.phase = p;
      result.tasks.push_back(phase);
    }
  result.tasks.push_back(
      task("post", deployment::Step::postprocess, stages.back().processors[0].name));
  for (std::size_t t = 1; t < result.tasks.size(); ++t) result.tasks[t].after = {t - 1};
  return result;
}

deployment::Deployment deployment_of(const std::vector<std::string>& names,
                                     const board::Board& board, product::Networks& networks) {
  deployment::Deployment result;
  result.system.name = "deadlines";
  result.system.file = "deadlines";
  result.board_name = board.name;
  result.board_hash = board::hash_of(board);
  system::Scenario all{"all", {}};
  for (std::size_t g = 0; g < names.size(); ++g) {
    formats::ModelSource source;
    source.file = names[g];
    system::Group group{fmt::format("{}", names[g]), source, {}, {}};
    const double fps = first_fps * std::pow(ratio_of_rates, static_cast<double>(g));
    group.rates = {fps, fps};
    group.preprocess = group.postprocess = Time(1);  // how long they take is measured
    result.system.groups.push_back(group);
    all.groups.emplace_back(g);
    result.assignments.push_back(assignment_of(networks.of(source), board, source, g % 2));
    result.assignments.back().priority = static_cast<std::int64_t>(names.size() - g);
  }
  result.system.scenarios = {all};
  result.settings = {{system::ScenarioId(0), 0, {}, 0, {}}};
  return result;
}

/// Bytes to numbers, and the largest number of the result: what classifiers do at least.
void add_steps(runtime::GroupToRun& group) {
  group.preprocess = [](std::span<const std::span<std::byte>> inputs) {
    for (const auto& input : inputs) {
      auto* values = reinterpret_cast<float*>(input.data());
      const std::size_t count = input.size() / sizeof(float);
      for (std::size_t i = 0; i < count; ++i)
        values[i] = static_cast<float>(i % 251) * (1.0f / 255) - 0.5f;
    }
  };
  group.postprocess =
      [best = std::size_t{0}](std::span<const std::span<const std::byte>> outputs) mutable {
        for (const auto& output : outputs) {
          const auto* values = reinterpret_cast<const float*>(output.data());
          const std::size_t count = output.size() / sizeof(float);
          best = static_cast<std::size_t>(std::max_element(values, values + count) - values);
        }
      };
}

std::vector<runtime::GroupToRun> groups_of(const product::LoadedDeployment& loaded) {
  auto groups = loaded.groups_to_run();
  for (runtime::GroupToRun& group : groups) add_steps(group);
  return groups;
}

/// An ordinary thread on a core: arithmetic and memory in turn.
class Competitor {
 public:
  explicit Competitor(board::Processor processor) : processor_(std::move(processor)) {}
  void run() {
    if (!is_pinned_) board::pin_this_thread(processor_);
    is_pinned_ = true;
    for (std::size_t i = 0; i < memory_.size(); i += 64) memory_[i] = ++value_;
    for (int i = 0; i < 1'000'000; ++i) sum_ = sum_ * 1.0000001 + 1;
  }

 private:
  board::Processor processor_;
  std::vector<unsigned char> memory_ = std::vector<unsigned char>(16 << 20);
  unsigned char value_ = 0;
  volatile double sum_ = 0;
  bool is_pinned_ = false;
};

struct Drive {
  deployment::Deployment deployment;
  runtime::ControllerRecord record;
  std::vector<std::optional<Time>> bounds;
  bool holds() const {
    for (std::size_t g = 0; g < record.groups.size(); ++g)
      if (!bounds[g] || record.groups[g].responses.largest() > *bounds[g]) return false;
    return true;
  }
};

Drive drive(const product::LoadedDeployment& loaded, const deployment::Deployment& deployment,
            Time duration) {
  Drive result{deployment, {}, analysis::response_bounds(deployment, loaded.board, {})};
  runtime::Controller controller(result.deployment, loaded.board, groups_of(loaded));
  std::vector<Competitor> competitors;
  for (const board::Processor& processor : loaded.board.processors)
    competitors.emplace_back(processor);
  std::vector<std::function<void()>> load;
  for (Competitor& each : competitors) load.emplace_back([&each] { each.run(); });
  controller.start({});
  runtime::under_background_load(load, [&] { runtime::play(controller, {}, duration, {}); });
  result.record = controller.stop();
  return result;
}

std::string text(Time time) { return fmt::format("{:.3f}", milliseconds(time)); }

void print_times(const product::MeasuredDeployment& measured) {
  using present::Align;
  present::Table table({{"network", Align::left},
                        {"task", Align::left},
                        {"on", Align::left},
                        {"best ms"},
                        {"mean ms"},
                        {"largest ms"},
                        {"worst ms"},
                        {"samples"}});
  for (std::size_t g = 0; g < measured.tasks.size(); ++g)
    for (std::size_t t = 0; t < measured.tasks[g].size(); ++t) {
      const runtime::TaskTimes& times = measured.tasks[g][t];
      const deployment::Task& each = measured.deployment.assignments[g].tasks[t];
      table.add({measured.deployment.system.groups[g].name, each.name, each.processor,
                 text(times.best), text(times.average), text(times.largest), text(times.worst),
                 fmt::format("{}", times.samples)});
    }
  const auto& [frame, release] = measured.overhead;
  fmt::print("{}overhead of a frame: {} ms at most, {} ms in the mean\n", table.text(),
             text(frame.worst), text(frame.average));
  fmt::print("a release: {} ms of a core at most, {} ms in the mean\n\n", text(release.worst),
             text(release.average));
}

void print_drive(const Drive& drive, const std::string& title) {
  using present::Align;
  present::Table table({{title, Align::left},
                        {"fps"},
                        {"bound ms"},
                        {"largest ms"},
                        {"p99 ms"},
                        {"p50 ms"},
                        {"frames"},
                        {"missed"},
                        {"skipped"},
                        {"lost"},
                        {"preempted"}});
  for (std::size_t g = 0; g < drive.record.groups.size(); ++g) {
    const runtime::GroupRecord& group = drive.record.groups[g];
    table.add({group.name, fmt::format("{:.2f}", drive.deployment.system.groups[g].rates.most_fps),
               drive.bounds[g] ? text(*drive.bounds[g]) : "none", text(group.responses.largest()),
               text(group.responses.percentile(0.99)), text(group.responses.percentile(0.5)),
               fmt::format("{}", group.frames.due), fmt::format("{}", group.frames.missed),
               fmt::format("{}", group.frames.skipped), fmt::format("{}", group.frames.lost()),
               fmt::format("{}", group.preemptions)});
  }
  fmt::print("{}", table.text());
  for (const runtime::ProcessorRecord& each : drive.record.processors)
    fmt::print("{}: {:.1f} % busy, {} ms stolen by the host; ", each.name,
               100 * seconds(each.busy) / seconds(drive.record.elapsed), milliseconds(each.stolen));
  fmt::print("releases at most {} ms late\n\n", text(drive.record.lateness.largest()));
}

/// The host may take a core away, for which no analysis of this machine can answer: then twice.
bool drives_hold(const product::LoadedDeployment& loaded, const deployment::Deployment& deployment,
                 const std::string& title, Time duration) {
  for (const char* again : {"", ", again"}) {
    const Drive result = drive(loaded, deployment, duration);
    print_drive(result, title + again);
    if (result.holds()) return true;
  }
  return false;
}

int run(Time duration, const std::vector<std::string>& names) {
  const board::Board board = board::only(board::this_machine(), {"core0", "core1"});
  product::Networks networks;
  const auto loaded =
      product::make_ready(deployment_of(names, board, networks), {std::move(networks)}, {});
  runtime::TaskTimesOptions options;
  options.samples = samples;
  const product::MeasuredDeployment measured =
      product::measure_deployment(*loaded, groups_of(*loaded), options);
  print_times(measured);
  const auto rates = analysis::largest_rates(measured.deployment, board, system::ScenarioId(0));
  const double factor = rates ? static_cast<double>(rates->millionths) / 1e6 : 0;
  fmt::print("the analysis admits rates up to {:.3f} times {} fps\n\n", factor, first_fps);
  if (factor <= 0) return 1;
  bool holds = true;
  for (const double share : {0.6, 0.9})
    holds = drives_hold(*loaded, with_rates(measured.deployment, share * factor),
                        fmt::format("{:.0f} % of the rates", 100 * share), duration) &&
            holds;
  return holds ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) try {
  const double seconds = count > 1 ? std::atof(arguments[1]) : 60;
  std::vector<std::string> names(arguments + std::min(count, 2), arguments + count);
  if (names.empty()) names = {"mobilenet_v2", "resnet18", "yolov4_tiny"};
  return run(time_from_seconds(seconds), names);
} catch (const std::exception& error) {
  fmt::print(stderr, "deadlines: {}\n", error.what());
  return 2;
}
