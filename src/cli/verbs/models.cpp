// millrace inspect, millrace calibrate, millrace verify
#include <fmt/format.h>

#include "base/file.h"
#include "cli/options/request.h"
#include "cli/print/progress.h"
#include "cli/verbs/verbs.h"
#include "present/results/model.h"
#include "present/results/verify.h"
#include "product/calibrate.h"
#include "product/engines.h"
#include "product/open_model.h"
#include "product/verify.h"

namespace millrace::cli {
namespace {

struct InspectOptions {
  product::Setup model;
  bool json = false;
};

void bind(Places& at, InspectOptions& options) {
  bind_model(at, options.model);
  bind_engine_libraries(at, options.model.context);
  at.put("json", options.json);
}

int run(const InspectOptions& options, const CLI::App&) {
  const network::Network network = open_model(options.model.source, options.model.context);
  const std::vector<product::Support> engines =
      product::supports(network, board::this_machine(), options.model.context);
  show(options.json ? present::inspection_json(network, engines)
                    : present::inspection_text(network, engines));
  return 0;
}

struct CalibrateOptions {
  product::CalibrateRequest request;
  bool json = false;
};

void bind(Places& at, CalibrateOptions& options) {
  product::CalibrateRequest& request = options.request;
  bind_model(at, request.setup);
  bind_processors(at, request.setup);
  bind_samples(at, request.frames, request.application);
  at.put("method", request.method).put("percentile", request.percentile);
  at.put("correct-bias", request.corrects_bias).put("equalise", request.equalised);
  at.put("output", request.output).put("json", options.json);
}

int run(const CalibrateOptions& options, const CLI::App& verb) {
  refuse_two_results(options.json, options.request.output);
  refuse_unless(options.request.method == "percentile", verb, "--percentile",
                "--method percentile");
  const product::Calibrated calibrated = calibrate(options.request);
  if (options.json)
    show(present::calibration_json(calibrated));
  else if (calibrated.output != standard_output)
    show(present::calibration_text(calibrated));
  return 0;
}

struct VerifyOptions {
  product::VerifyRequest request;
  bool json = false;
};

void bind(Places& at, VerifyOptions& options) {
  product::VerifyRequest& request = options.request;
  bind_runnable(at, request.runnable, "A plan file (.json)");
  bind_frames(at, request.frames);
  at.put("random-mappings", request.mappings).put("against", request.against);
  at.put("tolerance", request.tolerance).put("json", options.json);
}

int run(const VerifyOptions& options, const CLI::App&) {
  const std::string& against = options.request.against;
  const product::VerifyResult result = verify(options.request);
  show(options.json ? present::verification_json(result, against)
                    : present::verification_text(result, against));
  return result.equal() ? 0 : answer_is_no;
}

}  // namespace

void add_inspect(CLI::App& app, int& exit_code) {
  add_verb<InspectOptions>(app, exit_code, {"inspect", bind, run});
}

void add_calibrate(CLI::App& app, int& exit_code) {
  add_verb<CalibrateOptions>(app, exit_code, {"calibrate", bind, run});
}

void add_verify(CLI::App& app, int& exit_code) {
  add_verb<VerifyOptions>(app, exit_code, {"verify", bind, run});
}

}  // namespace millrace::cli
