// millrace export PLAN --format dot|sdf3|onnx|cpp, millrace export MODEL --format onnx, millrace
// export DEPLOYMENT --format cpp
#include <fmt/format.h>

#include "api/exporting/onnx.h"
#include "api/exporting/program.h"
#include "api/loaded.h"
#include "api/written_over.h"
#include "base/file.h"
#include "base/printable.h"
#include "cli/options/common.h"
#include "cli/options/model.h"
#include "cli/print/progress.h"
#include "cli/verbs/verbs.h"
#include "dataflow/analysis.h"
#include "dataflow/sdf3.h"
#include "network/fixed_inputs.h"
#include "plan/build.h"
#include "schedule/graph.h"

namespace millrace::cli {

namespace {

struct ExportOptions {
  api::Setup setup;  // its source: a plan file or a model
  std::string model, output, format = "dot";
  bool sdf = false;
  api::ProgramRequest program;
  std::vector<CLI::Option*> of_programs = {};

  const std::string& plan() const { return setup.source.file; }
};

void bind(CLI::App& verb, ExportOptions& options) {
  verb.add_option("plan_or_model", options.setup.source.file,
                  "The plan file; with --format onnx also an ONNX file, a Darknet configuration "
                  "(.cfg) or a zoo network; with --format cpp also a deployment")
      ->required();
  verb.add_option("--model", options.model, model_moved);
  verb.add_option("--format", options.format,
                  "dot: Graphviz; a token is one element. sdf3: the XML of SDF3; a token is one "
                  "frame, times are in nanoseconds, channels have capacities. onnx: the network as "
                  "it is computed, with constants and batch normalisation folded; for a plan one "
                  "model for each phase of a stage. cpp: a folder with a program in C++, to build "
                  "with CMake where Millrace is installed")
      ->check(CLI::IsMember({"dot", "sdf3", "onnx", "cpp"}))
      ->capture_default_str();
  verb.add_option("-o,--output", options.output,
                  "The file to write; default: standard output. For the models of a plan: the "
                  "folder to write into. For a program: the folder to write, new or empty");
  verb.add_flag("--sdf", options.sdf,
                "Write the network's SDF graph instead, with one actor per layer");
  bind_input(verb, options.setup);
  begin_group(verb, "Programs");
  CLI::Option* const timed =
      verb.add_flag("--timed", options.program.timed,
                    "Simulate all processors at their predicted times, for any computer");
  CLI::Option* const link =
      verb.add_option("--link", options.program.libraries,
                      "A library that the tasks of a deployment need (repeatable)");
  CLI::Option* const include = verb.add_option("--include", options.program.include_folders,
                                               "A folder of headers that they need (repeatable)");
  options.of_programs = {timed, link, include};
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

void refuse_model_options(const network::ModelSource& source) {
  if (network::is_read_as_it_is(source)) return;
  throw InputError(source.file, "the plan says it; leave out --shape, --fix, --size, --weights");
}

void print(const api::ExportedModel& written) {
  fmt::print("{}: {} layers{}\n", printable(written.path.string()), written.layers,
             written.weights.empty() ? "" : ", weights in " + printable(written.weights.string()));
}

int export_to_onnx(const ExportOptions& options) {
  if (options.sdf) throw InputError("--sdf", "writes a graph, and --format onnx a network");
  if (options.output.empty())
    throw InputError("--output", "is missing; name the ONNX file, or the folder for a plan's");
  if (!api::is_plan_file(options.plan())) {
    const api::ExportedModel written = api::export_model(options.setup, options.output);
    if (options.output != standard_output) print(written);
    return 0;
  }
  refuse_model_options(options.setup.source);
  const api::PlanToExport plan{options.plan(), options.model};
  for (const api::ExportedModel& written :
       api::export_phases(plan, options.output, at_terminal()))
    print(written);
  return 0;
}

int export_program(const ExportOptions& options) {
  if (options.sdf) throw InputError("--sdf", "writes a graph, and --format cpp a program");
  if (options.output.empty()) throw InputError("--output", "is missing; name the folder to write");
  refuse_model_options(options.setup.source);
  api::ProgramRequest request = options.program;
  request.file = options.plan();
  request.model = options.model;
  request.folder = options.output;
  attach_terminal(request.context);
  const api::WrittenProgram program = api::export_program(request);
  for (const auto& file : program.files)
    fmt::print("{}\n", printable((request.folder / file).string()));
  return 0;
}

int run(const ExportOptions& options) {
  if (options.format == "cpp") return export_program(options);
  for (const CLI::Option* option : options.of_programs)
    if (option->count() > 0)
      throw InputError(option->get_name(), "is for --format cpp; leave it out");
  if (options.format == "onnx") return export_to_onnx(options);
  refuse_model_options(options.setup.source);
  api::FilesRead files;
  files.add_plan(options.plan(), options.model);
  files.refuse(options.output);
  const auto loaded =
      api::read_plan_and_network(options.plan(), options.model, at_terminal());
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
  add_verb<ExportOptions>(
      app, exit_code,
      {{"export", "Write a plan's dataflow graph, a network, or a program in C++",
        "millrace export resnet18.plan.json --format dot -o resnet18.dot"},
       bind,
       run});
}

}  // namespace millrace::cli
