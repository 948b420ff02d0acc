#include "explore/mapping/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include "base/quantity.h"

namespace millrace::explore {
namespace {

/// A main memory, and the processors that work in it.
struct Room {
  std::string name;
  Bytes size;
  std::vector<std::size_t> processors;
};

std::vector<Room> rooms_of(const board::Board& board) {
  std::vector<Room> rooms;
  for (const board::Memory& memory : board.memories) {
    if (!memory.behind.empty() || memory.size.count <= 0) continue;
    Room room{memory.name, memory.size, {}};
    for (std::size_t p = 0; p < board.processors.size(); ++p) {
      const board::Device* const device = board::device_of(board, board.processors[p]);
      if (device != nullptr && std::ranges::count(memory.shared_by, device->name) > 0)
        room.processors.push_back(p);
    }
    if (!room.processors.empty()) rooms.push_back(std::move(room));
  }
  return rooms;
}

Bytes weights_of(const network::Network& network, LayerId layer) {
  Bytes sum{};
  for (const TensorId input : network[layer].inputs)
    if (input.valid() && network[input].constant) sum += network[input].size();
  return sum;
}

std::set<LayerId> layers_in(const Room& room, const plan::Plan& plan, const board::Board& board) {
  std::set<LayerId> layers;
  for (const plan::Stage& stage : plan.stages) {
    const bool is_there = std::ranges::any_of(room.processors, [&](std::size_t p) {
      return std::ranges::count(stage.processors, board.processors[p]) > 0;
    });
    if (!is_there) continue;
    for (const plan::Phase& phase : stage.phases)
      layers.insert(phase.layers.begin(), phase.layers.end());
  }
  return layers;
}

/// The first that can run it.
std::optional<std::size_t> processor_for(const Problem& problem, const Room& room,
                                         std::size_t layer) {
  for (const std::size_t p : room.processors)
    if (std::isfinite(problem.time[layer][p])) return p;
  return std::nullopt;
}

}  // namespace

Verdict within_memories(const plan::Plan& plan, const network::Network& network,
                        const board::Board& board) {
  for (const Room& room : rooms_of(board)) {
    Bytes needed{};
    for (const LayerId layer : layers_in(room, plan, board)) needed += weights_of(network, layer);
    if (needed > room.size)
      return Verdict::no(
          fmt::format("its weights need {} of the memory {}, which has {}: {} are "
                      "missing",
                      to_text(needed), room.name, to_text(room.size),
                      to_text(Bytes{needed.count - room.size.count})));
  }
  return Verdict::yes();
}

std::optional<plan::Mapping> mapping_by_memory(const Problem& problem,
                                               const network::Network& network,
                                               const board::Board& board) {
  std::vector<Room> rooms = rooms_of(board);
  if (rooms.size() < 2) return std::nullopt;
  std::vector<std::size_t> order(problem.layers);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto weights = [&](std::size_t layer) { return weights_of(network, LayerId(layer)).count; };
  std::ranges::stable_sort(order, std::greater<>(), weights);
  std::vector<std::optional<std::size_t>> found(problem.layers);
  for (const std::size_t layer : order) {
    if (weights(layer) == 0) break;
    Room& room = *std::ranges::max_element(rooms, {}, &Room::size);
    found[layer] = processor_for(problem, room, layer);
    room.size = Bytes{room.size.count - weights(layer)};
    if (!found[layer] || room.size.count < 0) return std::nullopt;
  }
  plan::Mapping mapping;
  std::size_t last = rooms.front().processors.front();
  for (std::size_t layer = 0; layer < problem.layers; ++layer) {
    last = found[layer].value_or(last);
    if (!std::isfinite(problem.time[layer][last])) return std::nullopt;
    mapping.processors.emplace_back(last);
  }
  return mapping;
}

}  // namespace millrace::explore
