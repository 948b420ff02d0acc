#include "application/bench/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "application/accuracy/compare_findings.h"
#include "application/sink.h"
#include "base/error.h"
#include "base/interleaved.h"
#include "base/interrupt.h"
#include "board/energy.h"
#include "application/loaded/measured_accuracy.h"
#include "application/loaded/crops_at_work.h"
#include "application/bench/techniques.h"
#include "runtime/bench/energy.h"
#include "runtime/bench/variation.h"
#include "runtime/sequential.h"
#include "runtime/waiting/repeated.h"

namespace millrace::application {
namespace {

/// Frames of the last round whose way through the pipeline is looked at.
constexpr std::int64_t traced_frames = 1000;

class ApplicationBench {
 public:
  explicit ApplicationBench(const LoadedApplication& loaded)
      : loaded_(loaded), steps_(application_steps(loaded)) {
    const runtime::Loaded& network = *loaded.loaded;
    const board::Processor& processor = network.board.processors.front();
    engine::Engine& engine = *network.engines.begin()->second;
    runtime::SequentialOptions options;
    options.variants = variants_on(processor, network, engine);
    if (network.plan.calibration) options.calibration = &*network.plan.calibration;
    sequential_ =
        std::make_unique<runtime::Sequential>(network.network, engine, processor, options);
    crops_in_turn_ = crops_in_turn(loaded, processor);
    for (const ApplicationStep& step : steps_)
      result_.rows.push_back({step.name, {}, {}, step.before_threads, step.after_threads});
    for (const plan::Stage& stage : network.plan.stages)
      for (const board::Processor& each : stage.processors) result_.processors.push_back(each.name);
    result_.application = loaded.application.name;
    result_.no_energy = meter_.reason();
    warm_up();
  }

  /// In each round the last step is next to the first, with which it is compared; every second
  /// round has the other order.
  void run(int rounds, Work& work) {
    std::vector<std::size_t> order{0};
    for (std::size_t i = steps_.size(); --i > 0;) order.push_back(i);
    measure_interleaved(
        order.size(), {.most = rounds}, [&](std::size_t which) { measure(order[which]); },
        [&](int done) {
          std::reverse(order.begin(), order.end());
          work.show(static_cast<double>(done) / rounds, "");
          return true;
        });
  }

  const ApplicationResult& result() const { return result_; }

 private:
  /// What is set up for the first picture of all counts for no step.
  void warm_up() {
    constexpr std::int64_t few = 2;
    Application short_one = loaded_.application;
    std::int64_t& frames = short_one.input.frames;
    frames = frames > 0 ? std::min(frames, few) : few;
    short_one.beside.clear();
    const board::PinGuard pinned(loaded_.loaded->board.processors.front());
    const auto source = open_source(short_one, loaded_.network());
    run_in_turn(short_one, parts(*source, crops_in_turn_.get()), *sequential_,
                             [](const auto&) {});
  }

  void measure(std::size_t step) {
    std::vector<Findings> findings;
    meter_.take();
    ApplicationRound round =
        steps_[step].plan.stages.empty() ? in_turn(findings) : in_pipeline(steps_[step], findings);
    result_.rows[step].rounds.push_back(std::move(round));
    compare(result_.rows[step], std::move(findings));
  }

  ApplicationRound in_turn(std::vector<Findings>& findings) {
    // All on one core, as the network is; a decoder's threads too, which are made in here.
    const board::PinGuard pinned(loaded_.loaded->board.processors.front());
    ApplicationRound round;
    const auto source = open();
    round.totals =
        run_in_turn(loaded_.application, parts(*source, crops_in_turn_.get()),
                                 *sequential_, [&](const Outcome& outcome) {
                                   if (findings.empty()) round.first = outcome.latency;
                                   findings.push_back(outcome.findings);
                                   interrupt_.check();
                                 });
    return checked(std::move(round));
  }

  ApplicationRound in_pipeline(const ApplicationStep& step, std::vector<Findings>& findings) {
    const runtime::Loaded& loaded = *loaded_.loaded;
    const bool is_plan = &step == &steps_.back();
    runtime::SessionOptions options;
    if (is_plan) options.trace_frames = traced_frames;
    auto session = runtime::deploy(step.plan, loaded.network, loaded.engine_pointers(),
                                   options_with_crops(loaded_, step.plan, options));
    Application application = loaded_.application;
    application.preprocess.workers.threads = step.before_threads;
    application.postprocess.workers.threads = step.after_threads;
    ApplicationRound round;
    const auto source = open();
    const auto crops = deploy_crops(loaded_);
    meter_.take();
    {
      Run run(application, parts(*source, crops.get()), session,
                           [&](const Outcome& outcome) {
                             if (findings.empty()) round.first = outcome.latency;
                             findings.push_back(outcome.findings);
                           });
      constexpr std::chrono::milliseconds look_up{100};
      while (!run.wait_for(look_up)) interrupt_.check();
      round.totals = run.totals();
    }
    round = checked(std::move(round));
    round.stages = session.statistics();
    if (is_plan) result_.waits = analysis::channel_waits(step.plan, session.trace());
    return round;
  }

  std::unique_ptr<Source> open() const {
    return open_source(loaded_.application, loaded_.network());
  }

  Parts parts(Source& source, const CropsAtWork* crops) const {
    Parts parts = loaded_.parts(source);
    parts.crops = crops != nullptr ? &crops->parts : nullptr;
    return parts;
  }

  ApplicationRound checked(ApplicationRound round) {
    round.joules = meter_.take();
    const Totals& totals = round.totals;
    if (totals.complaint) throw InputError(totals.complaint->place, totals.complaint->text);
    if (totals.frames == 0)
      throw InputError(loaded_.application.input.place, "there are no frames to measure");
    return round;
  }

  /// With those of everything in turn, of the first round.
  void compare(ApplicationRow& row, std::vector<Findings> findings) {
    if (expected_.empty()) {
      expected_ = std::move(findings);
      result_.frames = expected_.size();
      return;
    }
    for (std::size_t i = 0; i < std::max(expected_.size(), findings.size()); ++i) {
      const bool known =
          std::find(row.differing.begin(), row.differing.end(), i) != row.differing.end();
      const bool same =
          i < expected_.size() && i < findings.size() &&
              are_same(expected_[i], findings[i]);
      if (!same && !known) row.differing.push_back(i);
    }
    std::sort(row.differing.begin(), row.differing.end());
  }

  const LoadedApplication& loaded_;
  const InterruptGuard interrupt_{loaded_.loaded->context.interrupt};
  const std::vector<ApplicationStep> steps_;
  std::unique_ptr<runtime::Sequential> sequential_;
  std::unique_ptr<CropsAtWork> crops_in_turn_;
  board::EnergyMeter meter_;
  std::unique_ptr<runtime::Repeated> sampler_ = runtime::sampler_of(meter_);
  std::vector<Findings> expected_;
  ApplicationResult result_;
};

}  // namespace

ApplicationResult bench_application(const LoadedApplication& loaded, int rounds) {
  const Input& input = loaded.application.input;
  if (input.is_live())
    throw InputError(input.place,
                     "is live input, whose rate is its own; to measure, give a file and leave out "
                     "'rate_fps'");
  if (loaded.truth) checked_truth(loaded);  // before the work
  const Context& context = loaded.loaded->context;
  ApplicationBench bench(loaded);
  {
    const auto work = context.begin("benchmark");
    bench.run(rounds, *work);
  }
  std::vector<runtime::Rounds> measured;
  for (const ApplicationRow& row : bench.result().rows) measured.push_back({row.name, row.rates()});
  note_variation(measured, context);
  ApplicationResult result = bench.result();
  if (loaded.truth) {
    result.accuracy = measure_accuracy(loaded);
    note_left_out(*result.accuracy, context);
  }
  return result;
}

double ApplicationRound::rate() const {
  return static_cast<double>(totals.frames) / std::max(1e-9, seconds(totals.elapsed));
}

const ApplicationRound& ApplicationRow::median() const {
  std::vector<const ApplicationRound*> sorted;
  for (const ApplicationRound& round : rounds) sorted.push_back(&round);
  std::sort(sorted.begin(), sorted.end(), [](const ApplicationRound* a, const ApplicationRound* b) {
    return a->rate() < b->rate();
  });
  return *sorted[(sorted.size() - 1) / 2];
}

std::vector<double> ApplicationRow::rates() const {
  std::vector<double> rates;
  for (const ApplicationRound& round : rounds) rates.push_back(round.rate());
  return rates;
}

double ApplicationRow::variation() const { return runtime::variation_of(rates()); }

}  // namespace millrace::application
