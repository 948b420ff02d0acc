#pragma once
// Processors, periods and the static table in one search: of all choices that have a table, the
// best by the goal.
#include <optional>
#include <string>
#include <vector>

#include "explore/admission/program.h"
#include "realtime/decide_table.h"

namespace millrace::explore {

/// Which periods a table may have.
enum class TablePeriods {
  as_given,
  harmonised,  // shorter, each a base times a power of two
  either,      // as given, if some choice has a table with them
};

struct TableRules {
  TablePeriods periods = TablePeriods::either;
  /// What runs already and keeps its entries: the last tasks of the problem, and their table.
  realtime::KeptTable kept = {};
};

struct TabledAdmission {
  Admission admission;                          // if none has a table: the best by utilisation only
  AdmissionProblem problem;                     // with the periods of the table
  std::vector<realtime::TableTask> tasks = {};  // by task of the problem
  std::optional<realtime::StaticTable> table = {};
  bool is_harmonised = false;
  double added_utilisation = 0;  // by harmonised periods
  std::size_t refused = 0;       // choices that would have been better, and have no table
  /// No table: that there is none was decided, not only that none was found.
  bool is_none_proven = false;
  std::string too_long = {};  // why there is no table with the periods as given: InputError's text
};

/// A choice that has no table is left out with all that have the same part of it that is to blame,
/// and the program is solved again. Precondition: check() passes.
TabledAdmission solve_with_table(const AdmissionProblem& problem, const AdmissionOptions& options,
                                 const TableRules& rules = {});

/// The tasks as a table has them, each on its processor of the choice.
std::vector<realtime::TableTask> table_tasks(const AdmissionProblem& problem,
                                             const AdmissionChoice& choice);

/// The periods of the first tasks: the longest `base` times a power of two each, at most its own.
AdmissionProblem with_harmonised_periods(const AdmissionProblem& problem, Time base,
                                         std::size_t first);
/// By task; each once: the bases that leave one period as it is.
std::vector<Time> harmonic_bases(const AdmissionProblem& problem);

}  // namespace millrace::explore
