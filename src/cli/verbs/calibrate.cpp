// millrace calibrate MODEL
#include <fmt/format.h>

#include "api/frames.h"
#include "api/model.h"
#include "api/progress.h"
#include "api/written_over.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/printable.h"
#include "cli/options/between.h"
#include "cli/options/frames.h"
#include "cli/options/model.h"
#include "cli/verbs/verbs.h"
#include "engine/registry.h"
#include "profile/calibrate.h"
#include "report/table.h"

namespace millrace::cli {

using namespace api;

namespace {

using profile::RangeMethod;

struct CalibrateOptions {
  ModelOptions model;
  FrameOptions frames;
  std::string output, method = "percentile";
  double percentile = profile::CalibrateOptions{}.percentile;
};

void bind(CLI::App& verb, CalibrateOptions& options) {
  bind_model(verb, options.model);
  bind_processors(verb, options.model);
  bind_samples(verb, options.frames);
  verb.add_option("--method", options.method,
                  "minmax (nothing is clipped), percentile or entropy (the smallest divergence)")
      ->check(CLI::IsMember({"minmax", "percentile", "entropy"}))
      ->capture_default_str();
  verb.add_option("--percentile", options.percentile,
                  "Of the values of a tensor, how many lie within its range")
      ->check(between(50.0, 100.0))
      ->capture_default_str();
  verb.add_option("-o,--output", options.output,
                  "The calibration table; NAME.calibration.json if left out");
}

RangeMethod method_of(const std::string& text) {
  for (const RangeMethod method : {RangeMethod::minmax, RangeMethod::entropy})
    if (text == profile::to_text(method)) return method;
  return RangeMethod::percentile;
}

profile::CalibrationResult calibrate(const CalibrateOptions& options,
                                     const network::Network& network) {
  const Frames frames = open_frames(network, options.frames, options.model.seed);
  if (options.frames.inputs.empty())
    note("warning: inputs are random; ranges of real inputs will be others (--input)");
  const auto engine = engine::make_engine(options.model.engine);
  const InterruptGuard interrupt;
  Progress progress("calibrating " + network.name);
  profile::CalibrateOptions calibrate;
  calibrate.method = method_of(options.method);
  calibrate.percentile = options.percentile;
  calibrate.progress = [&](double share) {
    progress.show(share, fmt::format("{} frames", frames.count));
    interrupt.check();
  };
  return profile::calibrate({&network, engine.get(), load_board(options.model).processors.front()},
                            samples_of(network, frames), calibrate);
}

std::string table_text(const profile::CalibrationResult& result) {
  report::Table table(
      {{"tensor", report::Align::left}, {"smallest"}, {"largest"}, {"low"}, {"high"}});
  const auto text = [](float value) { return fmt::format("{:.4g}", value); };
  for (const auto& [name, range] : result.table.calibration.ranges) {
    const network::Range& seen = result.seen.at(name);
    table.add({name, text(seen.low), text(seen.high), text(range.low), text(range.high)});
  }
  return table.text();
}

int run(const CalibrateOptions& options) {
  const network::Network network = load_network(options.model);
  const std::string output =
      !options.output.empty()
          ? options.output
          : std::filesystem::path(options.model.model).stem().string() + ".calibration.json";
  FilesRead files;
  files.add(options.model);
  files.add(options.frames);
  files.refuse(output);
  check_writable(output);
  const profile::CalibrationResult result = calibrate(options, network);
  network::write_calibration(output, result.table);
  fmt::print("{}: ranges of {} tensors on {} frames, {}\n\n{}\nwritten: {}\n",
             printable(network.name), result.table.calibration.ranges.size(), result.table.frames,
             result.table.method, table_text(result), printable(output));
  return 0;
}

}  // namespace

void add_calibrate(CLI::App& app, int& exit_code) {
  add_verb<CalibrateOptions>(
      app, exit_code,
      {{"calibrate", "Find the ranges of all tensors, which int8 needs",
        "millrace calibrate digits.onnx --input images/ -o digits.calibration.json"},
       bind,
       run});
}

}  // namespace millrace::cli
