#pragma once
// Which variant of which network on which processor, so that all meet their periods: `admit`.
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "explore/admission/decide.h"
#include "product/context.h"
#include "runtime/controller/table_player.h"

namespace millrace::product {

struct AdmitRequest : explore::AdmitOptions {
  std::string system;      // the file
  std::string board = {};  // in place of the system's
  std::string engine = {};
  /// What runs already, as admission_json() wrote it: it is asked whether the system's groups fit
  /// beside, if possible without moving what runs. Empty: nothing does.
  std::string running = {};
  const nlohmann::json* beside = nullptr;  // borrowed; the same, of a process: in place of the file
  /// So long the table is run, again and again, until the times seen in it are no longer than those
  /// it was made with. 0: not at all. Of measured times: at first 3 s.
  std::optional<Time> together = {};
  Context context = {};
};

/// "front=2.5". InputError on other texts.
void add_weight(const std::string& text, std::map<std::string, double>& weights);

struct AdmitResult : explore::AdmitDecision {
  std::optional<runtime::TableSwitch> handed_over = {};  // to a process that runs
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

}  // namespace millrace::product
