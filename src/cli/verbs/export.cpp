// millrace export PLAN --format dot|sdf3
#include <fmt/format.h>

#include "api/loaded.h"
#include "api/open_model.h"
#include "api/written_over.h"
#include "base/file.h"
#include "cli/options/common.h"
#include "cli/print/progress.h"
#include "cli/verbs/verbs.h"
#include "dataflow/analysis.h"
#include "dataflow/sdf3.h"
#include "plan/build.h"
#include "schedule/graph.h"

namespace millrace::cli {

namespace {

struct ExportOptions {
  std::string plan, model, output, format = "dot";
  bool sdf = false;
};

void bind(CLI::App& verb, ExportOptions& options) {
  verb.add_option("plan", options.plan, "The plan file")->required();
  verb.add_option("--model", options.model, model_moved);
  verb.add_option("--format", options.format,
                  "dot: Graphviz; a token is one element. sdf3: the XML of SDF3; a token is one "
                  "frame, times are in nanoseconds, channels have capacities")
      ->check(CLI::IsMember({"dot", "sdf3"}))
      ->capture_default_str();
  verb.add_option("-o,--output", options.output, "The file to write; default: standard output");
  verb.add_flag("--sdf", options.sdf,
                "Write the network's SDF graph instead, with one actor per layer");
}

dataflow::Graph graph_of(const ExportOptions& options, const api::Loaded& loaded) {
  if (options.sdf) return plan::sdf_graph(loaded.network);
  schedule::GraphOptions graph_options;
  graph_options.tokens_are_elements = options.format == "dot";
  graph_options.phase_times = plan::predicted_times(loaded.plan, loaded.evidence);
  if (graph_options.phase_times.empty())
    note(
        "the plan has no times of its phases, so the graph has none; plan again with 'millrace "
        "plan'");
  return schedule::csdf_graph(loaded.plan, loaded.network, graph_options);
}

int run(const ExportOptions& options) {
  api::FilesRead files;
  files.add("plan", options.plan);
  files.add(api::model_of_plan(options.plan, options.model));
  files.refuse(options.output);
  const auto loaded =
      api::read_plan_and_network(options.plan, options.model, {.listener = &terminal()});
  const dataflow::Graph graph = graph_of(options, *loaded);
  const std::string text =
      options.format == "dot" ? dataflow::to_dot(graph) : dataflow::to_sdf3(graph);
  if (options.output.empty())
    fmt::print("{}", text);
  else
    write_file(options.output, text);
  return 0;
}

}  // namespace

void add_export(CLI::App& app, int& exit_code) {
  add_verb<ExportOptions>(app, exit_code,
                          {{"export", "Write a plan's dataflow graph for other tools",
                            "millrace export resnet18.plan.json --format dot -o resnet18.dot"},
                           bind,
                           run});
}

}  // namespace millrace::cli
