#include "product/admission/admit.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "deployment/deployment.h"
#include "explore/admission/running.h"
#include "explore/admission/tasks.h"
#include "product/admission/jobs.h"
#include "product/deployment/open.h"
#include "product/profile.h"
#include "product/setup.h"

namespace millrace::product {
namespace {

constexpr Time usual_together = std::chrono::seconds(3);

/// What would change nothing.
void refuse_options_without_effect(const AdmitRequest& request, const AdmitResult& result,
                                   const board::Board& board) {
  const bool has_elements = !request.elements.kinds.empty() || request.elements.reserved_cores > 0;
  if (!result.modelled && has_elements)
    throw InputError(request.elements.kinds.empty() ? "⟨reserved_cores⟩" : "⟨kinds⟩",
                     "is for a board file; on this machine networks run on its cores, one or all");
  std::size_t most_cores = 0;  // of a CPU
  for (const board::Device& device : board.devices)
    most_cores = std::max(most_cores, device.cores.size());
  if (std::cmp_greater(request.elements.reserved_cores, most_cores))
    throw InputError("⟨reserved_cores⟩",
                     fmt::format("found {}, and no CPU of the board '{}' has more than {} cores; "
                                 "reserve fewer",
                                 request.elements.reserved_cores, result.board_name, most_cores));
  if (!result.modelled && request.margin)
    throw InputError("⟨margin⟩",
                     "is for the modelled times of a board file; on this machine times are "
                     "measured, and have their worst case");
  if (result.modelled && request.together)
    throw InputError("⟨together⟩",
                     fmt::format("times are modelled for the board '{}', whose table does not run "
                                 "here; leave it out",
                                 result.board_name));
  if (result.modelled && !request.engine.empty())
    throw InputError("⟨engine⟩", fmt::format("times are modelled for the board '{}'; leave it out",
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

explore::AdmissionQuestion question_for(const AdmitRequest& request, const board::Board& board,
                                        Networks& networks) {
  return {request, board,
          [&networks](const system::Group& group) -> const network::Network& {
            return networks.of(group.model);
          },
          [&request](const network::Network& network, const system::Group& group,
                     const board::Board& one) { return measured(request, network, group, one); },
          request.context};
}

/// Where a board does not say what its processors draw, all choices would cost nothing.
void check_energy(const AdmitRequest& request, const AdmitResult& result) {
  if (request.admission.goal != explore::AdmissionGoal::energy) return;
  for (const explore::AdmissionTask& task : result.problem.tasks)
    if (task.energy.empty())
      throw InputError("⟨goal⟩ energy",
                       fmt::format("the board '{}' does not say what all of its processors draw; "
                                   "choose another goal",
                                   result.board_name));
}

/// Whether some job took longer beside the others than the table gives it.
bool some_grew(AdmitResult& result, const runtime::Played& played) {
  bool some = false;
  for (std::size_t t = 0; t < played.tasks.size(); ++t)
    some = explore::grew(result, t, played.tasks[t].worst_case()) || some;
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
    if (!some_grew(result, played.played)) return;
    explore::decide(request, {}, result);
  }
}

}  // namespace

profile::Profile measured(const AdmitRequest& request, const network::Network& network,
                          const system::Group& group, const board::Board& board) {
  const Setup setup{group.model, {}, request.engine, request.context};
  ProfileSource source;
  source.measure.precisions = group.precisions;
  source.context = request.context;
  return load_profile(network, board, *make_engine(setup), source);
}

void add_weight(const std::string& text, std::map<std::string, double>& weights) {
  const std::size_t equals = text.rfind('=');
  const char* const end = text.data() + text.size();
  double weight = -1;
  if (equals != std::string::npos) {
    const auto [read, error] = std::from_chars(text.data() + equals + 1, end, weight);
    if (error != std::errc() || read != end) weight = -1;
  }
  if (!(weight >= 0 && weight <= 1e6))
    throw InputError("⟨weight⟩", fmt::format("found '{}', expected a group and a number from 0 to "
                                             "1000000, such as front=2",
                                             text));
  weights[text.substr(0, equals)] = weight;
}

AdmitResult admit(const AdmitRequest& given) {
  wait_for_first(given.context.ranks);  // which does it alone
  AdmitRequest request = given;
  Listener nobody;
  SaidOnce listener(given.context.listener != nullptr ? *given.context.listener : nobody);
  request.context.listener = &listener;
  AdmitResult result;
  result.system = open_system(request.system);
  if (!request.board.empty()) {
    result.system.board = request.board;
    result.system.board_place = "⟨board⟩";
  }
  const board::Board board = board_of(result.system, request.context);
  result.board_name = board.name;
  result.modelled = !result.system.board.empty();
  refuse_options_without_effect(request, result, board);
  result.elements = result.modelled ? explore::elements_of(board, request.elements)
                                    : explore::elements_of_this_machine(board);
  result.problem = result.elements.problem;
  Networks networks(request.context);
  explore::add_tasks(question_for(request, board, networks), result);
  check_energy(request, result);
  explore::RunningSet running;
  request.keeps_table = request.beside != nullptr;
  if (request.beside != nullptr)
    running = explore::add_running(*request.beside, "what runs", result);
  else if (!request.running.empty())
    running = explore::add_running(read_json(request.running), request.running, result);
  if (!running.stranger.empty())
    request.context.note(
        fmt::format("{}: its table is another set's, with '{}', and is passed over; what runs may "
                    "move in time",
                    request.running, running.stranger));
  check(result.problem);
  if (!request.weights.empty()) {
    request.admission.goal = explore::AdmissionGoal::weighted;
    request.admission.weights = explore::weights_of(request, result);
  }
  explore::decide(request, running, result);
  const bool runs_here = std::ranges::all_of(result.system.groups, &system::Group::has_network);
  const bool is_settled =
      !runs_here || result.modelled || !running.choice.empty() || request.together == Time{};
  if (!is_settled) settle(request, result);
  if (result.admission.answer == explore::Admission::Answer::does_not_fit)
    result.misfit = misfit_of(result.problem, request.admission);
  return result;
}

}  // namespace millrace::product
