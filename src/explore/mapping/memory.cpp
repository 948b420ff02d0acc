#include "explore/mapping/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/quantity.h"
#include "board/limits/usable_memory.h"

namespace millrace::explore {
namespace {

/// A main memory, and the processors that work in it.
struct Room {
  std::string name;
  Bytes size;
  bool is_here;  // programs and tensors need a quarter of it; a file says what is for weights
  std::vector<std::size_t> processors;

  Bytes without_a_quarter() const { return {size.count - size.count / 4}; }
  Bytes for_weights() const { return is_here ? without_a_quarter() : size; }
};

std::vector<Room> rooms_of(const board::Board& board) {
  std::vector<Room> rooms;
  for (const board::Memory& memory : board.memories) {
    const bool is_here = memory.origins.all == "system";
    const bool is_of_program = is_here && memory.name == "memory";
    Room room{is_of_program ? "of this machine" : memory.name, memory.size, is_here, {}};
    for (std::size_t p = 0; p < board.processors.size(); ++p)
      if (board::main_memory_of(board, board.processors[p]) == &memory)
        room.processors.push_back(p);
    if (!room.processors.empty()) rooms.push_back(std::move(room));
  }
  return rooms;
}

/// Whether each processor works in a memory whose size is known.
bool are_all_known(const std::vector<Room>& rooms, const board::Board& board) {
  std::size_t known = 0;
  for (const Room& room : rooms) known += room.processors.size();
  return known == board.processors.size();
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

/// What does not fit, in which rooms together.
struct Needed {
  Bytes weights, size = {}, for_weights = {};
  std::string names = {};
  std::size_t rooms = 0;

  void add(const Room& room) {
    size += room.size;
    for_weights += room.for_weights();
    names += (rooms++ == 0 ? "" : " and ") + room.name;
  }
  Verdict verdict() const {
    if (weights <= for_weights) return Verdict::yes();
    return Verdict::no(fmt::format("its weights need {} of the {}, which {} {}{}: {} are missing",
                                   to_text(weights), (rooms == 1 ? "memory " : "memories ") + names,
                                   rooms == 1 ? "has" : "have", to_text(size),
                                   for_weights == size ? "" : ", a quarter of it for other things",
                                   to_text(Bytes{weights.count - for_weights.count})));
  }
};

/// By layer, the bytes of its weights.
std::vector<std::int64_t> weights_by_layer(const network::Network& network) {
  std::vector<std::int64_t> weights;
  for (std::size_t i = 0; i < network.layers.size(); ++i)
    weights.push_back(network::weights_of(network, LayerId(i)).count);
  return weights;
}

std::vector<std::int64_t> sizes_of(const std::vector<Room>& rooms, bool leaves_a_quarter) {
  std::vector<std::int64_t> sizes;
  for (const Room& room : rooms)
    sizes.push_back((leaves_a_quarter ? room.without_a_quarter() : room.for_weights()).count);
  return sizes;
}

/// By layer, the number of its room. Nothing: there is not enough.
using Places = std::optional<std::vector<std::size_t>>;

Places in_order(const std::vector<std::int64_t>& weights, std::vector<std::int64_t> left) {
  std::vector<std::size_t> places;
  std::size_t room = 0;
  for (const std::int64_t weight : weights) {
    while (room < left.size() && weight > left[room]) ++room;
    if (room == left.size()) return std::nullopt;
    left[room] -= weight;
    places.push_back(room);
  }
  return places;
}

Places largest_first(const std::vector<std::int64_t>& weights, std::vector<std::int64_t> left) {
  std::vector<std::size_t> order(weights.size()), places(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return weights[i]; });
  for (const std::size_t layer : order) {
    const auto most = std::ranges::max_element(left);
    if ((*most -= weights[layer]) < 0) return std::nullopt;
    places[layer] = static_cast<std::size_t>(most - left.begin());
  }
  return places;
}

Places places_for(const std::vector<std::int64_t>& weights,
                  const std::vector<std::int64_t>& sizes) {
  Places places = in_order(weights, sizes);
  return places ? places : largest_first(weights, sizes);
}

/// The first that can run it.
std::optional<std::size_t> processor_for(const Problem& problem, const Room& room,
                                         std::size_t layer) {
  for (const std::size_t p : room.processors)
    if (std::isfinite(problem.time[layer][p])) return p;
  return std::nullopt;
}

/// Where what the layer reads last is made; `first` if nothing that it reads is.
std::size_t processor_before(const network::Network& network, LayerId layer,
                             const std::vector<std::size_t>& of_tensors, std::size_t first) {
  std::size_t result = first;
  for (const TensorId input : network::data_inputs(network, layer))
    if (of_tensors[input.index] != LayerId::none) result = of_tensors[input.index];
  return result;
}

/// The weights of the network's layers, each divided one counted as its parts.
std::vector<std::int64_t> divided_weights(const network::Network& network,
                                          const network::Division& division) {
  std::vector<std::int64_t> result;
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const std::int64_t weights = network::weights_of(network, LayerId(i)).count;
    const auto found = division.find(network.layers[i].name);
    const std::int64_t parts = found == division.end() ? 1 : found->second;
    for (std::int64_t part = 0; part < parts; ++part)
      result.push_back((weights + parts - 1) / parts);
  }
  return result;
}

/// The layer with the largest parts that can be divided once more; an empty name: none.
std::string next_to_divide(const network::Network& network, const network::Division& division,
                           std::int64_t most_parts) {
  std::string name;
  std::int64_t largest = 0;
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const auto found = division.find(network.layers[i].name);
    const std::int64_t parts = found == division.end() ? 1 : found->second;
    const std::int64_t each = network::weights_of(network, LayerId(i)).count / parts;
    if (each <= largest || parts >= most_parts ||
        !network::can_be_divided(network, LayerId(i), parts + 1))
      continue;
    largest = each;
    name = network.layers[i].name;
  }
  return name;
}

}  // namespace

Verdict within_memories(const plan::Plan& plan, const network::Network& network,
                        const board::Board& board) {
  for (const Room& room : rooms_of(board)) {
    Needed needed{};
    for (const LayerId layer : layers_in(room, plan, board))
      needed.weights += network::weights_of(network, layer);
    needed.add(room);
    if (Verdict verdict = needed.verdict(); !verdict) return verdict;
  }
  return Verdict::yes();
}

bool is_large_for(const network::Network& network, const board::Board& board) {
  const Bytes weights = network::weights_of(network);
  return std::ranges::any_of(rooms_of(board),
                             [&](const Room& room) { return weights * 2 > room.size; });
}

std::optional<plan::Mapping> mapping_by_memory(const Problem& problem,
                                               const network::Network& network,
                                               const board::Board& board) {
  const std::vector<Room> rooms = rooms_of(board);
  if (rooms.size() < 2) return std::nullopt;
  const std::vector<std::int64_t> weights = weights_by_layer(network);
  Places places = places_for(weights, sizes_of(rooms, true));
  if (!places) places = places_for(weights, sizes_of(rooms, false));
  if (!places) return std::nullopt;
  plan::Mapping mapping;
  std::vector<std::size_t> of_tensors(network.tensors.size(), LayerId::none);
  for (std::size_t layer = 0; layer < problem.layers; ++layer) {
    std::optional<std::size_t> found;
    if (weights[layer] > 0)
      found = processor_for(problem, rooms[(*places)[layer]], layer);
    else
      found = processor_before(network, LayerId(layer), of_tensors, rooms[0].processors.front());
    if (!found || !std::isfinite(problem.time[layer][*found])) return std::nullopt;
    mapping.processors.emplace_back(*found);
    for (const TensorId output : network.layers[layer].outputs)
      if (output.valid()) of_tensors[output.index] = *found;
  }
  return mapping;
}

network::Division division_for(const network::Network& network, const board::Board& board) {
  const std::vector<Room> rooms = rooms_of(board);
  if (rooms.size() < 2 || !are_all_known(rooms, board)) return {};
  const std::vector<std::int64_t> sizes = sizes_of(rooms, false);
  network::Division division;
  while (!places_for(divided_weights(network, division), sizes)) {
    const std::string next = next_to_divide(network, division, std::ssize(rooms));
    if (next.empty()) return {};
    const auto [parts, is_new] = division.try_emplace(next, 2);
    if (!is_new) ++parts->second;
  }
  return division;
}

network::Division fit_to_memories(network::Network& network, const board::Board& board,
                                  const Context& context) {
  const std::vector<Room> rooms = rooms_of(board);
  Needed needed{network::weights_of(network)};
  for (const Room& room : rooms) needed.add(room);
  const bool is_told = std::ranges::all_of(rooms, &Room::is_here) && are_all_known(rooms, board);
  if (const Verdict verdict = needed.verdict(); is_told && !verdict)
    throw InputError(network.name,
                     verdict.reason() + "; run it on more boards: docs/methods/clusters.md");
  network::Division division = division_for(network, board);
  for (std::size_t i = 0; i < network.layers.size(); ++i)
    if (const auto found = division.find(network.layers[i].name); found != division.end())
      context.note(fmt::format(
          "{} is divided into {} parts, as its weights of {} do not fit in the boards' memories "
          "beside those of the other layers",
          found->first, found->second, to_text(network::weights_of(network, LayerId(i)))));
  network = network::divided(std::move(network), division);
  return division;
}

}  // namespace millrace::explore
