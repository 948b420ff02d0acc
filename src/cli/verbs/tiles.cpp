#include "cli/verbs/tiles.h"
#include "cli/print/progress.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/trace.h"
#include "cli/verbs/verbs.h"
#include "present/results/tiles.h"
#include "present/results/workload.h"
#include "present/svg/gantt.h"
#include "workload/check/check.h"
#include "workload/program_file.h"
#include "workload/tiles/simulate.h"

namespace millrace::cli {
namespace {

int simulate_streams(const TilesToSimulate& options) {
  for (const auto& [option, file] :
       {std::pair{"--gantt", &options.gantt}, {"--trace", &options.trace}})
    if (!file->empty())
      throw InputError(option, "is of one network on one stream; leave out --streams and --beside");
  std::vector<std::string> files{options.file};
  files.insert(files.end(), options.beside.begin(), options.beside.end());
  const workload::SimulatedNetworks simulated =
      workload::simulate_streams({files, options.streams, options.board});
  show(options.json ? present::streams_json(simulated.report)
                    : printable_lines(present::streams_text(simulated.report)));
  return 0;
}

}  // namespace

int simulate_tiles(const TilesToSimulate& options) {
  if (!options.streams.empty() || !options.beside.empty()) return simulate_streams(options);
  const workload::SimulatedTiles simulated = workload::simulate_tiles(options.file, options.board);
  const workload::Program& program = simulated.program;
  show(options.json ? present::simulated_json(program, simulated.report)
                    : printable_lines(present::simulated_text(program, simulated.report)));
  if (program.workloads.empty()) return 0;
  const workload::Workload& first = program.workloads.front();
  const Trace trace = workload::trace_of(first, simulated.report.workloads.front());
  if (!options.gantt.empty())
    write_file(options.gantt, present::gantt_svg(trace, {first.name + ", cycles", {}, {}}));
  if (!options.trace.empty()) write_chrome_trace(options.trace, trace);
  return 0;
}

int say_findings(const TilesAnswer& answer, const std::vector<std::string>& found,
                 const std::string& right) {
  show(answer.json ? present::findings_json(answer.file, found)
                   : present::findings_text(found, right));
  return found.empty() ? 0 : answer_is_no;
}

int check_tiles(const std::string& file, bool json) {
  return say_findings({file, json}, workload::violations(workload::read_program(file)),
                      fmt::format("{}: every output element is written once, and nothing races\n",
                                  printable(file)));
}

}  // namespace millrace::cli
