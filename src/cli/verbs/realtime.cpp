// millrace realtime FILE
#include <fmt/format.h>

#include <map>

#include "api/written_over.h"
#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "cli/options/common.h"
#include "cli/print/progress.h"
#include "cli/verbs/verbs.h"
#include "realtime/answers.h"
#include "realtime/files/task_file.h"
#include "report/realtime.h"

namespace millrace::cli {

namespace {

struct RealtimeOptions {
  std::string file, propagation = "windows", equations, gantt;
  std::uint64_t seed = 1;
  int simulate = 1000;
  bool json = false, independent = false, whole_ticks = false, no_growth = false;
};

const std::map<std::string, realtime::Propagation> propagations{
    {"windows", realtime::Propagation::windows},
    {"jitter-and-distance", realtime::Propagation::jitter_and_distance},
    {"jitter", realtime::Propagation::jitter}};

struct EquationPair {
  realtime::Equation priorities = realtime::Equation::none, queues = realtime::Equation::none;
};
const std::map<std::string, EquationPair> equations{
    {"", {}},
    {"4.1", {realtime::Equation::eq_4_1, realtime::Equation::none}},
    {"4.2", {realtime::Equation::none, realtime::Equation::eq_4_2}},
    {"4.1+4.2", {realtime::Equation::eq_4_1, realtime::Equation::eq_4_2}},
    {"5.3", {realtime::Equation::eq_5_3, realtime::Equation::none}},
    {"5.4", {realtime::Equation::none, realtime::Equation::eq_5_4}},
    {"5.3+5.4", {realtime::Equation::eq_5_3, realtime::Equation::eq_5_4}}};

void bind_analysis(CLI::App& verb, RealtimeOptions& options) {
  begin_group(verb, "Analysis");
  verb.add_option("--propagation", options.propagation,
                  "What a task passes on to the next one: the ends of all jobs of a busy window "
                  "(the tightest), or less")
      ->check(CLI::IsMember({"windows", "jitter-and-distance", "jitter"}))
      ->capture_default_str();
  verb.add_flag("--independent", options.independent,
                "Take tasks of one flow as independent of each other");
  verb.add_flag("--whole-ticks", options.whole_ticks,
                "Nothing happens between two ticks, so that a job that blocks began a tick before");
  verb.add_option("--equations", options.equations,
                  "Use a paper's equations instead. They can be too low: see docs/realtime.md")
      ->check(CLI::IsMember({"4.1", "4.2", "4.1+4.2", "5.3", "5.4", "5.3+5.4"}));
  verb.add_flag("--no-growth", options.no_growth, "Do not search how much times may grow");
}

void bind(CLI::App& verb, RealtimeOptions& options) {
  verb.add_option("file", options.file, "A task system, in YAML or JSON")->required();
  bind_analysis(verb, options);
  begin_group(verb, "Simulation");
  verb.add_option("--simulate", options.simulate, "How many runs to simulate; 0: none")
      ->check(CLI::Range(0, 10'000'000))
      ->capture_default_str();
  verb.add_option("--seed", options.seed, "For phases, jitters and times by chance")
      ->capture_default_str();
  begin_group(verb, "Output");
  verb.add_option("--gantt", options.gantt,
                  "Draw the run with the longest response of the tightest flow into this SVG file");
  bind_json(verb, options.json);
}

realtime::RealtimeQuestions questions_of(const RealtimeOptions& options) {
  realtime::RealtimeQuestions questions;
  questions.analysis.propagation = propagations.at(options.propagation);
  questions.analysis.precedence = !options.independent;
  questions.analysis.whole_ticks = options.whole_ticks;
  questions.analysis.priorities = equations.at(options.equations).priorities;
  questions.analysis.queues = equations.at(options.equations).queues;
  questions.simulation = {options.seed, options.simulate};
  questions.growth = !options.no_growth;
  return questions;
}

int run(const RealtimeOptions& options) {
  if (!options.gantt.empty()) {
    api::FilesRead files;
    files.add("task system", options.file);
    files.refuse_unwritable({options.gantt});
  }
  const realtime::TaskFile file = realtime::read_task_file(options.file);
  if (!file.note.empty()) note(fmt::format("{}: {}", options.file, file.note));
  realtime::RealtimeAnswers answers;
  try {
    answers = realtime::answer(file.system, questions_of(options));
  } catch (const InputError& error) {
    throw InputError(options.file, error.what());
  }
  fmt::print("{}", options.json ? report::realtime_json(file, answers)
                                : printable_lines(report::realtime_text(file, answers)));
  if (answers.simulated && answers.simulated->runs < options.simulate)
    note(
        fmt::format("simulated: {} of {} runs, as many jobs wait at the same time; the largest "
                    "simulated responses are of these runs",
                    answers.simulated->runs, options.simulate));
  if (!options.gantt.empty()) {
    if (answers.simulated)
      write_file(options.gantt, report::realtime_gantt(file, answers));
    else
      note("nothing was simulated, so that --gantt has nothing to draw");
  }
  if (answers.is_schedulable()) return 0;
  note(fmt::format("{}: {}", options.file, answers.reason));
  return answer_is_no;
}

}  // namespace

void add_realtime(CLI::App& app, int& exit_code) {
  add_verb<RealtimeOptions>(
      app, exit_code,
      {{"realtime",
        "Bound the response times of a task system: deadlines, utilisation, and by how much its "
        "times may grow",
        "millrace realtime robot.yaml --gantt robot.svg"},
       bind,
       run});
}

}  // namespace millrace::cli
