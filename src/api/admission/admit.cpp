#include "api/admission/admit.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "api/admission/running.h"
#include "api/admission/table.h"
#include "api/admission/tasks.h"
#include "api/deployment/open.h"
#include "api/profile.h"
#include "api/setup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "deployment/deployment.h"

namespace millrace::api {
namespace {

constexpr Time usual_together = std::chrono::seconds(3);

/// By task of the result; what runs already weighs 1.
std::vector<double> weights_of(const AdmitRequest& request, const AdmitResult& result) {
  std::vector<double> weights(result.problem.tasks.size(), 1);
  std::vector<std::string_view> known;
  for (const GroupVariants& group : result.groups) known.push_back(group.name);
  for (const auto& [name, weight] : request.weights) {
    const auto found = std::ranges::find(known, name);
    if (found == known.end())
      throw InputError("--weight",
                       fmt::format("there is no group '{}'{}", name, did_you_mean(name, known)));
    weights[static_cast<std::size_t>(found - known.begin())] = weight;
  }
  return weights;
}

/// What would change nothing.
void refuse_options_without_effect(const AdmitRequest& request, const AdmitResult& result,
                                   const board::Board& board) {
  const bool has_elements = !request.elements.kinds.empty() || request.elements.reserved_cores > 0;
  if (!result.modelled && has_elements)
    throw InputError(request.elements.kinds.empty() ? "--reserved-cores" : "--kinds",
                     "is for a board file; on this machine networks run on its cores, one or all");
  std::size_t most_cores = 0;  // of a CPU
  for (const board::Device& device : board.devices)
    most_cores = std::max(most_cores, device.cores.size());
  if (std::cmp_greater(request.elements.reserved_cores, most_cores))
    throw InputError("--reserved-cores",
                     fmt::format("found {}, and no CPU of the board '{}' has more than {} cores; "
                                 "reserve fewer",
                                 request.elements.reserved_cores, result.board_name, most_cores));
  if (!result.modelled && request.margin)
    throw InputError("--margin",
                     "is for the modelled times of a board file; on this machine times are "
                     "measured, and have their worst case");
  if (result.modelled && request.together)
    throw InputError("--together",
                     fmt::format("times are modelled for the board '{}', whose table does not run "
                                 "here; leave it out",
                                 result.board_name));
  if (result.modelled && !request.engine.empty())
    throw InputError("--engine", fmt::format("times are modelled for the board '{}'; leave it out",
                                             result.board_name));
}

/// Says each note once: networks are measured one after the other on the same cores.
class SaidOnce : public Listener {
 public:
  explicit SaidOnce(Listener& to) : to_(to) {}
  void note(const std::string& text) override {
    if (said_.insert(text).second) to_.note(text);
  }
  std::unique_ptr<Work> begin(const std::string& title) override { return to_.begin(title); }

 private:
  Listener& to_;
  std::set<std::string> said_;
};

/// Where a board does not say what its processors draw, all choices would cost nothing.
void check_energy(const AdmitRequest& request, const AdmitResult& result) {
  if (request.admission.goal != explore::AdmissionGoal::energy) return;
  for (const explore::AdmissionTask& task : result.problem.tasks)
    if (task.energy.empty())
      throw InputError("--goal energy",
                       fmt::format("the board '{}' does not say what all of its processors draw; "
                                   "choose another goal",
                                   result.board_name));
}

/// Whether a job took longer beside the others than the table gives it; its time then is what was
/// seen.
bool grew(AdmitResult& result, const runtime::Played& played) {
  bool some = false;
  for (std::size_t t = 0; t < played.tasks.size(); ++t) {
    Time& known = *result.problem.tasks[t].times[result.admission.choice[t]];
    const Time seen = played.tasks[t].worst_case();
    if (seen <= known) continue;
    some = true;
    known = seen;
    result.groups[t].variants[result.admission.choice[t]].time = seen;
  }
  return some;
}

/// Networks take longer where others have been in the caches and use the memory: the table is run,
/// and made again with the times seen in it, until they do not grow. EngineError if interrupted: a
/// part of a run proves nothing.
void settle(const AdmitRequest& request, AdmitResult& result) {
  constexpr int most_rounds = 8;
  while (result.table && result.rounds < most_rounds) {
    ++result.rounds;
    const Time together = request.together.value_or(usual_together);
    const PlayedAdmission played = play_admitted(result, request, {together});
    if (played.interrupted) throw EngineError("interrupted; no result was written");
    if (!grew(result, played.played)) return;
    decide(request, {}, result);
  }
}

}  // namespace

void add_weight(const std::string& text, std::map<std::string, double>& weights) {
  const std::size_t equals = text.rfind('=');
  const char* const end = text.data() + text.size();
  double weight = -1;
  if (equals != std::string::npos) {
    const auto [read, error] = std::from_chars(text.data() + equals + 1, end, weight);
    if (error != std::errc() || read != end) weight = -1;
  }
  if (!(weight >= 0 && weight <= 1e6))
    throw InputError("--weight", fmt::format("found '{}', expected a group and a number from 0 to "
                                             "1000000, such as front=2",
                                             text));
  weights[text.substr(0, equals)] = weight;
}

explore::AdmissionProblem AdmitResult::as_run() const {
  explore::AdmissionProblem result = problem;
  for (std::size_t t = 0; table && t < table_tasks.size(); ++t)
    result.tasks[t].period = table_tasks[t].period;
  return result;
}

AdmitResult admit(const AdmitRequest& given) {
  AdmitRequest request = given;
  Listener nobody;
  SaidOnce listener(given.context.listener != nullptr ? *given.context.listener : nobody);
  request.context.listener = &listener;
  AdmitResult result;
  result.system = open_system(request.system);
  if (!request.board.empty()) {
    result.system.board = request.board;
    result.system.board_place = "--board";
  }
  const board::Board board = board_of(result.system, request.context);
  result.board_name = board.name;
  result.modelled = !result.system.board.empty();
  refuse_options_without_effect(request, result, board);
  result.elements = result.modelled ? explore::elements_of(board, request.elements)
                                    : elements_of_this_machine(board);
  result.problem = result.elements.problem;
  add_tasks(request, board, result);
  check_energy(request, result);
  RunningSet running;
  if (request.beside != nullptr)
    running = add_running(*request.beside, "what runs", result);
  else if (!request.running.empty())
    running = add_running(read_json(request.running), request.running, result);
  check(result.problem);
  if (!request.weights.empty()) {
    request.admission.goal = explore::AdmissionGoal::weighted;
    request.admission.weights = weights_of(request, result);
  }
  decide(request, running, result);
  const bool runs_here = std::ranges::all_of(result.system.groups, &system::Group::has_network);
  const bool is_settled =
      !runs_here || result.modelled || !running.choice.empty() || request.together == Time{};
  if (!is_settled) settle(request, result);
  if (result.admission.answer == explore::Admission::Answer::does_not_fit)
    result.misfit = misfit_of(result.problem, request.admission);
  return result;
}

}  // namespace millrace::api
