// millrace workload ACTION MODEL|FILE
#include <fmt/format.h>

#include <map>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/trace.h"
#include "cli/options/request.h"
#include "cli/print/progress.h"
#include "cli/verbs/tiles.h"
#include "cli/verbs/verbs.h"
#include "present/results/workload.h"
#include "present/svg/gantt.h"
#include "present/results/tiles.h"
#include "product/open_model.h"
#include "product/written_over.h"
#include "workload/check/check.h"
#include "workload/facts.h"
#include "workload/program_file.h"
#include "workload/tiles/simulate.h"
#include "workload/tiles/tiles.h"

namespace millrace::cli {
namespace {

struct WorkloadOptions {
  std::string action, file, other, model, output;
  std::vector<std::string> layers;
  TilesToSimulate simulated;
  formats::ModelSource source;  // but for its file
  std::vector<std::int64_t> scratchpad_kib;
  std::int64_t parts = 1;
  std::uint64_t seed = 1;
  int repetitions = 1;
  bool overlap = false, layer_by_layer = false, json = false;
};

void bind(Places& at, WorkloadOptions& options) {
  at.word("action", options.action,
          "make: a program of tiles of a model. show: its table and steps. check: whether it may "
          "run. simulate: cycle by cycle. run: beside the plain loops. diff: two files")
      ->required()
      ->check(CLI::IsMember({"make", "show", "check", "simulate", "run", "diff"}));
  at.word("file", options.file, "For make a model, else a program file")->required();
  at.word("other", options.other, "For diff: the second file");
  bind_known_inputs(at, options.source);
  at.put("layer", options.layers).put("scratchpad-kib", options.scratchpad_kib);
  at.put("parts", options.parts).put("overlap", options.overlap);
  at.put("layer-by-layer", options.layer_by_layer).put("board", options.simulated.board);
  TilesToSimulate& simulated = options.simulated;
  at.put("streams", simulated.streams).put("beside", simulated.beside);
  at.put("gantt", simulated.gantt).put("trace", simulated.trace).put("model", options.model);
  at.put("seed", options.seed).put("repetitions", options.repetitions);
  at.put("output", options.output);
  at.put("json", options.json);
}

formats::ModelSource source_of(WorkloadOptions options, const std::string& file) {
  options.source.file = file;
  return options.source;
}

int make(const WorkloadOptions& options) {
  refuse_two_results(options.json, options.output);
  workload::TilesRequest request;
  request.layers = options.layers;
  request.board = options.simulated.board;
  request.overlap = options.overlap;
  request.fuse = !options.layer_by_layer;
  for (const auto kib : options.scratchpad_kib) request.memories.push_back(Bytes{kib * 1024});
  request.parts = options.parts;
  const workload::MadeTiles made =
      workload::make_tiles(product::open_model(source_of(options, options.file)), request);
  const workload::Program& program = made.compiled.program;
  if (options.output == standard_output) {
    workload::write_program(options.output, program);
    return 0;
  }
  if (!options.output.empty()) workload::write_program(options.output, program);
  show(options.json ? present::program_json(program, made.compiled.tilings)
                    : printable_lines(present::program_text(program, made.compiled.tilings)));
  if (!options.json)
    fmt::print("the search took {}\n", to_text(time_from_seconds(made.search_seconds)));
  return 0;
}

int show_program(const WorkloadOptions& options) {
  const workload::Program program = workload::read_program(options.file);
  show(options.json ? present::program_json(program)
                    : printable_lines(present::shown_text(program)));
  return 0;
}

int check(const WorkloadOptions& options) {
  const workload::Program program = workload::read_program(options.file);
  const bool computes = !options.model.empty();
  const auto model = source_of(options, options.model);
  const auto found = computes
                         ? workload::tiles_faults(program, product::open_model(model), options.seed)
                         : workload::violations(program);
  return say_findings({options.file, options.json}, found,
                      fmt::format("{}: every output element is written once, and nothing races{}\n",
                                  printable(options.file),
                                  computes ? "; the results are those of the layers" : ""));
}

int simulate(const WorkloadOptions& options) {
  TilesToSimulate simulated = options.simulated;
  simulated.file = options.file;
  simulated.json = options.json;
  return simulate_tiles(simulated);
}

int run_beside_loops(const WorkloadOptions& options) {
  if (options.model.empty()) throw InputError("--model", "run needs the program's model");
  const workload::Program program = workload::read_program(options.file);
  const network::Network network = product::open_model(source_of(options, options.model));
  const std::vector<workload::TilesRun> runs =
      workload::run_tiles(program, network, options.seed, options.repetitions);
  show(options.json ? present::tiles_json(program, runs)
                    : printable_lines(present::tiles_text(runs)));
  const double difference = workload::largest_difference(runs);
  if (difference <= workload::tiles_tolerance) return 0;
  note(fmt::format("a result differs by {:.1e} of the largest, at most {:.0e} is allowed",
                   difference, workload::tiles_tolerance));
  return answer_is_no;
}

int diff(const WorkloadOptions& options) {
  if (options.other.empty()) throw InputError("other", "diff needs a second program file");
  const workload::Program left = workload::read_program(options.file);
  const workload::Program right = workload::read_program(options.other);
  return say_findings({options.file, options.json}, workload::differences(left, right), "");
}

int run(const WorkloadOptions& options, const CLI::App& verb) {
  refuse_others(verb, options.action);
  if (!options.other.empty() && options.action != "diff")
    throw InputError("other", "is for diff, not for " + options.action + "; leave it out");
  product::FilesRead files;
  files.add(source_of(options, options.file));
  if (!options.model.empty()) files.add(source_of(options, options.model));
  files.add("program", options.other);
  files.add("board file", options.simulated.board);
  for (const std::string& beside : options.simulated.beside) files.add("program", beside);
  files.refuse_unwritable({options.output, options.simulated.gantt, options.simulated.trace});
  static const std::map<std::string, int (*)(const WorkloadOptions&)> actions{
      {"make", make},         {"show", show_program},    {"check", check},
      {"simulate", simulate}, {"run", run_beside_loops}, {"diff", diff}};
  return actions.at(options.action)(options);
}

}  // namespace

void add_workload(CLI::App& app, int& exit_code) {
  add_verb<WorkloadOptions>(app, exit_code, {"workload", bind, run});
}

}  // namespace millrace::cli
