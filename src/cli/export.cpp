// millrace export PLAN --format dot
#include <fmt/format.h>

#include "base/file.h"
#include "cli/model.h"
#include "cli/verbs.h"
#include "dataflow/analysis.h"
#include "plan/build.h"

namespace millrace::cli {
namespace {

struct Options {
  std::string plan, model, output, format = "dot";
  bool sdf = false;
};

void bind(CLI::App& verb, Options& options) {
  verb.add_option("plan", options.plan, "A plan file")->required();
  verb.add_option("--model", options.model, "The model, if it is no longer where it was");
  verb.add_option("--format", options.format, "dot: Graphviz")
      ->check(CLI::IsMember({"dot"}))
      ->capture_default_str();
  verb.add_option("-o,--output", options.output, "The file to write; standard output if left out");
  verb.add_flag("--sdf", options.sdf, "The network's SDF graph, one actor per layer, instead");
}

int run(const Options& options) {
  const auto loaded = load_plan(options.plan, options.model);
  plan::GraphOptions graph_options;
  graph_options.tokens_are_elements = true;
  const dataflow::Graph graph =
      options.sdf ? plan::sdf_graph(loaded->network)
                  : plan::csdf_graph(loaded->plan, loaded->network, graph_options);
  const std::string text = dataflow::to_dot(graph);
  if (options.output.empty())
    fmt::print("{}", text);
  else
    write_file(options.output, text);
  return 0;
}

}  // namespace

void add_export(CLI::App& app, int& exit_code) {
  add_verb<Options>(app, exit_code,
                    {{"export", "Write a plan's dataflow graph for other tools",
                      "millrace export resnet18.plan.json --format dot -o resnet18.dot"},
                     bind,
                     run});
}

}  // namespace millrace::cli
