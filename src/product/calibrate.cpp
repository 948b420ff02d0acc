#include "product/calibrate.h"

#include <fmt/format.h>

#include <filesystem>

#include "application/application_file.h"
#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "engine/registry.h"
#include "product/exporting/onnx.h"
#include "product/open_model.h"
#include "product/written_over.h"
#include "profile/calibration/scenes.h"

namespace millrace::product {
namespace {

using profile::RangeMethod;

RangeMethod method_of(const std::string& text) {
  for (const RangeMethod method :
       {RangeMethod::minmax, RangeMethod::percentile, RangeMethod::entropy})
    if (text == profile::to_text(method)) return method;
  return RangeMethod::squares;
}

/// Frames of the application, if the source is one, or of the options.
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
      context.note("warning: inputs are random; real inputs have other ranges; give ⟨input⟩");
    samples = application::samples_of(
        network, application::open_frames(network, request.frames, request.setup.source.seed));
  }

  std::unique_ptr<ApplicationSamples> of_application;  // outlives `samples`
  profile::Samples samples;
};

/// Runs networks of one model on the frames.
class Runs {
 public:
  Runs(const CalibrateRequest& request, const network::Network& network)
      : request_(request),
        frames_(request, network),
        engine_(make_engine(request.setup)),
        processor_(load_board(request.setup).processors.front()) {
    profile::warn_of_one_scene(frames_.samples, request.setup.context);
  }

  network::Equalised equalised(const network::Network& network) const {
    const auto sizes = run(&profile::channel_sizes, "looking at the channels of ", network);
    return network::equalise(network, sizes);
  }
  profile::CalibrationResult calibrated(const network::Network& network) const {
    return run(&profile::calibrate, "calibrating ", network);
  }

 private:
  template <class Result>
  using Function = Result(const profile::Execution&, const profile::Samples&,
                          const profile::CalibrateOptions&);

  template <class Result>
  Result run(Function<Result>* function, const std::string& what,
             const network::Network& network) const {
    const auto work = request_.setup.context.begin(what + network.name);
    profile::CalibrateOptions options;
    options.method = method_of(request_.method);
    options.percentile = request_.percentile;
    options.means = request_.corrects_bias;
    options.progress = [&](double share) {
      work->show(share, fmt::format("{} frames", frames_.samples.count));
      interrupt_.check();
    };
    return function({&network, engine_.get(), processor_}, frames_.samples, options);
  }

  const CalibrateRequest& request_;
  const InterruptGuard interrupt_{request_.setup.context.interrupt};
  const LearningFrames frames_;
  const std::unique_ptr<engine::Engine> engine_;
  const board::Processor processor_;
};

}  // namespace

Calibrated calibrate(const CalibrateRequest& given) {
  CalibrateRequest request = given;
  const std::string file = given.setup.source.file;
  if (application::is_application_file(file)) request.application.file = file;
  VariantOptions ignored;
  use_network_of_application(request.setup, ignored);
  const formats::ModelSource& source = request.setup.source;
  network::Network network = open_model(source, request.setup.context);
  Calibrated calibrated{network.name, {}, request.output, request.equalised};
  const std::string& equalised = request.equalised;
  std::string& output = calibrated.output;
  if (output.empty())
    output = std::filesystem::path(equalised.empty() ? file : equalised).stem().string() +
             ".calibration.json";
  FilesRead files;
  files.add(request.setup);
  files.add(request.frames);
  files.add(request.application);
  if (!request.writes) output.clear();
  files.refuse_unwritable({output, equalised});
  if (!equalised.empty() && formats::format_of(equalised) != formats::Format::onnx)
    throw InputError("⟨equalise⟩", fmt::format("found '{}', expected the name of an ONNX file, "
                                               "which is calibrated then, such as even.onnx",
                                               equalised));
  const Runs runs(request, network);
  if (!equalised.empty()) {
    const network::Equalised made = runs.equalised(network);
    export_network(made.network, equalised, files);
    calibrated.equalised_channels = made.channels;
    network = open_model({.file = equalised}, request.setup.context);
  }
  calibrated.result = runs.calibrated(network);
  if (request.writes) network::write_calibration(output, calibrated.result.table);
  return calibrated;
}

}  // namespace millrace::product
