// millrace analyze PLAN|DEPLOYMENT|GRAPH|TASK_SYSTEM|PROGRAM
#include "product/analyze.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/printable.h"
#include "formats/files/file_kind.h"
#include "cli/print/progress.h"
#include "cli/verbs/kinds.h"
#include "cli/verbs/tiles.h"
#include "cli/verbs/verbs.h"
#include "present/results/analysis.h"
#include "present/results/deadlines.h"
#include "product/deployment/analyze.h"
#include "product/written_over.h"

namespace millrace::cli {
namespace {

struct AnalyzeOptions {
  product::AnalyzeRequest request;
  product::DeadlinesRequest deadlines;
  std::string gantt;
  int simulate = 1000;
  bool json = false;
  GraphOptions graph;
  TaskOptions tasks;
};

void bind(Places& at, AnalyzeOptions& options) {
  product::AnalyzeRequest& request = options.request;
  product::DeadlinesRequest& deadlines = options.deadlines;
  attach_terminal(request.context);
  attach_terminal(deadlines.context);
  at.word("file", request.plan,
          "A plan, deployment, dataflow graph of SDF3 (.xml), task system (.yaml, .json) or "
          "program of tiles")
      ->required();
  at.put("model", request.model).put("measure", request.measure);
  at.put("duration", request.duration_s).put("recorded", request.recorded);
  at.put("scenario", deadlines.scenario).put("level", deadlines.level);
  at.put("max-rate", deadlines.rates).put("profile", deadlines.profile);
  at.put("releases", deadlines.releases);
  at.put("simulate", options.simulate).put("gantt", options.gantt);
  bind_graph(at, options.graph);
  bind_tasks(at, options.tasks);
  at.put("seed", request.seed).put("json", options.json);
}

int analyze_deployment(const AnalyzeOptions& options) {
  const std::string& file = options.request.plan;
  if (!options.gantt.empty()) {
    product::FilesRead files;
    files.add_deployment(file, {});
    files.add("profile", options.deadlines.profile);
    files.add("releases", options.deadlines.releases);
    files.refuse_unwritable({options.gantt});
  }
  product::DeadlinesRequest request = options.deadlines;
  request.deployment = file;
  request.simulation = {options.request.seed, options.simulate};
  const analysis::DeploymentAnswers answers = product::analyze_deadlines(request);
  show(options.json ? present::deadlines_json(answers)
                    : printable_lines(present::deadlines_text(answers)));
  if (!options.gantt.empty()) {
    const std::string picture = present::deadlines_gantt(answers);
    picture.empty() ? note("nothing was simulated, so that --gantt has nothing to draw")
                    : write_file(options.gantt, picture);
  }
  for (const analysis::DeadlineAnswers& one : answers.operations)
    if (!one.is_schedulable()) note(file + ": " + one.reason);
  return answers.is_schedulable() ? 0 : answer_is_no;
}

int analyze_plan(const AnalyzeOptions& options) {
  const product::Analysis analysis = analyze(options.request);
  show(options.json ? present::analysis_json(analysis)
                    : printable_lines(present::analysis_text(analysis)));
  return 0;
}

int run(const AnalyzeOptions& given, const CLI::App& verb) {
  AnalyzeOptions options = given;
  const std::string& file = options.request.plan;
  const std::string_view kind = formats::kind_of_file(file);
  refuse_others(verb, kind);
  options.graph.file = options.tasks.file = file;
  options.graph.json = options.tasks.json = options.json;
  options.tasks.gantt = options.gantt;
  options.tasks.seed = options.request.seed;
  options.tasks.simulate = options.simulate;
  if (kind == "deployments") return analyze_deployment(options);
  if (kind == "graphs") return run_graph(options.graph);
  if (kind == "task systems") return run_tasks(options.tasks);
  return kind == "plans" ? analyze_plan(options) : check_tiles(file, options.json);
}

}  // namespace

void add_analyze(CLI::App& app, int& exit_code) {
  add_verb<AnalyzeOptions>(app, exit_code, {"analyze", bind, run});
}

}  // namespace millrace::cli
