#pragma once
// Which variant of which network on which processor, so that all meet their periods: `admit`.
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "api/context.h"
#include "explore/admission/elements.h"
#include "explore/admission/misfit.h"
#include "explore/admission/program.h"
#include "explore/admission/tabled.h"
#include "explore/admission/variants.h"
#include "realtime/static_table.h"
#include "runtime/controller/table_player.h"
#include "system/system.h"

namespace millrace::api {

struct AdmitRequest {
  std::string system;      // the file
  std::string board = {};  // in place of the system's
  std::string engine = {};
  explore::ElementOptions elements = {};
  explore::AdmissionOptions admission = {};
  /// By group; 1 for each that is not in it. Not empty: the goal is `weighted`.
  std::map<std::string, double> weights = {};
  /// What runs already, as admission_json() wrote it: it is asked whether the system's groups fit
  /// beside, if possible without moving what runs. Empty: nothing does.
  std::string running = {};
  const nlohmann::json* beside = nullptr;  // borrowed; the same, of a process: in place of the file
  std::string scenario = {};               // whose groups; empty: all groups at once
  /// Modelled times are multiplied by it, for they have no worst case of their own: at first 1.2.
  std::optional<double> margin = {};
  /// So long the table is run, again and again, until the times seen in it are no longer than those
  /// it was made with. 0: not at all. Of measured times: at first 3 s.
  std::optional<Time> together = {};
  explore::TablePeriods periods = explore::TablePeriods::either;
  bool table = true;
  Context context = {};
};

/// "front=2.5". InputError on other texts.
void add_weight(const std::string& text, std::map<std::string, double>& weights);

/// A group on one of the configurations.
struct GroupVariants {
  std::string name;
  std::vector<explore::VariantTime> variants;  // by processor of the problem
  /// Likewise, and then by layer: how it ran; of measured times.
  std::vector<std::vector<board::Variant>> layers = {};
  std::string system = {};  // the file that has the group
};

struct AdmitResult {
  system::System system;
  std::string board_name;
  bool modelled = false;  // else measured here
  explore::Elements elements;
  explore::AdmissionProblem problem;
  std::vector<GroupVariants> groups;
  explore::Admission admission;
  std::vector<std::string> moved = {};  // groups that ran already and run elsewhere now
  bool stays = false;        // all that ran already, where it was; others chose around it
  bool keeps_table = false;  // and when it was: each entry of its table is there
  std::optional<explore::Misfit> misfit = {};
  std::vector<realtime::TableTask> table_tasks = {};
  std::optional<realtime::StaticTable> table = {};
  bool is_harmonised = false;     // periods of the table are shorter than the groups' own
  double added_utilisation = 0;   // by harmonised periods
  std::string no_table = {};      // why there is none, if the set fits
  bool is_table_lacking = false;  // it was sought and not found
  std::size_t refused = 0;        // choices that would cost less, and have no table
  std::optional<runtime::TableSwitch> handed_over = {};  // to a process that runs
  int rounds = 0;                                        // in which the table was run and made anew
  Time took{};  // to decide, without the times of the variants

  bool fits() const { return admission.answer == explore::Admission::Answer::fits; }
  /// The problem with the periods of the table, if there is one: those after which jobs recur.
  explore::AdmissionProblem as_run() const;
};

struct PlayRequest {
  Time duration = std::chrono::seconds(10);
  runtime::Overrun overrun = runtime::Overrun::finish;
};
struct PlayedAdmission {
  runtime::Played played;
  std::string priorities = {};  // why the threads have no real-time priority; empty: they have
  bool interrupted = false;     // by the user, before the duration was over
};

/// Runs the table on this machine, each group on random frames, until the duration or an interrupt
/// ends it. InputError if its times are modelled or there is no table.
PlayedAdmission play_admitted(const AdmitResult& result, const AdmitRequest& request,
                              const PlayRequest& play);

/// Groups have the period of their highest rate. InputError as read_system() and elements_of().
AdmitResult admit(const AdmitRequest& request);

}  // namespace millrace::api
