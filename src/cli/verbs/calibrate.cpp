// millrace calibrate MODEL
#include "api/calibrate.h"

#include <fmt/format.h>

#include "api/json/measured.h"
#include "api/text/measured.h"
#include "base/file.h"
#include "cli/options/common.h"
#include "cli/options/frames.h"
#include "cli/options/model.h"
#include "cli/options/of_kind.h"
#include "cli/options/range_check.h"
#include "cli/verbs/verbs.h"

namespace millrace::cli {
namespace {

struct CalibrateOptions {
  api::CalibrateRequest request;
  bool json = false;
  CLI::Option* percentile = nullptr;
};

void bind(CLI::App& verb, CalibrateOptions& options) {
  api::CalibrateRequest& request = options.request;
  bind_model(verb, request.setup);
  bind_processors(verb, request.setup);
  bind_samples(verb, request.frames);
  bind_application_frames(verb, request.application);
  begin_group(verb, "Ranges");
  verb.add_option("--method", request.method,
                  "How to choose the range of a tensor: mse has the smallest mean squared error, "
                  "minmax clips no value, percentile clips outliers, entropy loses least "
                  "information")
      ->check(CLI::IsMember({"mse", "minmax", "percentile", "entropy"}))
      ->capture_default_str();
  options.percentile =
      verb.add_option("--percentile", request.percentile,
                      "For the method percentile: percentage of a tensor's values that its range "
                      "covers")
          ->check(between(50.0, 100.0))
          ->capture_default_str();
  verb.add_flag("--correct-bias", request.corrects_bias,
                "Also write the means of what convolutions read, by which int8 corrects their "
                "biases for the rounding of the weights");
  verb.add_option("--equalise", request.equalised,
                  "Also write the model as this ONNX file, with channels that suit int8, and "
                  "calibrate that");
  begin_group(verb, "Output");
  verb.add_option("-o,--output", request.output,
                  "The calibration table to write; default: NAME.calibration.json");
  bind_json(verb, options.json);
}

int run(const CalibrateOptions& options) {
  refuse_two_results(options.json, options.request.output);
  refuse_unless(options.request.method == "percentile", {options.percentile},
                "--method percentile");
  const api::Calibrated calibrated = calibrate(options.request);
  if (options.json)
    fmt::print("{}", calibration_json(calibrated));
  else if (calibrated.output != standard_output)
    fmt::print("{}", calibration_text(calibrated));
  return 0;
}

}  // namespace

void add_calibrate(CLI::App& app, int& exit_code) {
  add_verb<CalibrateOptions>(
      app, exit_code,
      {{"calibrate",
        "Find the ranges of all tensors on frames, also those of an application (.yaml); int8 "
        "needs them",
        "millrace calibrate digits.onnx --input images/ -o digits.calibration.json"},
       bind,
       run});
}

}  // namespace millrace::cli
