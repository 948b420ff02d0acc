#include "api/calibrate.h"

#include <fmt/format.h>

#include <filesystem>

#include "api/calibration/scenes.h"
#include "api/open_model.h"
#include "api/written_over.h"
#include "base/file.h"
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

profile::CalibrationResult calibrate(const CalibrateRequest& request,
                                     const network::Network& network) {
  const Frames frames = open_frames(network, request.frames, request.setup.source.seed);
  if (request.frames.inputs.empty())
    request.setup.context.note(
        "warning: inputs are random; real inputs have other ranges; give --input");
  const auto engine = make_engine(request.setup);
  const InterruptGuard interrupt;
  const auto work = request.setup.context.begin("calibrating " + network.name);
  profile::CalibrateOptions options;
  options.method = method_of(request.method);
  options.percentile = request.percentile;
  options.means = request.corrects_bias;
  options.progress = [&](double share) {
    work->show(share, fmt::format("{} frames", frames.count));
    interrupt.check();
  };
  const profile::Samples samples = samples_of(network, frames);
  warn_of_one_scene(samples, request.setup.context);
  return profile::calibrate({&network, engine.get(), load_board(request.setup).processors.front()},
                            samples, options);
}

}  // namespace

Calibrated calibrate(const CalibrateRequest& request) {
  const network::ModelSource& source = request.setup.source;
  const network::Network network = open_model(source, request.setup.context);
  Calibrated calibrated{network.name, {}, request.output};
  std::string& output = calibrated.output;
  if (output.empty())
    output = std::filesystem::path(source.file).stem().string() + ".calibration.json";
  FilesRead files;
  files.add(source);
  files.add(request.frames);
  files.refuse(output);
  check_writable(output);
  calibrated.result = calibrate(request, network);
  network::write_calibration(output, calibrated.result.table);
  return calibrated;
}

}  // namespace millrace::api
