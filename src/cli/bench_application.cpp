// millrace bench APPLICATION
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "application/sink.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "cli/application.h"
#include "cli/progress.h"
#include "cli/verbs.h"
#include "report/table.h"
#include "runtime/sequential.h"

namespace millrace::cli {
namespace {

using application::Detection;
using application::Findings;
using application::Outcome;
using application::Totals;

struct Row {
  std::string name;
  std::vector<Totals> rounds = {};
  std::vector<Findings> findings = {};  // by frame, of the last round

  double rate(const Totals& totals) const {
    return static_cast<double>(totals.frames) / std::max(1e-9, seconds(totals.elapsed));
  }
  /// The round in the middle.
  Totals median() const {
    std::vector<Totals> sorted = rounds;
    std::sort(sorted.begin(), sorted.end(),
              [&](const Totals& a, const Totals& b) { return rate(a) < rate(b); });
    return sorted[sorted.size() / 2];
  }
};

/// Kernels of parts of a network may add in another order than those of the whole.
constexpr double near = 1e-3;

bool is_near(double a, double b) { return std::abs(a - b) <= near * std::max(1.0, std::abs(a)); }

bool is_same(const Detection& a, const Detection& b) {
  const double pixel = 1;
  const auto at = [&](double x, double y) { return std::abs(x - y) <= pixel; };
  return a.label == b.label && is_near(a.probability, b.probability) && at(a.left, b.left) &&
         at(a.top, b.top) && at(a.width, b.width) && at(a.height, b.height);
}

bool is_same_class(const application::Ranked& a, const application::Ranked& b) {
  return a.label == b.label && is_near(a.value, b.value);
}

/// Each of them has one of its own among the others; nearly equal ones may stand in another order.
bool are_same(const std::vector<Detection>& a, std::vector<Detection> b) {
  if (a.size() != b.size()) return false;
  for (const Detection& detection : a) {
    const auto found = std::find_if(
        b.begin(), b.end(), [&](const Detection& other) { return is_same(detection, other); });
    if (found == b.end()) return false;
    b.erase(found);
  }
  return true;
}

bool are_same(const Findings& a, const Findings& b) {
  if (a.detections.has_value() != b.detections.has_value()) return false;
  if (a.classes.has_value() != b.classes.has_value()) return false;
  if (a.detections && !are_same(*a.detections, *b.detections)) return false;
  return !a.classes || std::equal(a.classes->begin(), a.classes->end(), b.classes->begin(),
                                  b.classes->end(), is_same_class);
}

class ApplicationBench {
 public:
  ApplicationBench(const LoadedApplication& loaded, bool has_plan)
      : loaded_(loaded), turn_{"one after the other"}, plan_{has_plan ? "plan" : "one core"} {
    const Loaded& network = *loaded.loaded;
    const board::Processor& processor = network.board.processors.front();
    engine::Engine& engine = *network.engines.begin()->second;
    runtime::SequentialOptions options;
    options.variants = variants_on(processor, network, engine);
    if (network.plan.calibration) options.calibration = &*network.plan.calibration;
    sequential_ =
        std::make_unique<runtime::Sequential>(network.network, engine, processor, options);
  }

  void round() {
    {
      // All on one core, as the network is; a decoder's threads too, which are made in here.
      const board::PinGuard pinned(loaded_.loaded->board.processors.front());
      turn_.rounds.push_back(once(turn_, [&](application::Source& source, const auto& give) {
        return run_in_turn(loaded_.application, loaded_.parts(source), *sequential_, give);
      }));
    }
    plan_.rounds.push_back(once(plan_, [&](application::Source& source, const auto& give) {
      return pipeline(source, give);
    }));
  }

  const Row& turn() const { return turn_; }
  const Row& plan() const { return plan_; }
  /// The frames whose findings differ; what a plug-in or `raw` writes is not compared.
  std::vector<std::size_t> differing() const {
    std::vector<std::size_t> result;
    const std::size_t count = std::max(turn_.findings.size(), plan_.findings.size());
    for (std::size_t i = 0; i < count; ++i)
      if (i >= turn_.findings.size() || i >= plan_.findings.size() ||
          !are_same(turn_.findings[i], plan_.findings[i]))
        result.push_back(i);
    return result;
  }

 private:
  template <class Call>
  Totals once(Row& row, const Call& call) {
    row.findings.clear();
    const auto source = application::open_source(loaded_.application, loaded_.loaded->network);
    const Totals totals = call(*source, application::Give([&](const Outcome& outcome) {
      row.findings.push_back(outcome.findings);
      if (row.name == turn_.name) interrupt_.check();
    }));
    if (totals.complaint) throw InputError(totals.complaint->place, totals.complaint->text);
    if (totals.frames == 0)
      throw InputError(loaded_.application.input.place, "there are no frames to measure");
    return totals;
  }

  Totals pipeline(application::Source& source, const application::Give& give) {
    const Loaded& loaded = *loaded_.loaded;
    auto session = runtime::deploy(loaded.plan, loaded.network, loaded.engine_pointers());
    application::Run run(loaded_.application, loaded_.parts(source), session, give);
    constexpr std::chrono::milliseconds look_up{100};
    while (!run.wait_for(look_up)) interrupt_.check();
    return run.totals();
  }

  const InterruptGuard interrupt_;
  const LoadedApplication& loaded_;
  Row turn_, plan_;
  std::unique_ptr<runtime::Sequential> sequential_;
};

Time each(const Totals& totals, Time sum) { return sum / std::max<std::int64_t>(1, totals.frames); }

report::Table table_of(const ApplicationBench& bench) {
  report::Table table({{"", report::Align::left},
                       {"frames/s"},
                       {"latency"},
                       {"reading"},
                       {"pre-processing"},
                       {"stages"},
                       {"post-processing"},
                       {"waiting"}});
  for (const Row* row : {&bench.turn(), &bench.plan()}) {
    const Totals totals = row->median();
    const application::StepTimes& times = totals.times;
    const auto text = [&](Time sum) { return millrace::to_text(each(totals, sum)); };
    table.add({row->name, fmt::format("{:.1f}", row->rate(totals)), text(times.total),
               text(times.reading), text(times.before), text(times.pipeline), text(times.after),
               text(times.waiting())});
  }
  return table;
}

nlohmann::json json_of(const Row& row) {
  nlohmann::json rates = nlohmann::json::array();
  for (const Totals& totals : row.rounds) rates.push_back(row.rate(totals));
  const Totals totals = row.median();
  const application::StepTimes& times = totals.times;
  const auto value = [&](Time sum) { return milliseconds(each(totals, sum)); };
  return {{"name", row.name},
          {"frames", totals.frames},
          {"throughput_fps", row.rate(totals)},
          {"rounds_fps", rates},
          {"latency_ms", value(times.total)},
          {"reading_ms", value(times.reading)},
          {"pre_processing_ms", value(times.before)},
          {"stages_ms", value(times.pipeline)},
          {"post_processing_ms", value(times.after)},
          {"waiting_ms", value(times.waiting())}};
}

std::string differences_text(const ApplicationBench& bench) {
  const std::vector<std::size_t> differing = bench.differing();
  const std::size_t frames = bench.turn().findings.size();
  if (differing.empty()) return fmt::format("the findings of all {} frames are equal\n", frames);
  return fmt::format("the findings of {} of {} frames differ, first those of frame {}\n",
                     differing.size(), frames, differing.front());
}

void print_json(const ApplicationBench& bench) {
  const nlohmann::json json = {{"rows", {json_of(bench.turn()), json_of(bench.plan())}},
                               {"frames_that_differ", bench.differing()}};
  fmt::print("{}\n", json.dump(1));
}

}  // namespace

int bench_application(const RunnableOptions& runnable, const ApplicationOptions& options,
                      const ApplicationBenchOptions& bench_options) {
  const auto loaded = load_application(runnable, options);
  if (loaded->application.input.is_live())
    throw InputError(loaded->application.input.place,
                     "is live input, whose rate is its own; to measure, give a file and leave out "
                     "'rate_fps'");
  ApplicationBench bench(*loaded, !options.plan.empty());
  {
    Progress progress("benchmark");
    for (int round = 0; round < bench_options.rounds; ++round) {
      bench.round();
      progress.show(static_cast<double>(round + 1) / bench_options.rounds, "");
    }
  }
  if (bench_options.json) {
    print_json(bench);
  } else {
    fmt::print(
        "{}: {} frames, median of {} rounds; times per frame\n\n{}\n{:.2f} times the rate of "
        "one after the other on one core; {}",
        loaded->application.name, bench.turn().findings.size(), bench_options.rounds,
        table_of(bench).text(),
        bench.plan().rate(bench.plan().median()) / bench.turn().rate(bench.turn().median()),
        differences_text(bench));
  }
  return bench.differing().empty() ? 0 : answer_is_no;
}

}  // namespace millrace::cli
