// millrace verify PLAN|MODEL
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "api/cache.h"
#include "api/frames.h"
#include "api/load_runnable.h"
#include "api/simulated_board.h"
#include "base/random.h"
#include "cli/options/between.h"
#include "cli/options/frames.h"
#include "cli/options/runnable.h"
#include "cli/verbs/verbs.h"
#include "engine/registry.h"
#include "plan/build.h"
#include "report/table.h"
#include "runtime/compare.h"
#include "runtime/first_difference.h"

namespace millrace::cli {

using namespace api;

namespace {

constexpr const char* reference_engine = "reference";

struct VerifyOptions {
  RunnableOptions runnable;
  FrameOptions frames;
  int mappings = 2;
  std::string against = reference_engine;
  std::optional<double> tolerance;
};

void bind(CLI::App& verb, VerifyOptions& options) {
  bind_runnable(verb, options.runnable);
  bind_frames(verb, options.frames);
  verb.add_option("--random-mappings", options.mappings,
                  "Verify this many random, non-contiguous mappings, too")
      ->check(CLI::Range(0, 100000))
      ->capture_default_str();
  verb.add_option("--against", options.against,
                  "The engine of the sequential run, in float32; others than 'reference' are "
                  "faster and may share a fault with the plan")
      ->capture_default_str();
  verb.add_option("--tolerance", options.tolerance,
                  "Largest absolute difference over largest absolute value; if left out 1e-4, or "
                  "0.01, 0.05 and 0.25 if the plan has layers in f16, bf16 and int8")
      ->check(between(0.0, 1.0));
}

plan::Plan random_plan(const Loaded& loaded, const std::string& engine, Random& random) {
  plan::Mapping mapping;
  for (std::size_t i = 0; i < loaded.network.layers.size(); ++i)
    mapping.processors.emplace_back(random.below(loaded.board.processors.size()));
  plan::BuildOptions build;
  build.engine = engine;
  plan::Plan plan = plan::build(loaded.network, loaded.board, mapping, build);
  plan.variants = loaded.plan.variants;
  plan.calibration = loaded.plan.calibration;
  return plan;
}

/// Float32 sums in another order differ in their last bits, layer after layer. A number of f16 or
/// bf16 is off by up to 2^-11 or 2^-8 each time it is stored, one of int8 by 2^-8 of the range.
double tolerance_in(board::Precision precision) {
  switch (precision) {
    case board::Precision::f32: return 1e-4;
    case board::Precision::f16: return 0.01;
    case board::Precision::bf16: return 0.05;
    case board::Precision::int8: break;
  }
  return 0.25;
}

double tolerance_of(const VerifyOptions& options, const plan::Plan& plan) {
  board::Precision lowest = board::Precision::f32;
  for (const board::Variant& variant : plan.variants)
    lowest = std::max(lowest, variant.precision);
  return options.tolerance.value_or(tolerance_in(lowest));
}

runtime::Frames take_frames(const Loaded& loaded, const VerifyOptions& options) {
  FrameOptions frame_options = options.frames;
  // A full batch and a part of one; three frames if there are no batches.
  if (frame_options.inputs.empty() && frame_options.random == 0)
    frame_options.random = plan::round_of(loaded.plan) + 2;
  const Frames frames = open_frames(loaded.network, frame_options, options.runnable.model.seed);
  runtime::Frames result;
  for (std::size_t i = 0; i < frames.count; ++i) result.push_back(frames.at(i).inputs);
  return result;
}

/// Compares plan after plan and keeps the table.
class Verification {
 public:
  Verification(const Loaded& loaded, const VerifyOptions& options)
      : loaded_(loaded),
        tolerance_(tolerance_of(options, loaded.plan)),
        frames_(take_frames(loaded, options)) {
    const auto engine =
        engine::make_engine(options.against, engine_options(options.runnable.model.cache));
    runtime::Sequential sequential(loaded.network, *engine, loaded.board.processors.front());
    references_ = runtime::run_sequentially(sequential, frames_);
  }

  void add(const std::string& name, const plan::Plan& plan) {
    const runtime::Comparison result = runtime::compare(
        references_,
        runtime::run_pipeline(plan, loaded_.network, loaded_.engine_pointers(), frames_));
    std::size_t phases = 0;
    for (const plan::Stage& stage : plan.stages) phases += stage.phases.size();
    const bool good = result.error <= tolerance_;
    if (!good && equal_) find_first_difference(plan);
    equal_ = equal_ && good;
    table_.add({name, std::to_string(plan.stages.size()), std::to_string(phases),
                std::to_string(result.frames), fmt::format("{:.1e}", result.error),
                result.bit_equal ? "bit-equal"
                : good           ? "within tolerance"
                                 : "DIFFERENT"});
  }
  bool equal() const { return equal_; }
  std::string text() const { return table_.text() + why_; }

 private:
  void find_first_difference(const plan::Plan& plan) {
    const auto engines = loaded_.engine_pointers();
    const auto first =
        runtime::first_difference({plan, loaded_.network, engines}, frames_.front(), tolerance_);
    why_ = first ? fmt::format("the first layer that differs is {} on {}, by {:.1e}\n",
                               first->layer, first->stage, first->error)
                 : "every phase alone agrees; they differ when they run one after the other\n";
  }

  const Loaded& loaded_;
  double tolerance_;
  runtime::Frames frames_, references_;
  bool equal_ = true;
  std::string why_;  // of the first plan that differs
  report::Table table_{{{"plan", report::Align::left},
                        {"stages"},
                        {"phases"},
                        {"frames"},
                        {"largest error"},
                        {"", report::Align::left}}};
};

std::string comparing_engine(const VerifyOptions& options, const Loaded& loaded) {
  if (!loaded.simulated.computing.empty()) return loaded.simulated.computing;
  return loaded.plan.stages.empty() ? options.runnable.model.engine : loaded.plan.stages[0].engine;
}

int run(const VerifyOptions& options) {
  RunnableOptions runnable = options.runnable;
  runnable.time_scale = 0;  // results alone matter
  const auto loaded = load_runnable(runnable);
  note_simulation(*loaded);
  const std::string engine = comparing_engine(options, *loaded);
  if (!loaded->engines.contains(engine))
    loaded->engines[engine] =
        engine::make_engine(engine, engine_options(options.runnable.model.cache));
  Verification verification(*loaded, options);
  verification.add(
      is_plan_file(options.runnable.model.model) ? options.runnable.model.model : "one processor",
      loaded->plan);
  Random random(options.runnable.model.seed);
  for (int i = 0; i < options.mappings; ++i)
    verification.add(fmt::format("random mapping {}", i + 1), random_plan(*loaded, engine, random));
  fmt::print("{}", verification.text());
  fmt::print("{}: the pipeline and a sequential run of {} {}\n", loaded->network.name,
             options.against, verification.equal() ? "agree" : "differ");
  return verification.equal() ? 0 : answer_is_no;
}

}  // namespace

void add_verify(CLI::App& app, int& exit_code) {
  add_verb<VerifyOptions>(app, exit_code,
                          {{"verify", "Compare a plan's outputs with a plain sequential run",
                            "millrace verify resnet18.plan.json --random-mappings 20"},
                           bind,
                           run});
}

}  // namespace millrace::cli
