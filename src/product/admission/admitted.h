#pragma once
// What was admitted for this machine, from its file: run by its table, and added to while it runs.
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "product/admission/admit.h"

namespace millrace::product {

/// Whether admission_json() wrote it.
bool is_admission_file(const std::filesystem::path& path);

struct AdmittedRunRequest {
  std::string file;  // of an answer with a table, for this machine
  std::string engine = {};
  PlayRequest play = {};
  /// Where it listens for more; empty: socket_of_process() of this one.
  std::filesystem::path socket = {};
  Context context = {};
};

/// A set that came while others ran.
struct AdmittedLater {
  std::vector<std::string> groups;
  runtime::TableSwitch when = {};
};

struct AdmittedRun {
  AdmitResult result;  // with what was added; the groups in the order in which they came
  PlayedAdmission played;
  std::vector<AdmittedLater> later = {};
};

/// InputError if the file is of another machine, or has no table.
AdmittedRun run_admitted(const AdmittedRunRequest& request);

/// The answer as a result: its groups, where they run, and their table. InputError as
/// add_running().
AdmitResult result_of(const nlohmann::json& answer, const std::string& file,
                      const Context& context);

/// Decides for the request's system beside what another process runs, and if all that runs there
/// stays as it is, hands it over: `to` is the number of the process, or its socket. The file of
/// what runs is not read. EngineError if nobody listens there.
AdmitResult admit_into(const AdmitRequest& request, const std::string& to);

}  // namespace millrace::product
