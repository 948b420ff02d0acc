// millrace zoo [NAME -o FILE]
#include "network/zoo.h"

#include <fmt/format.h>

#include <optional>

#include "api/json/model.h"
#include "api/text/model.h"
#include "base/file.h"
#include "base/printable.h"
#include "cli/options/common.h"
#include "cli/verbs/verbs.h"

namespace millrace::cli {
namespace {

struct ZooOptions {
  std::string name, output;
  std::uint64_t seed = 1;
  std::optional<std::int64_t> size;
  bool json = false;
};

void bind(CLI::App& verb, ZooOptions& options) {
  verb.add_option("name", options.name,
                  "The network to write; default: print the list of networks");
  verb.add_option("-o,--output", options.output, "The file to write; default: NAME.onnx");
  verb.add_option("--size", options.size, "Width and height of a detector's input, in pixels");
  verb.add_option("--seed", options.seed, "Seed of the weights")->capture_default_str();
  bind_json(verb, options.json);
}

int run(const ZooOptions& options) {
  if (options.name.empty()) {
    fmt::print("{}", options.json ? api::zoo_json() : api::zoo_text());
    return 0;
  }
  const std::string path = options.output.empty() ? options.name + ".onnx" : options.output;
  refuse_two_results(options.json, path);
  write_file(path, network::zoo_model(options.name, options.seed, options.size));
  if (path == standard_output) return 0;
  if (options.json)
    fmt::print("{}", api::zoo_model_json(options.name, path, options.seed));
  else
    fmt::print("{}: {} with random weights, seed {}\n", printable(path), options.name,
               options.seed);
  return 0;
}

}  // namespace

void add_zoo(CLI::App& app, int& exit_code) {
  add_verb<ZooOptions>(app, exit_code,
                       {{"zoo", "List or write well-known architectures with seeded random weights",
                         "millrace zoo resnet18 -o resnet18.onnx"},
                        bind,
                        run});
}

}  // namespace millrace::cli
