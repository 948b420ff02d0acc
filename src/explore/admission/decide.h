#pragma once
// Which variant of which network on which processor, so that all meet their periods.
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/verdict.h"
#include "explore/admission/elements.h"
#include "explore/admission/misfit.h"
#include "explore/admission/program.h"
#include "explore/admission/tabled.h"
#include "explore/admission/variants.h"
#include "realtime/static_table.h"
#include "system/system.h"

namespace millrace::explore {

struct AdmitOptions {
  ElementOptions elements = {};
  AdmissionOptions admission = {};
  /// By group; 1 for each that is not in it. Not empty: the goal is `weighted`.
  std::map<std::string, double> weights = {};
  std::string scenario = {};  // whose groups; empty: all groups at once
  /// Modelled times are multiplied by it, for they have no worst case of their own: at first 1.2.
  std::optional<double> margin = {};
  TablePeriods periods = TablePeriods::either;
  bool table = true;
  bool keeps_table = false;  // what runs already keeps its table, or nothing is decided beside it
};

/// A group on one of the configurations.
struct GroupVariants {
  std::string name;
  std::vector<VariantTime> variants;  // by processor of the problem
  /// Likewise, and then by layer: how it ran; of measured times.
  std::vector<std::vector<board::Variant>> layers = {};
  std::string system = {};  // the file that has the group
};

struct AdmitDecision {
  system::System system;
  std::string board_name;
  bool modelled = false;  // else measured here
  Elements elements;
  AdmissionProblem problem;
  std::vector<GroupVariants> groups;
  Admission admission;
  std::vector<std::string> moved = {};  // groups that ran already and run elsewhere now
  bool stays = false;        // all that ran already, where it was; others chose around it
  bool keeps_table = false;  // and when it was: each entry of its table is there
  std::optional<Misfit> misfit = {};
  std::vector<realtime::TableTask> table_tasks = {};
  std::optional<realtime::StaticTable> table = {};
  bool is_harmonised = false;     // periods of the table are shorter than the groups' own
  double added_utilisation = 0;   // by harmonised periods
  std::string no_table = {};      // why there is none, if the set fits
  bool is_table_lacking = false;  // it was sought and not found
  std::size_t refused = 0;        // choices that would cost less, and have no table
  int rounds = 0;                 // in which the table was run and made anew
  Time took{};                    // to decide, without the times of the variants

  bool fits() const { return admission.answer == Admission::Answer::fits; }
  /// The problem with the periods of the table, if there is one: those after which jobs recur.
  AdmissionProblem as_run() const;
};

/// What was admitted before.
struct RunningSet {
  AdmissionChoice choice = {};  // by task from the first one that runs on
  std::optional<realtime::KeptTable> table = {};
  std::string stranger = {};  // in a table that is passed over: it is another set's
};

/// By task of what is to be decided; what runs already weighs 1. InputError if there is no group of
/// a name.
std::vector<double> weights_of(const AdmitOptions& options, const AdmitDecision& decision);

/// Decides for all of the tasks; what runs stays as it is, if so all fit: first to the nanosecond,
/// then where it is, then anywhere.
void decide(const AdmitOptions& options, const RunningSet& running, AdmitDecision& decision);

/// A job of the task took so long beside the others: whether that is longer than the table gives
/// it; its time then is what was seen.
bool grew(AdmitDecision& decision, std::size_t task, Time seen);

/// Nothing: the table of `next` has each entry of that of `now`. Its tasks begin with those of
/// `now`.
Verdict keeps_entries(const AdmitDecision& now, const AdmitDecision& next);

}  // namespace millrace::explore
