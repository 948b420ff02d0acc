#include "runtime/bench/energy.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "analysis/link_energy.h"
#include "board/joined/joined_boards.h"
#include "board/shipped.h"
#include "plan/evidence.h"

namespace millrace::runtime {

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

std::vector<board::DeviceEnergy> predicted_energy(const PlannedFrames& of,
                                                  const plan::Evidence& evidence,
                                                  double interval_s) {
  const auto board = board_of(of.origin);
  if (!board || plan::predicted_times(of.plan, evidence).empty()) return {};
  const std::map<std::string, Time> times = plan::busy_times(of.plan, evidence);
  std::vector<board::BusyProcessor> busy;
  for (const board::Processor& processor : board->processors)
    if (const auto time = times.find(processor.name); time != times.end())
      busy.push_back({processor, seconds(time->second)});
  auto energies = board::energy_per_frame(*board, busy, interval_s);
  if (!energies.empty()) std::ranges::move(link_energy(of), std::back_inserter(energies));
  return energies;
}

std::vector<board::DeviceEnergy> link_energy(const PlannedFrames& of) {
  const std::vector<board::Link> links = board::links_of(of.origin.board_file);
  return links.empty() ? std::vector<board::DeviceEnergy>()
                       : analysis::link_energy(of.plan, of.network, links);
}

std::unique_ptr<Repeated> sampler_of(board::EnergyMeter& meter) {
  if (!meter.needs_samples()) return nullptr;
  constexpr std::chrono::milliseconds period{50};
  return std::make_unique<Repeated>([&meter] { meter.sample(); }, period);
}

}  // namespace millrace::runtime
