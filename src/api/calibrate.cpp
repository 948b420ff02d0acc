#include "api/calibrate.h"

#include <fmt/format.h>

#include <filesystem>

#include "api/calibration/scenes.h"
#include "api/open_model.h"
#include "api/written_over.h"
#include "application/application_file.h"
#include "base/interrupt.h"
#include "engine/registry.h"

namespace millrace::api {
namespace {

using profile::RangeMethod;

RangeMethod method_of(const std::string& text) {
  for (const RangeMethod method :
       {RangeMethod::minmax, RangeMethod::percentile, RangeMethod::entropy})
    if (text == profile::to_text(method)) return method;
  return RangeMethod::squares;
}

/// Of the application, if the source is one, or of the options.
struct LearningFrames {
  LearningFrames(const CalibrateRequest& request, const network::Network& network) {
    const Context& context = request.setup.context;
    if (is_of_application(request.application, request.frames)) {
      of_application =
          open_application_samples(request.application, request.frames, network, context);
      samples = of_application->samples;
      return;
    }
    if (request.frames.inputs.empty())
      context.note("warning: inputs are random; real inputs have other ranges; give --input");
    samples = samples_of(network, open_frames(network, request.frames, request.setup.source.seed));
  }

  std::unique_ptr<ApplicationSamples> of_application;  // outlives `samples`
  profile::Samples samples;
};

profile::CalibrationResult calibrate(const CalibrateRequest& request,
                                     const network::Network& network) {
  const InterruptGuard interrupt;
  const LearningFrames frames(request, network);
  const auto engine = make_engine(request.setup);
  const auto work = request.setup.context.begin("calibrating " + network.name);
  profile::CalibrateOptions options;
  options.method = method_of(request.method);
  options.percentile = request.percentile;
  options.means = request.corrects_bias;
  options.progress = [&](double share) {
    work->show(share, fmt::format("{} frames", frames.samples.count));
    interrupt.check();
  };
  warn_of_one_scene(frames.samples, request.setup.context);
  return profile::calibrate({&network, engine.get(), load_board(request.setup).processors.front()},
                            frames.samples, options);
}

}  // namespace

Calibrated calibrate(const CalibrateRequest& given) {
  CalibrateRequest request = given;
  const std::string file = given.setup.source.file;
  if (application::is_application_file(file)) request.application.file = file;
  VariantOptions ignored;
  use_network_of_application(request.setup, ignored);
  const network::ModelSource& source = request.setup.source;
  const network::Network network = open_model(source, request.setup.context);
  Calibrated calibrated{network.name, {}, request.output};
  std::string& output = calibrated.output;
  if (output.empty()) output = std::filesystem::path(file).stem().string() + ".calibration.json";
  FilesRead files;
  files.add(request.setup);
  files.add(request.frames);
  files.add(request.application);
  files.refuse_unwritable({output});
  calibrated.result = calibrate(request, network);
  network::write_calibration(output, calibrated.result.table);
  return calibrated;
}

}  // namespace millrace::api
