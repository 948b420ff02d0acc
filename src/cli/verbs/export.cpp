// millrace export PLAN --format dot|sdf3|onnx|cpp, millrace export MODEL --format onnx, millrace
// export DEPLOYMENT --format cpp
#include <fmt/format.h>

#include "base/file.h"
#include "base/printable.h"
#include "cli/options/request.h"
#include "cli/print/progress.h"
#include "cli/verbs/verbs.h"
#include "dataflow/analysis.h"
#include "dataflow/sdf3.h"
#include "formats/fixed_inputs.h"
#include "plan/build.h"
#include "product/exporting/onnx.h"
#include "product/exporting/program.h"
#include "product/loaded.h"
#include "product/written_over.h"
#include "schedule/graph.h"

namespace millrace::cli {

namespace {

struct ExportOptions {
  product::Setup setup;  // its source: a plan file or a model
  std::string model, output, format = "dot";
  bool sdf = false;
  product::ProgramRequest program;

  const std::string& plan() const { return setup.source.file; }
};

void bind(Places& at, ExportOptions& options) {
  at.word("plan_or_model", options.setup.source.file,
          "The plan file; with --format onnx also an ONNX file, a Darknet configuration (.cfg) or "
          "a zoo network; with --format cpp also a deployment")
      ->required();
  bind_input(at, options.setup);
  at.put("model", options.model).put("format", options.format).put("output", options.output);
  at.put("sdf", options.sdf).put("timed", options.program.timed);
  at.put("link", options.program.libraries).put("include", options.program.include_folders);
}

dataflow::Graph graph_of(const ExportOptions& options, const product::Loaded& loaded) {
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

void refuse_model_options(const formats::ModelSource& source) {
  if (formats::is_read_as_it_is(source)) return;
  throw InputError(source.file, "the plan says it; leave out --shape, --fix, --size, --weights");
}

void print(const product::ExportedModel& written) {
  fmt::print("{}: {} layers{}\n", printable(written.path.string()), written.layers,
             written.weights.empty() ? "" : ", weights in " + printable(written.weights.string()));
}

int export_to_onnx(const ExportOptions& options) {
  if (options.sdf) throw InputError("--sdf", "writes a graph, and --format onnx a network");
  if (options.output.empty())
    throw InputError("--output", "is missing; name the ONNX file, or the folder for a plan's");
  if (!product::is_plan_file(options.plan())) {
    const product::ExportedModel written = product::export_model(options.setup, options.output);
    if (options.output != standard_output) print(written);
    return 0;
  }
  refuse_model_options(options.setup.source);
  const product::PlanToExport plan{options.plan(), options.model};
  for (const product::ExportedModel& written :
       product::export_phases(plan, options.output, at_terminal()))
    print(written);
  return 0;
}

int export_program(const ExportOptions& options) {
  if (options.sdf) throw InputError("--sdf", "writes a graph, and --format cpp a program");
  if (options.output.empty()) throw InputError("--output", "is missing; name the folder to write");
  refuse_model_options(options.setup.source);
  product::ProgramRequest request = options.program;
  request.file = options.plan();
  request.model = options.model;
  request.folder = options.output;
  attach_terminal(request.context);
  const product::WrittenProgram program = product::export_program(request);
  for (const auto& file : program.files)
    fmt::print("{}\n", printable((request.folder / file).string()));
  return 0;
}

int run(const ExportOptions& options, const CLI::App& verb) {
  if (options.format == "cpp") return export_program(options);
  refuse_others(verb, options.format);
  if (options.format == "onnx") return export_to_onnx(options);
  refuse_model_options(options.setup.source);
  product::FilesRead files;
  files.add_plan(options.plan(), options.model);
  files.refuse(options.output);
  const auto loaded = product::read_plan_and_network(options.plan(), options.model, at_terminal());
  const dataflow::Graph graph = graph_of(options, *loaded);
  const std::string text =
      options.format == "dot" ? dataflow::to_dot(graph) : dataflow::to_sdf3(graph);
  if (options.output.empty())
    show(text);
  else
    write_file(options.output, text);
  return 0;
}

}  // namespace

void add_export(CLI::App& app, int& exit_code) {
  add_verb<ExportOptions>(app, exit_code, {"export", bind, run});
}

}  // namespace millrace::cli
