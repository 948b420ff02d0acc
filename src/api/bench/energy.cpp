#include "api/bench/energy.h"

#include <filesystem>

#include "board/shipped.h"
#include "plan/steps.h"
#include "schedule/schedule.h"

namespace millrace::api {

std::optional<board::Board> board_of(const plan::Origin& origin) {
  std::vector<std::string> candidates = board::shipped_boards();
  const std::string file = origin.board_file;
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored)) candidates.push_back(file);
  for (const std::string& name : candidates) {
    board::Board board = board::find_board(name);
    if (board::hash_of(board) == origin.board) return board;
  }
  return std::nullopt;
}

std::vector<board::DeviceEnergy> predicted_energy(const plan::Plan& plan,
                                                  const plan::Origin& origin,
                                                  const plan::Evidence& evidence,
                                                  double interval_s) {
  const auto board = board_of(origin);
  const plan::PhaseTimes times = plan::predicted_times(plan, evidence);
  if (!board || times.empty()) return {};
  std::vector<board::BusyProcessor> busy;
  const schedule::Schedule schedule = schedule::compile(plan);
  for (std::size_t a = 0; a < schedule.actors.size(); ++a) {
    const schedule::Actor& actor = schedule.actors[a];
    double each = 0;
    for (const Time time : times[a]) each += seconds(time);
    const auto replicas = plan.stages[actor.stage].processors.size();
    busy.push_back({actor.processor, each / static_cast<double>(replicas)});
  }
  return board::energy_per_frame(*board, busy, interval_s);
}

std::unique_ptr<runtime::Repeated> sampler_of(board::EnergyMeter& meter) {
  if (!meter.needs_samples()) return nullptr;
  constexpr std::chrono::milliseconds period{50};
  return std::make_unique<runtime::Repeated>([&meter] { meter.sample(); }, period);
}

}  // namespace millrace::api
