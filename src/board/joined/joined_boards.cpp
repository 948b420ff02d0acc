#include "board/joined/joined_boards.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "board/read_values.h"

namespace millrace::board {
namespace {

constexpr std::string_view boards_keys[] = {"format", "name", "here", "boards"};
constexpr std::string_view neighbour_keys[] = {"name",   "board",    "reach",
                                               "worker", "gb_per_s", "latency_us"};

Neighbour read_neighbour(const YamlView& view, Names& names) {
  view.only(neighbour_keys);
  Neighbour result{names.add(view.at("name")), {}, {}};
  if (result.name.find_first_of(".,+@ ") != std::string::npos)
    view.at("name").fail(fmt::format("found '{}', expected a name without dots, commas and spaces",
                                     result.name));
  if (view.has("board")) result.board = view.at("board").name_or_path();
  if (view.has("reach")) result.reach = view.at("reach").text();
  if (view.has("worker")) result.worker = view.at("worker").text();
  if (view.has("gb_per_s")) result.bytes = read_giga(view.at("gb_per_s"));
  if (view.has("latency_us")) result.latency = read_microseconds(view.at("latency_us"));
  return result;
}

std::string prefixed(const std::string& board, const std::string& name) {
  return fmt::format("{}.{}", board, name);
}

/// A device as seen over the link.
Device device_there(const Neighbour& neighbour, const Device& device) {
  if (!space_of(device).empty())
    throw InputError(neighbour.name,
                     fmt::format("its device '{}' has a memory behind a link of its own, and no "
                                 "transfer goes over two links; leave the device out of its file",
                                 device.name));
  Device result = device;
  result.name = prefixed(neighbour.name, device.name);
  result.processors.clear();
  for (const Processor& processor : processors_of(device))
    result.processors.push_back(prefixed(neighbour.name, processor.name));
  if (device.kind == ProcessorKind::cpu) result.kind = ProcessorKind::npu;
  result.cores.clear();
  result.together = false;
  result.scheduling = usual_scheduling(result.kind);
  result.limits.granularity = Granularity::subnet;
  result.limits.fallback.clear();
  result.limits.origins = {};
  result.costs = {};
  result.costs.launch = 2 * neighbour.latency;
  result.costs.border = neighbour.latency;
  result.costs.transfer = neighbour.bytes;
  result.costs.copy_engines = 2;
  result.space = neighbour.name;
  result.origins = {};
  for (Unit& unit : result.units) unit.origins = {};
  for (PowerPoint& point : result.power) point.origins = {};
  for (Efficiency& efficiency : result.efficiency) efficiency.origins = {};
  return result;
}

void add(Board& board, const Neighbour& neighbour, const Board& other) {
  for (const Device& device : other.devices) {
    board.devices.push_back(device_there(neighbour, device));
    for (const Processor& processor : processors_of(board.devices.back()))
      board.processors.push_back(processor);
  }
  for (Memory memory : other.memories) {
    memory.name = prefixed(neighbour.name, memory.name);
    if (!memory.behind.empty()) memory.behind = prefixed(neighbour.name, memory.behind);
    for (std::string& device : memory.shared_by) device = prefixed(neighbour.name, device);
    memory.origins = {};
    board.memories.push_back(std::move(memory));
  }
  if (board.idle_power && other.idle_power)
    board.idle_power = Milliwatts{board.idle_power->value + other.idle_power->value};
  else
    board.idle_power = std::nullopt;
}

}  // namespace

bool is_joined_boards(const YamlView& file) { return file.is_map() && file.has("boards"); }

JoinedBoards read_joined_boards(const YamlView& file) {
  file.only(boards_keys);
  file.at("format").integer(1, 1);
  JoinedBoards boards{file.at("name").text(), {}, {}};
  if (file.has("here")) boards.here = file.at("here").name_or_path();
  Names names("board");
  for (const YamlView& item : file.at("boards").items())
    boards.boards.push_back(read_neighbour(item, names));
  if (boards.boards.empty()) file.at("boards").fail("found none, expected at least one board");
  return boards;
}

JoinedBoards read_joined_boards(const std::string& path) {
  const YamlNode root = parse_yaml(read_file(path), path);
  return read_joined_boards(YamlView(root, path));
}

Board joined(const JoinedBoards& boards, const FindBoard& find) {
  if (boards.here.empty())
    throw InputError(boards.name, "does not say what board the program runs on; add 'here', a "
                                   "board's name or file");
  Board board = find(boards.here);
  board.name = boards.name;
  for (const Neighbour& neighbour : boards.boards) {
    if (neighbour.board.empty() || neighbour.bytes <= 0)
      throw InputError(boards.name,
                       fmt::format("does not say what '{}' is and how fast its link is; add "
                                   "'board' and 'gb_per_s'",
                                   neighbour.name));
    add(board, neighbour, find(neighbour.board));
  }
  return board;
}

}  // namespace millrace::board
