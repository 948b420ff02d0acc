#include "explore/mapping/board_energy.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "board/power.h"

namespace millrace::explore {
namespace {

/// `here` first.
std::vector<std::string> names_of_boards(const std::vector<board::DeviceEnergy>& powers) {
  std::vector<std::string> names;
  for (const board::DeviceEnergy& each : powers)
    if (std::ranges::find(names, each.board) == names.end()) names.push_back(each.board);
  std::ranges::stable_partition(names,
                                [](const std::string& name) { return name == board::board_here; });
  return names;
}

double busy_power(const board::Board& board, const board::Processor& processor) {
  const board::Device* const device = device_of(board, processor);
  if (device == nullptr || device->power.empty())
    throw InputError(board.name,
                     fmt::format("does not say what {} draws; add 'power' to its device, or search "
                                 "without ⟨fitness⟩ board-energy and ⟨max_board_energy⟩",
                                 processor.name));
  const auto cores = static_cast<double>(std::max<std::size_t>(processor.cores.size(), 1));
  return cores * board::dynamic_power(*device, board::highest_clock(*device)).value;
}

}  // namespace

Problem::Energy energy_of(const board::Board& board, std::span<const board::Link> links) {
  Problem::Energy result;
  // What is drawn in a second in which nothing works: millijoules are milliwatts.
  const std::vector<board::DeviceEnergy> powers = board::energy_per_frame(board, {}, 1);
  const std::vector<std::string> names = names_of_boards(powers);
  const auto number_of = [&names](const std::string& name) {
    return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
  };
  for (const board::Processor& processor : board.processors) {
    result.busy_mw.push_back(busy_power(board, processor));
    const auto power =
        std::ranges::find(powers, device_of(board, processor)->name, &board::DeviceEnergy::device);
    result.board_of.push_back(number_of(power->board));
  }
  result.still_mw.resize(names.size());
  result.link_nj.resize(names.size());
  for (const board::DeviceEnergy& power : powers)
    result.still_mw[number_of(power.board)] += power.still_mj;
  for (const board::Link& link : links)
    if (const std::size_t at = number_of(link.board); at < names.size())
      result.link_nj[at] = link.nj_per_byte * static_cast<double>(board::bytes_on_wire(link.wire));
  return result;
}

double largest_energy(const Problem& problem, std::span<const Gene> genes,
                      std::span<const double> times) {
  constexpr double pj_of_nj = 1e3;  // a milliwatt for a nanosecond is a picojoule
  const Problem::Energy& energy = problem.energy;
  const double interval = *std::ranges::max_element(times);
  std::vector<double> boards = energy.still_mw;
  for (double& board : boards) board *= interval;
  for (std::size_t p = 0; p < energy.busy_mw.size(); ++p)
    boards[energy.board_of[p]] += energy.busy_mw[p] * times[p];
  const auto add = [&](std::size_t board, std::int64_t elements) {
    boards[board] += pj_of_nj * energy.link_nj[board] * static_cast<double>(elements);
  };
  for (const Problem::Edge& edge : problem.edges) {
    const std::size_t from = energy.board_of[genes[edge.from]];
    const std::size_t to = energy.board_of[genes[edge.to]];
    if (from == to) continue;  // else over the links of both, of which `here` has none
    add(from, edge.elements);
    add(to, edge.elements);
  }
  for (const Problem::End& end : problem.ends) add(energy.board_of[genes[end.layer]], end.elements);
  return *std::ranges::max_element(boards);
}

}  // namespace millrace::explore
