#include "cli/options/model.h"

#include "cli/options/between.h"

namespace millrace::cli {

using namespace api;

void bind_model(CLI::App& verb, ModelOptions& options) {
  verb.add_option("model", options.model,
                  "An ONNX file, a Darknet configuration (.cfg), or the name of a zoo network")
      ->required();
  bind_input(verb, options);
}

void bind_input(CLI::App& verb, ModelOptions& options) {
  verb.add_option("--shape", options.shapes,
                  "For a model: fix an input's shape, NAME=1x3x224x224 (repeatable)");
  verb.add_option("--size", options.size,
                  "For a .cfg file or a detector of the zoo: width and height of its input")
      ->check(CLI::Range(1, 1 << 20));
  verb.add_option("--weights", options.weights,
                  "For a .cfg file: its weights, if they are not beside it as FILE.weights");
}

void bind_processors(CLI::App& verb, ModelOptions& options) {
  verb.add_option("--processors", options.processors,
                  "Use only these, such as core0,core1; core0+core1 or cores0-1: both on one layer")
      ->delimiter(',');
  verb.add_option("--engine", options.engine, "The engine that runs the layers")
      ->capture_default_str();
  verb.add_option("--seed", options.seed, "Seed of everything random")->capture_default_str();
  bind_cache(verb, options.cache);
}

void bind_cache(CLI::App& verb, bool& use_cache) {
  verb.add_flag("!--no-cache", use_cache,
                "Neither read nor write the cache folder: stored profiles, packed weights");
}

void bind_variants(CLI::App& verb, VariantOptions& options) {
  verb.add_option("--precision", options.precisions,
                  "In what layers may compute: f32, f16, bf16, int8")
      ->delimiter(',')
      ->default_str("f32");
  verb.add_option("--max-error", options.max_error,
                  "Leave out variants of a layer whose results are further off, in shares of the "
                  "largest; 0.001 for f32, for others none, if left out")
      ->check(between(0.0, 1e9));
}

}  // namespace millrace::cli
