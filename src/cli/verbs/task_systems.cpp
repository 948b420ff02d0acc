// millrace analyze TASK_SYSTEM
#include <fmt/format.h>

#include <map>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "cli/print/progress.h"
#include "cli/verbs/kinds.h"
#include "cli/verbs/verbs.h"
#include "present/results/realtime.h"
#include "product/written_over.h"
#include "realtime/answers.h"
#include "realtime/files/task_file.h"

namespace millrace::cli {

namespace {

const std::map<std::string, realtime::Propagation> propagations{
    {"windows", realtime::Propagation::windows},
    {"jitter-and-distance", realtime::Propagation::jitter_and_distance},
    {"jitter", realtime::Propagation::jitter}};

struct EquationPair {
  realtime::Equation priorities = realtime::Equation::none, queues = realtime::Equation::none;
};
const std::map<std::string, EquationPair> equation_pairs{
    {"", {}},
    {"4.1", {realtime::Equation::eq_4_1, realtime::Equation::none}},
    {"4.2", {realtime::Equation::none, realtime::Equation::eq_4_2}},
    {"4.1+4.2", {realtime::Equation::eq_4_1, realtime::Equation::eq_4_2}},
    {"5.3", {realtime::Equation::eq_5_3, realtime::Equation::none}},
    {"5.4", {realtime::Equation::none, realtime::Equation::eq_5_4}},
    {"5.3+5.4", {realtime::Equation::eq_5_3, realtime::Equation::eq_5_4}}};

realtime::RealtimeQuestions task_questions(const TaskOptions& options) {
  realtime::RealtimeQuestions questions;
  questions.analysis.propagation = propagations.at(options.propagation);
  questions.analysis.precedence = !options.independent;
  questions.analysis.whole_ticks = options.whole_ticks;
  questions.analysis.priorities = equation_pairs.at(options.equations).priorities;
  questions.analysis.queues = equation_pairs.at(options.equations).queues;
  questions.simulation = {options.seed, options.simulate};
  questions.growth = !options.no_growth;
  return questions;
}

}  // namespace

void bind_tasks(Places& at, TaskOptions& options) {
  at.put("propagation", options.propagation).put("independent", options.independent);
  at.put("whole-ticks", options.whole_ticks).put("equations", options.equations);
  at.put("no-growth", options.no_growth);
}

int run_tasks(const TaskOptions& options) {
  if (!options.gantt.empty()) {
    product::FilesRead files;
    files.add("task system", options.file);
    files.refuse_unwritable({options.gantt});
  }
  const realtime::TaskFile file = realtime::read_task_file(options.file);
  if (!file.note.empty()) note(fmt::format("{}: {}", options.file, file.note));
  realtime::RealtimeAnswers answers;
  try {
    answers = realtime::answer(file.system, task_questions(options));
  } catch (const InputError& error) {
    throw InputError(options.file, error.what());
  }
  show(options.json ? present::realtime_json(file, answers)
                    : printable_lines(present::realtime_text(file, answers)));
  if (answers.simulated && answers.simulated->runs < options.simulate)
    note(
        fmt::format("simulated: {} of {} runs, as many jobs wait at the same time; the largest "
                    "simulated responses are of these runs",
                    answers.simulated->runs, options.simulate));
  if (!options.gantt.empty()) {
    if (answers.simulated)
      write_file(options.gantt, present::realtime_gantt(file, answers));
    else
      note("nothing was simulated, so that --gantt has nothing to draw");
  }
  if (answers.is_schedulable()) return 0;
  note(fmt::format("{}: {}", options.file, answers.reason));
  return answer_is_no;
}

}  // namespace millrace::cli
