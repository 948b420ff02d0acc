// millrace bundle PLAN -o FOLDER
#include "api/planning/bundle.h"

#include <fmt/format.h>

#include "api/json/files.h"
#include "base/printable.h"
#include "base/shell_word.h"
#include "cli/options/common.h"
#include "cli/verbs/verbs.h"

namespace millrace::cli {
namespace {

struct BundleOptions {
  api::BundleRequest request;
  bool json = false;
};

void bind(CLI::App& verb, BundleOptions& options) {
  verb.add_option("plan", options.request.plan, "The plan file")->required();
  verb.add_option("-o,--output", options.request.folder,
                  "The folder to write. It must be new or empty")
      ->required();
  verb.add_option("--model", options.request.model,
                  model_moved);
  verb.add_option("--labels", options.request.labels, "A file of labels to put into the folder");
  bind_json(verb, options.json);
}

int run(const BundleOptions& options) {
  const api::Bundle bundle = api::make_bundle(options.request);
  const std::string folder = options.request.folder.string();
  if (options.json) {
    fmt::print("{}", bundle_json(folder, bundle));
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

}  // namespace

void add_bundle(CLI::App& app, int& exit_code) {
  add_verb<BundleOptions>(
      app, exit_code,
      {{"bundle", "Copy a plan and its model into one folder, for another machine",
        "millrace bundle resnet18.plan.json -o resnet18_bundle"},
       bind,
       run});
}

}  // namespace millrace::cli
