#include "cli/options/model.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "cli/options/common.h"
#include "cli/options/range_check.h"
#include "cli/print/progress.h"
#include "network/fixed_inputs.h"

namespace millrace::cli {

void bind_model(CLI::App& verb, api::Setup& setup) {
  verb.add_option("model", setup.source.file,
                  "An ONNX file, a Darknet configuration (.cfg), or the name of a zoo network")
      ->required();
  bind_input(verb, setup);
}

void bind_known_inputs(CLI::App& verb, network::ModelSource& source) {
  const auto add = [&](const char* name, auto* add_one, const char* description) {
    const auto add_all = [&source, name, add_one](const std::vector<std::string>& texts) {
      for (const std::string& text : texts) add_one(source, text, name);
    };
    verb.add_option_function<std::vector<std::string>>(name, add_all, description);
  };
  add("--shape", network::add_shape, "Shape of an ONNX input, NAME=1x3x224x224 (repeatable)");
  add("--fix", network::add_fixed, "Value of an ONNX input for good, NAME=16000 (repeatable)");
}

void bind_input(CLI::App& verb, api::Setup& setup) {
  attach_terminal(setup.context);
  begin_group(verb, "Model");
  bind_known_inputs(verb, setup.source);
  verb.add_option("--size", setup.source.size,
                  "Width and height of the input in pixels, for a .cfg file or a zoo detector")
      ->check(CLI::Range(1, 1 << 20));
  verb.add_option_function<std::string>(
      "--weights", [&setup](const std::string& text) { setup.source.weights = text; },
      "The weights of a .cfg file; default: the .weights file of the same name in its folder");
}

void bind_engine_libraries(CLI::App& verb, api::Context& context) {
  verb.add_option_function<std::vector<std::string>>(
      "--engine-library",
      [&context](const std::vector<std::string>& texts) {
        for (const std::string& text : texts) api::add_library(context, text);
      },
      "Load an engine's library from here, NAME=FILE (repeatable)");
  verb.add_option_function<std::vector<std::string>>(
      "--engine-option",
      [&context](const std::vector<std::string>& texts) {
        for (const std::string& text : texts) api::add_setting(context, text);
      },
      "Set an option of an engine, NAME.KEY=VALUE (repeatable); docs/engines.md lists them");
}

void bind_processors(CLI::App& verb, api::Setup& setup) {
  begin_group(verb, "Processors");
  verb.add_option("--processors", setup.processors,
                  "Use only these processors, such as core0,core1; default: all. core0+core1 or "
                  "cores0-1 joins cores: they compute each layer together")
      ->delimiter(',');
  verb.add_option("--engine", setup.engine,
                  "The engine that runs the layers; several compete for each layer, as in "
                  "onednn,onnxruntime. Default: the first that `millrace board` lists, those that "
                  "compete with it there, and for a GPU or NPU the engine that reaches it");
  bind_engine_libraries(verb, setup.context);
  verb.add_option("--seed", setup.source.seed, "Seed of all random numbers")->capture_default_str();
  verb.add_flag("!--no-cache", setup.context.cache,
                "Do not use the cache folder, which keeps profiles, and weights in the engine's "
                "layout");
}

void bind_variants(CLI::App& verb, api::VariantOptions& options) {
  const auto add = [&options](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      const board::Precision precision = board::read_precision(text, "--precision");
      if (std::ranges::find(options.precisions, precision) != options.precisions.end())
        throw InputError("--precision", fmt::format("'{}' is given twice; give it once", text));
      options.precisions.push_back(precision);
    }
  };
  begin_group(verb, "Precision");
  verb.add_option_function<std::vector<std::string>>(
          "--precision", add, "The precisions that layers may use: f32, f16, bf16, int8")
      ->delimiter(',')
      ->default_str("f32");
  verb.add_option("--max-error", options.max_error,
                  "Largest allowed error of a variant of a layer, as a share of the layer's "
                  "largest output value. Default: 0.001 for f32, no limit for other precisions")
      ->check(between(0.0, 1e9));
}

}  // namespace millrace::cli
