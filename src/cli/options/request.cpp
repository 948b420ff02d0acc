#include "cli/options/request.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "cli/print/progress.h"
#include "formats/fixed_inputs.h"

namespace millrace::cli {
namespace {

constexpr const char* models =
    "An ONNX file, a Darknet configuration (.cfg) or a zoo network";

}  // namespace

void bind_known_inputs(Places& at, formats::ModelSource& source) {
  at.each("shape", [&](const std::string& text) { add_shape(source, text, "--shape"); });
  at.each("fix", [&](const std::string& text) { add_fixed(source, text, "--fix"); });
}

void bind_input(Places& at, product::Setup& setup) {
  attach_terminal(setup.context);
  bind_known_inputs(at, setup.source);
  at.put("size", setup.source.size);
  at.each("weights", [&](const std::string& text) { setup.source.weights = text; });
}

void bind_model(Places& at, product::Setup& setup) {
  at.word("model", setup.source.file, models)->required();
  bind_input(at, setup);
}

void bind_engine_libraries(Places& at, product::Context& context) {
  at.each("engine-library", [&](const std::string& text) { product::add_library(context, text); });
  at.each("engine-option", [&](const std::string& text) { product::add_setting(context, text); });
}

void bind_processors(Places& at, product::Setup& setup) {
  at.put("processors", setup.processors).put("engine", setup.engine);
  bind_engine_libraries(at, setup.context);
  at.put("seed", setup.source.seed).put("no-cache", setup.context.cache);
}

void bind_variants(Places& at, product::VariantOptions& options) {
  at.each("precision", [&options](const std::string& text) {
    const board::Precision precision = board::read_precision(text, "--precision");
    if (std::ranges::find(options.precisions, precision) != options.precisions.end())
      throw InputError("--precision", fmt::format("'{}' is given twice; give it once", text));
    options.precisions.push_back(precision);
  });
  at.put("max-error", options.max_error);
}

void bind_frames(Places& at, application::FrameOptions& options) {
  at.put("input", options.inputs).put("random", options.random).put("mean", options.mean);
  at.put("std", options.deviation).put("bgr", options.bgr).put("raw", options.raw);
}

void bind_samples(Places& at, application::FrameOptions& frames,
                  product::ApplicationFrameOptions& application) {
  frames.resize = false;
  bind_frames(at, frames);
  at.put("resize", frames.resize).put("frames", application.most_frames);
  at.put("plugin", application.plugins);
}

void bind_runnable(Places& at, product::RunnableOptions& options, const std::string& files) {
  // Not "plan": `bench` has an option of that name, and newer versions of CLI11 refuse both.
  at.word("plan_or_model", options.model.source.file,
          files + ", an ONNX file, a Darknet configuration (.cfg) or a zoo network")
      ->required();
  bind_input(at, options.model);
  at.put("model", options.network);
  bind_processors(at, options.model);
}

void bind_application(Places& at, product::ApplicationOptions& options) {
  at.put("plan", options.plan).put("plugin", options.plugins).put("frames", options.frames);
  at.put("labels-from", options.labels_from);
}

void bind_trace(Places& at, product::TraceOptions& options) {
  at.put("trace", options.file).put("trace-frames", options.frames);
}

void refuse_two_results(bool json, const std::string& output) {
  if (json && output == standard_output)
    throw InputError("--json",
                     "prints to standard output, as '-o -' does; name a file with "
                     "--output, or leave out one of the two");
}

}  // namespace millrace::cli
