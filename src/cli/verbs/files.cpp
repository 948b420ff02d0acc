// millrace bundle, millrace zoo, millrace completion
#include <fmt/format.h>

#include <optional>

#include "base/file.h"
#include "base/printable.h"
#include "base/shell_word.h"
#include "cli/options/request.h"
#include "cli/print/completion.h"
#include "cli/print/progress.h"
#include "cli/verbs/verbs.h"
#include "formats/zoo.h"
#include "present/results/machine.h"
#include "present/results/model.h"
#include "product/planning/bundle.h"

namespace millrace::cli {
namespace {

struct BundleOptions {
  product::BundleRequest request;
  bool json = false;
};

void bind(Places& at, BundleOptions& options) {
  at.word("plan", options.request.plan, "The plan file")->required();
  at.put("output", options.request.folder).put("model", options.request.model);
  at.put("labels", options.request.labels).put("json", options.json);
  bind_engine_libraries(at, options.request.context);
}

int run(const BundleOptions& options, const CLI::App&) {
  const product::Bundle bundle = product::make_bundle(options.request);
  const std::string folder = options.request.folder.string();
  if (options.json) {
    show(present::bundle_json(folder, bundle));
    return 0;
  }
  const auto place = [&](const std::filesystem::path& file) {
    return printable((options.request.folder / file).string());
  };
  for (const auto& file : bundle.files) fmt::print("{}\n", place(file));
  if (!bundle.has_model)
    fmt::print("No model: the network is one of the zoo, which every Millrace has\n");
  fmt::print("\nCopy the folder to the board, then run there: millrace bench {}\n",
             printable(shell_word((options.request.folder / bundle.files.front()).string())));
  return 0;
}

struct ZooOptions {
  std::string name, output;
  std::uint64_t seed = 1;
  std::optional<std::int64_t> size;
  bool json = false;
};

void bind(Places& at, ZooOptions& options) {
  at.word("name", options.name, "The network to write; default: print the list of networks");
  at.put("output", options.output).put("size", options.size).put("seed", options.seed);
  at.put("json", options.json);
}

int run(const ZooOptions& options, const CLI::App&) {
  if (options.name.empty()) {
    show(options.json ? present::zoo_json() : present::zoo_text());
    return 0;
  }
  const std::string path = options.output.empty() ? options.name + ".onnx" : options.output;
  refuse_two_results(options.json, path);
  write_file(path, formats::zoo_model(options.name, options.seed, options.size));
  if (path == standard_output) return 0;
  if (options.json)
    show(present::zoo_model_json(options.name, path, options.seed));
  else
    fmt::print("{}: {} with random weights, seed {}\n", printable(path), options.name,
               options.seed);
  return 0;
}

struct CompletionOptions {
  std::string form;
};

std::string text_in(const std::string& form, const CLI::App& app) {
  if (form == "bash") return bash_completion(app);
  if (form == "zsh") return zsh_completion(app);
  if (form == "fish") return fish_completion(app);
  return man_page(app, MILLRACE_VERSION);
}

}  // namespace

void add_bundle(CLI::App& app, int& exit_code) {
  add_verb<BundleOptions>(app, exit_code, {"bundle", bind, run});
}

void add_zoo(CLI::App& app, int& exit_code) {
  add_verb<ZooOptions>(app, exit_code, {"zoo", bind, run});
}

void add_completion(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<CompletionOptions>();
  CLI::App* command = begin_verb(app, "completion");
  command->add_option("form", options->form, "The shell; man: the manual page")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish", "man"}));
  command->callback([options, &app, &exit_code] {
    show(text_in(options->form, app));
    exit_code = 0;
  });
}

}  // namespace millrace::cli
