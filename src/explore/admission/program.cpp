#include "explore/admission/program.h"

#include <coin/Cbc_C_Interface.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>

#include "explore/admission/heuristics.h"

namespace millrace::explore {
namespace {

constexpr double endless = std::numeric_limits<double>::max();

/// Rows and columns as CBC reads them, column by column.
struct Program {
  struct Pair {
    std::size_t task, processor;
  };
  std::vector<Pair> pairs;           // of the first columns
  std::vector<int> starts{0}, rows;  // of entries
  std::vector<double> entries, costs, uppers, row_lowers, row_uppers;
  std::size_t whole = 0;  // so many columns are 0 or 1

  int add_row(double lower, double upper) {
    row_lowers.push_back(lower);
    row_uppers.push_back(upper);
    return static_cast<int>(row_lowers.size()) - 1;
  }
  void add_entry(int row, double value) {
    rows.push_back(row);
    entries.push_back(value);
  }
  void end_column(double cost, double upper) {
    starts.push_back(static_cast<int>(rows.size()));
    costs.push_back(cost);
    uppers.push_back(upper);
  }
};

double share(Billionths value) {
  return static_cast<double>(value) / static_cast<double>(whole_unit);
}

double cost_of_pair(const AdmissionProblem& problem, const AdmissionOptions& options,
                    Program::Pair pair) {
  const AdmissionTask& task = problem.tasks[pair.task];
  switch (options.goal) {
    case AdmissionGoal::total_utilisation:
      return share(utilisation(task, pair.processor));
    case AdmissionGoal::weighted:
      return share(utilisation(task, pair.processor)) * options.weights.at(pair.task);
    case AdmissionGoal::energy:
      return task.energy.empty() ? 0 : task.energy[pair.processor] / seconds(task.period);
    case AdmissionGoal::any:
    case AdmissionGoal::largest_load:
      break;
  }
  return 0;
}

/// Exclusive processors: a column each that says whether it is used, at least as large as each
/// task's share in it.
class Exclusions {
 public:
  Exclusions(const AdmissionProblem& problem, Program& program) : problem_(problem) {
    rows_.resize(problem.processors.size());
    for (const auto& [a, b] : problem.exclusive) {
      pairs_.push_back(program.add_row(-endless, 1));
      for (std::size_t processor : {a, b}) add_rows(program, rows_[processor]);
    }
  }
  void add_entries(Program& program, Program::Pair pair) const {
    if (!rows_[pair.processor].empty()) program.add_entry(rows_[pair.processor][pair.task], 1);
  }
  void add_columns(Program& program) const {
    for (std::size_t p = 0; p < rows_.size(); ++p) {
      if (rows_[p].empty()) continue;
      for (int row : rows_[p]) program.add_entry(row, -1);
      for (std::size_t e = 0; e < pairs_.size(); ++e)
        if (problem_.exclusive[e].first == p || problem_.exclusive[e].second == p)
          program.add_entry(pairs_[e], 1);
      program.end_column(0, 1);
    }
  }

 private:
  void add_rows(Program& program, std::vector<int>& rows) const {
    while (rows.size() < problem_.tasks.size()) rows.push_back(program.add_row(-endless, 0));
  }

  const AdmissionProblem& problem_;
  std::vector<std::vector<int>> rows_;  // by processor, then by task; empty: excludes none
  std::vector<int> pairs_;
};

Program program_of(const AdmissionProblem& problem, const AdmissionOptions& options) {
  Program program;
  const bool largest = options.goal == AdmissionGoal::largest_load;
  for (std::size_t t = 0; t < problem.tasks.size(); ++t) program.add_row(1, 1);
  const auto first_unit = static_cast<int>(problem.tasks.size());
  for (std::size_t u = 0; u < problem.units.size(); ++u) program.add_row(-endless, largest ? 0 : 1);
  const Exclusions exclusions(problem, program);
  for (std::size_t t = 0; t < problem.tasks.size(); ++t)
    for (std::size_t p : options_of(problem.tasks[t])) {
      const Program::Pair pair{t, p};
      program.add_entry(static_cast<int>(t), 1);
      for (const UnitShare& each : shares_of(problem, t, p))
        program.add_entry(first_unit + static_cast<int>(each.unit), share(each.share));
      exclusions.add_entries(program, pair);
      program.end_column(cost_of_pair(problem, options, pair), 1);
      program.pairs.push_back(pair);
    }
  exclusions.add_columns(program);
  program.whole = program.costs.size();
  if (!largest) return program;
  for (std::size_t u = 0; u < problem.units.size(); ++u)
    program.add_entry(first_unit + static_cast<int>(u), -1);
  program.end_column(1, 1);
  return program;
}

struct DeleteModel {
  void operator()(Cbc_Model* model) const { Cbc_deleteModel(model); }
};
using Model = std::unique_ptr<Cbc_Model, DeleteModel>;

Model model_of(const Program& program, bool whole, double seconds) {
  Model model(Cbc_newModel());
  Cbc_setLogLevel(model.get(), 0);
  // Its general preparations take longer than these programs.
  for (const char* step : {"preprocess", "cuts", "heur"})
    Cbc_setParameter(model.get(), step, "off");
  const std::vector<double> lowers(program.costs.size(), 0);
  Cbc_loadProblem(model.get(), static_cast<int>(program.costs.size()),
                  static_cast<int>(program.row_lowers.size()), program.starts.data(),
                  program.rows.data(), program.entries.data(), lowers.data(), program.uppers.data(),
                  program.costs.data(), program.row_lowers.data(), program.row_uppers.data());
  for (std::size_t c = 0; whole && c < program.whole; ++c)
    Cbc_setInteger(model.get(), static_cast<int>(c));
  Cbc_setMaximumSeconds(model.get(), seconds);
  return model;
}

AdmissionChoice choice_of(const Program& program, const double* values, std::size_t tasks) {
  AdmissionChoice choice(tasks, 0);
  std::vector<double> largest(tasks, -1);
  for (std::size_t c = 0; c < program.pairs.size(); ++c) {
    const auto [task, processor] = program.pairs[c];
    if (values[c] <= largest[task]) continue;
    largest[task] = values[c];
    choice[task] = processor;
  }
  return choice;
}

/// Not this choice again: CBC lets sums exceed their limit a little.
void forbid(Program& program, const AdmissionChoice& choice) {
  const int row = program.add_row(-endless, static_cast<double>(choice.size()) - 1);
  Program changed = program;
  changed.starts.assign(1, 0);
  changed.rows.clear();
  changed.entries.clear();
  for (std::size_t c = 0; c + 1 < program.starts.size(); ++c) {
    for (int e = program.starts[c]; e < program.starts[c + 1]; ++e)
      changed.add_entry(program.rows[static_cast<std::size_t>(e)],
                        program.entries[static_cast<std::size_t>(e)]);
    if (c < program.pairs.size() && choice[program.pairs[c].task] == program.pairs[c].processor)
      changed.add_entry(row, 1);
    changed.starts.push_back(static_cast<int>(changed.rows.size()));
  }
  program = std::move(changed);
}

bool has_options(const AdmissionProblem& problem) {
  return std::ranges::none_of(problem.tasks,
                              [](const auto& task) { return options_of(task).empty(); });
}

Admission fitting(const AdmissionProblem& problem, const AdmissionOptions& options,
                  AdmissionChoice choice, double bound) {
  Admission result{.answer = Admission::Answer::fits, .choice = std::move(choice)};
  result.cost = cost_of(problem, options, result.choice);
  result.bound = std::min(bound, result.cost);
  return result;
}

}  // namespace

double cost_of(const AdmissionProblem& problem, const AdmissionOptions& options,
               const AdmissionChoice& choice) {
  if (options.goal == AdmissionGoal::largest_load) {
    Billionths largest = 0;
    for (Billionths load : loads_of(problem, choice)) largest = std::max(largest, load);
    return share(largest);
  }
  double cost = 0;
  for (std::size_t t = 0; t < choice.size(); ++t)
    cost += cost_of_pair(problem, options, {t, choice[t]});
  return cost;
}

Admission solve_program(const AdmissionProblem& problem, const AdmissionOptions& options) {
  if (!has_options(problem)) return {.answer = Admission::Answer::does_not_fit};
  const std::optional<AdmissionChoice> first = first_fit_decreasing(problem);
  if (problem.tasks.empty() || (first && options.goal == AdmissionGoal::any))
    return fitting(problem, options, first.value_or(AdmissionChoice{}), 0);
  Program program = program_of(problem, options);
  const auto begin = std::chrono::steady_clock::now();
  for (double left = options.seconds; left > 0;) {
    const Model model = model_of(program, true, left);
    Cbc_solve(model.get());
    if (Cbc_isProvenInfeasible(model.get())) return {.answer = Admission::Answer::does_not_fit};
    const double* values = Cbc_bestSolution(model.get());
    const double bound = Cbc_getBestPossibleObjValue(model.get());
    if (!values) {
      if (first) return fitting(problem, options, *first, bound);
      return {.answer = Admission::Answer::unknown, .bound = bound};
    }
    AdmissionChoice choice = choice_of(program, values, problem.tasks.size());
    if (fits(problem, choice))
      return fitting(problem, options, std::move(choice),
                     Cbc_isProvenOptimal(model.get()) ? endless : bound);
    forbid(program, choice);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    left = options.seconds - spent.count();
  }
  if (first) return fitting(problem, options, *first, 0);
  return {.answer = Admission::Answer::unknown};
}

std::optional<double> relaxed_cost(const AdmissionProblem& problem,
                                   const AdmissionOptions& options) {
  if (!has_options(problem)) return std::nullopt;
  const Program program = program_of(problem, options);
  const Model model = model_of(program, false, options.seconds);
  Cbc_solve(model.get());
  if (!Cbc_isProvenOptimal(model.get())) return std::nullopt;
  return Cbc_getObjValue(model.get());
}

}  // namespace millrace::explore
