#include "cli/options/model.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "cli/options/between.h"
#include "cli/print/progress.h"

namespace millrace::cli {

void bind_model(CLI::App& verb, api::Setup& setup) {
  verb.add_option("model", setup.source.file,
                  "An ONNX file, a Darknet configuration (.cfg), or the name of a zoo network")
      ->required();
  bind_input(verb, setup);
}

void bind_input(CLI::App& verb, api::Setup& setup) {
  setup.context.listener = &terminal();
  network::ModelSource& source = setup.source;
  verb.add_option_function<std::vector<std::string>>(
      "--shape",
      [&source](const std::vector<std::string>& texts) {
        for (const std::string& text : texts) network::add_shape(source, text, "--shape");
      },
      "For a model: fix an input's shape, NAME=1x3x224x224 (repeatable)");
  verb.add_option("--size", source.size,
                  "For a .cfg file or a detector of the zoo: width and height of its input")
      ->check(CLI::Range(1, 1 << 20));
  verb.add_option_function<std::string>(
      "--weights", [&source](const std::string& text) { source.weights = text; },
      "For a .cfg file: its weights, if they are not beside it as FILE.weights");
}

void bind_processors(CLI::App& verb, api::Setup& setup) {
  verb.add_option("--processors", setup.processors,
                  "Use only these, such as core0,core1; core0+core1 or cores0-1: both on one layer")
      ->delimiter(',');
  verb.add_option("--engine", setup.engine, "The engine that runs the layers")
      ->capture_default_str();
  verb.add_option("--seed", setup.source.seed, "Seed of everything random")->capture_default_str();
  verb.add_flag("!--no-cache", setup.context.cache,
                "Neither read nor write the cache folder: stored profiles, packed weights");
}

void bind_variants(CLI::App& verb, api::VariantOptions& options) {
  const auto add = [&options](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      const board::Precision precision = board::read_precision(text, "--precision");
      if (std::ranges::find(options.precisions, precision) != options.precisions.end())
        throw InputError("--precision", fmt::format("'{}' stands there twice; give it once", text));
      options.precisions.push_back(precision);
    }
  };
  verb.add_option_function<std::vector<std::string>>(
          "--precision", add, "In what layers may compute: f32, f16, bf16, int8")
      ->delimiter(',')
      ->default_str("f32");
  verb.add_option("--max-error", options.max_error,
                  "Leave out variants of a layer whose results are further off, in shares of the "
                  "largest; 0.001 for f32, for others none, if left out")
      ->check(between(0.0, 1e9));
}

}  // namespace millrace::cli
