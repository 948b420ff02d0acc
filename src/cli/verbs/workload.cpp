// millrace workload ACTION MODEL|FILE
#include <fmt/format.h>

#include <array>
#include <map>

#include "api/json/tiles.h"
#include "api/open_model.h"
#include "api/text/tiles.h"
#include "api/tiles/simulate.h"
#include "api/tiles/tiles.h"
#include "api/written_over.h"
#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/trace.h"
#include "cli/options/common.h"
#include "cli/options/model.h"
#include "cli/print/progress.h"
#include "cli/verbs/verbs.h"
#include "report/gantt.h"
#include "report/workload.h"
#include "workload/check/check.h"
#include "workload/facts.h"
#include "workload/program_file.h"

namespace millrace::cli {
namespace {

struct WorkloadOptions {
  std::string action, file, other, model, output, board, gantt, trace;
  std::vector<std::string> layers, beside;
  network::ModelSource source;  // but for its file
  std::vector<std::int64_t> streams;
  std::int64_t parts = 1;
  std::optional<std::int64_t> scratchpad_kib;
  std::uint64_t seed = 1;
  int repetitions = 1;
  bool overlap = false, layer_by_layer = false, json = false;
  std::vector<std::pair<CLI::Option*, std::string_view>> of_actions = {};
};

/// Which actions an option is for.
constexpr std::array<std::pair<const char*, std::string_view>, 17> option_actions{{
    {"other", "diff"},
    {"--layer", "make"},
    {"--scratchpad-kib", "make"},
    {"--parts", "make"},
    {"--overlap", "make"},
    {"--layer-by-layer", "make"},
    {"--board", "make, simulate"},
    {"--shape", "make, check, run"}, {"--fix", "make, check, run"},
    {"--streams", "simulate"},
    {"--beside", "simulate"},
    {"--model", "check, run"},
    {"--seed", "check, run"},
    {"--repetitions", "run"},
    {"--output", "make"},
    {"--gantt", "simulate"},
    {"--trace", "simulate"},
}};

void bind(CLI::App& verb, WorkloadOptions& options) {
  verb.add_option(
          "action", options.action,
          "make: a program of tiles of a model. show: its table and steps. check: whether it "
          "may run. simulate: cycle by cycle. run: beside the plain loops. diff: two files")
      ->required()
      ->check(CLI::IsMember({"make", "show", "check", "simulate", "run", "diff"}));
  verb.add_option("file", options.file, "For make a model, else a program file")->required();
  verb.add_option("other", options.other, "For diff: the second file");
  begin_group(verb, "Make");
  verb.add_option("--layer", options.layers, "Only this layer; may be given again");
  verb.add_option("--scratchpad-kib", options.scratchpad_kib,
                  "Size of the fast memory. Default: the board's, or 256")
      ->check(CLI::Range(1, 1 << 20));
  verb.add_option("--parts", options.parts,
                  "Networks that part the fast memory between them: this one gets such a part")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  verb.add_flag("--overlap", options.overlap, "Move tiles while others are computed");
  verb.add_flag("--layer-by-layer", options.layer_by_layer,
                "A workload for each layer, also where several are faster as one");
  verb.add_option("--board", options.board,
                  "A shipped board or a board file, whose rates count; also for simulate");
  bind_known_inputs(verb, options.source);
  begin_group(verb, "Simulate");
  verb.add_option("--streams", options.streams,
                  "Streams of frames on which the network runs; may be given again, for the "
                  "networks of --beside")
      ->check(CLI::Range(1, 1000));
  verb.add_option("--beside", options.beside,
                  "A program of another network on the same device; may be given again");
  begin_group(verb, "Check and run");
  verb.add_option("--model", options.model, "The program's model");
  verb.add_option("--seed", options.seed, "Of the random inputs")->capture_default_str();
  verb.add_option("--repetitions", options.repetitions, "Runs, of which the fastest is shown")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  begin_group(verb, "Output");
  verb.add_option("-o,--output", options.output, "For make: the program file to write");
  verb.add_option("--gantt", options.gantt,
                  "For simulate: the timing diagram of the first workload, SVG");
  verb.add_option("--trace", options.trace,
                  "For simulate: the same for chrome://tracing or Perfetto");
  bind_json(verb, options.json);
  for (const auto& [name, actions] : option_actions)
    options.of_actions.emplace_back(verb.get_option(name), actions);
}

network::ModelSource source_of(WorkloadOptions options, const std::string& file) {
  options.source.file = file;
  return options.source;
}

int make(const WorkloadOptions& options) {
  refuse_two_results(options.json, options.output);
  api::TilesRequest request;
  request.model = source_of(options, options.file);
  request.layers = options.layers;
  request.board = options.board;
  request.overlap = options.overlap;
  request.fuse = !options.layer_by_layer;
  if (options.scratchpad_kib) request.scratchpad = Bytes{*options.scratchpad_kib * 1024};
  request.parts = options.parts;
  const api::MadeTiles made = api::make_tiles(request);
  const workload::Program& program = made.compiled.program;
  if (options.output == standard_output) {
    workload::write_program(options.output, program);
    return 0;
  }
  if (!options.output.empty()) workload::write_program(options.output, program);
  fmt::print("{}", options.json
                       ? report::program_json(program, made.compiled.tilings)
                       : printable_lines(report::program_text(program, made.compiled.tilings)));
  if (!options.json)
    fmt::print("the search took {}\n", to_text(time_from_seconds(made.search_seconds)));
  return 0;
}

int show(const WorkloadOptions& options) {
  const workload::Program program = workload::read_program(options.file);
  fmt::print("{}", options.json ? report::program_json(program)
                                : printable_lines(report::shown_text(program)));
  return 0;
}

/// `right`: what is printed if nothing was found.
int say(const WorkloadOptions& options, const std::vector<std::string>& found,
        const std::string& right) {
  fmt::print("{}", options.json ? api::findings_json(options.file, found)
                                : api::findings_text(found, right));
  return found.empty() ? 0 : answer_is_no;
}

int check(const WorkloadOptions& options) {
  const workload::Program program = workload::read_program(options.file);
  const bool computes = !options.model.empty();
  const auto model = source_of(options, options.model);
  const auto found = computes ? api::tiles_faults(program, api::open_model(model), options.seed)
                              : workload::violations(program);
  return say(options, found,
             fmt::format("{}: every output element is written once, and nothing races{}\n",
                         printable(options.file),
                         computes ? "; the results are those of the layers" : ""));
}

int simulate_streams(const WorkloadOptions& options) {
  for (const auto& [option, file] :
       {std::pair{"--gantt", &options.gantt}, {"--trace", &options.trace}})
    if (!file->empty())
      throw InputError(option, "is of one network on one stream; leave out --streams and --beside");
  std::vector<std::string> files{options.file};
  files.insert(files.end(), options.beside.begin(), options.beside.end());
  const api::SimulatedNetworks simulated =
      api::simulate_streams({files, options.streams, options.board});
  fmt::print("{}", options.json ? report::streams_json(simulated.report)
                                : printable_lines(report::streams_text(simulated.report)));
  return 0;
}

int simulate(const WorkloadOptions& options) {
  if (!options.streams.empty() || !options.beside.empty()) return simulate_streams(options);
  const api::SimulatedTiles simulated = api::simulate_tiles(options.file, options.board);
  const workload::Program& program = simulated.program;
  fmt::print("{}", options.json
                       ? report::simulated_json(program, simulated.report)
                       : printable_lines(report::simulated_text(program, simulated.report)));
  if (program.workloads.empty()) return 0;
  const workload::Workload& first = program.workloads.front();
  const Trace trace = workload::trace_of(first, simulated.report.workloads.front());
  if (!options.gantt.empty())
    write_file(options.gantt, report::gantt_svg(trace, {first.name + ", cycles", {}, {}}));
  if (!options.trace.empty()) write_chrome_trace(options.trace, trace);
  return 0;
}

int run_beside_loops(const WorkloadOptions& options) {
  if (options.model.empty()) throw InputError("--model", "run needs the program's model");
  const workload::Program program = workload::read_program(options.file);
  const network::Network network = api::open_model(source_of(options, options.model));
  const std::vector<api::TilesRun> runs =
      api::run_tiles(program, network, options.seed, options.repetitions);
  fmt::print(
      "{}", options.json ? api::tiles_json(program, runs) : printable_lines(api::tiles_text(runs)));
  const double difference = api::largest_difference(runs);
  if (difference <= api::tiles_tolerance) return 0;
  note(fmt::format("a result differs by {:.1e} of the largest, at most {:.0e} is allowed",
                   difference, api::tiles_tolerance));
  return answer_is_no;
}

int diff(const WorkloadOptions& options) {
  if (options.other.empty()) throw InputError("other", "diff needs a second program file");
  const auto program = workload::read_program(options.file);
  return say(options, workload::differences(program, workload::read_program(options.other)), "");
}

/// What an action does not use would be passed over in silence.
void refuse_options_of_other_actions(const WorkloadOptions& options) {
  for (const auto& [option, actions] : options.of_actions)
    if (option->count() > 0 && actions.find(options.action) == actions.npos)
      throw InputError(option->get_name(),
                       fmt::format("is for {}, not for {}; leave it out", actions, options.action));
}

int run(const WorkloadOptions& options) {
  refuse_options_of_other_actions(options);
  api::FilesRead files;
  files.add(source_of(options, options.file));
  if (!options.model.empty()) files.add(source_of(options, options.model));
  files.add("program", options.other);
  files.add("board file", options.board);
  for (const std::string& beside : options.beside) files.add("program", beside);
  files.refuse_unwritable({options.output, options.gantt, options.trace});
  static const std::map<std::string, int (*)(const WorkloadOptions&)> actions{
      {"make", make},
      {"show", show},
      {"check", check},
      {"simulate", simulate},
      {"run", run_beside_loops},
      {"diff", diff}};
  return actions.at(options.action)(options);
}

}  // namespace

void add_workload(CLI::App& app, int& exit_code) {
  add_verb<WorkloadOptions>(
      app, exit_code,
      {{"workload", "Tile-level programs of layers: make, show, check, simulate, run, compare",
        "millrace workload make resnet18 --layer conv1 --scratchpad-kib 256 -o conv1.json"},
       bind,
       run});
}

}  // namespace millrace::cli
