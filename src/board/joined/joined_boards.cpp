#include "board/joined/joined_boards.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "board/read_values.h"

namespace millrace::board {
namespace {

constexpr std::string_view boards_keys[] = {"format", "name", "here", "boards", "on_loss"};
constexpr std::string_view neighbour_keys[] = {"name",   "board",      "reach",
                                               "worker", "gb_per_s",   "latency_us",
                                               "wire",   "memory_mib", "nj_per_byte"};

Precision read_wire(const YamlView& value) {
  for (const Precision each : {Precision::f32, Precision::f16, Precision::int8})
    if (value.text() == to_text(each)) return each;
  value.fail(fmt::format("found '{}', expected f32, f16 or int8", value.text()));
}

Bytes read_mebibytes(const YamlView& value) {
  constexpr std::int64_t most = std::int64_t{1} << 30;
  return {value.integer(1, most) << 20};
}

Neighbour read_neighbour(const YamlView& view, Names& names) {
  view.only(neighbour_keys);
  Neighbour result{names.add(view.at("name")), {}, {}};
  if (result.name.find_first_of(".,+@ ") != std::string::npos)
    view.at("name").fail(
        fmt::format("found '{}', expected a name without dots, commas and spaces", result.name));
  if (view.has("board")) result.board = view.at("board").name_or_path();
  if (view.has("reach")) result.reach = view.at("reach").text();
  if (view.has("worker")) result.worker = view.at("worker").text();
  if (view.has("gb_per_s")) result.bytes = read_giga(view.at("gb_per_s"));
  if (view.has("latency_us")) result.latency = read_microseconds(view.at("latency_us"));
  if (view.has("memory_mib")) result.memory = read_mebibytes(view.at("memory_mib"));
  if (view.has("nj_per_byte")) result.nj_per_byte = read_number(view.at("nj_per_byte"), {});
  if (view.has("wire")) result.wire = read_wire(view.at("wire"));
  return result;
}

bool is_replan(const YamlView& value) {
  const std::string text = value.text();
  if (text != "replan" && text != "end")
    value.fail(fmt::format("found '{}', expected replan or end", text));
  return text == "replan";
}

std::string prefixed(const std::string& board, const std::string& name) {
  return fmt::format("{}.{}", board, name);
}

double numbers_in_the_place_of_one(Precision wire) {
  return 4.0 / static_cast<double>(bytes_on_wire(wire));
}

/// Of all that is no processor, for each processor.
double idle_share_mw(const Board& board) {
  std::size_t count = 0;
  for (const Device& device : board.devices) count += processors_of(device).size();
  return board.idle_power && count > 0 ? board.idle_power->value / static_cast<double>(count) : 0;
}

/// A device as seen over the link. Each of its processors draws `idle_mw` beside its own.
Device device_there(const Neighbour& neighbour, const Device& device, double idle_mw) {
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
  result.costs.transfer = neighbour.bytes * numbers_in_the_place_of_one(neighbour.wire);
  result.costs.copy_engines = 2;
  result.space = neighbour.name;
  result.origins = {};
  for (Unit& unit : result.units) unit.origins = {};
  for (PowerPoint& point : result.power) {
    point.origins = {};
    point.still.value += idle_mw;
  }
  for (Efficiency& efficiency : result.efficiency) efficiency.origins = {};
  return result;
}

void add(Board& board, const Neighbour& neighbour, const Board& other) {
  const double idle_mw = idle_share_mw(other);
  for (const Device& device : other.devices) {
    board.devices.push_back(device_there(neighbour, device, idle_mw));
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
}

}  // namespace

std::int64_t bytes_on_wire(Precision wire) {
  if (wire == Precision::f32) return 4;
  return wire == Precision::f16 ? 2 : 1;
}

std::vector<Link> links_of(const std::string& name_or_path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(name_or_path, ignored)) return {};
  const YamlNode file = read_yaml(name_or_path);
  const YamlView view(file, name_or_path);
  std::vector<Link> links;
  if (is_joined_boards(view))
    for (const Neighbour& each : read_joined_boards(view).boards)
      links.push_back({each.name, each.nj_per_byte, each.wire});
  return links;
}

bool is_joined_boards(const YamlView& file) { return file.is_map() && file.has("boards"); }

JoinedBoards read_joined_boards(const YamlView& file) {
  file.only(boards_keys);
  file.at("format").integer(1, 1);
  JoinedBoards boards{file.at("name").text(), {}, {}};
  if (file.has("here")) boards.here = file.at("here").name_or_path();
  if (file.has("on_loss")) boards.replans = is_replan(file.at("on_loss"));
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

std::vector<std::vector<std::string>> losses_of(const JoinedBoards& boards) {
  constexpr std::size_t most_for_all_sets = 3, most_for_each = 8;
  std::vector<std::string> names;
  for (const Neighbour& each : boards.boards) names.push_back(each.name);
  std::ranges::sort(names);
  if (names.size() > most_for_each) return {names};
  std::vector<std::vector<std::string>> result;
  for (std::uint32_t set = 1; set < 1u << names.size(); ++set) {
    std::vector<std::string> lost;
    for (std::size_t i = 0; i < names.size(); ++i)
      if ((set >> i & 1u) != 0) lost.push_back(names[i]);
    if (names.size() <= most_for_all_sets || lost.size() == 1 || lost.size() == names.size())
      result.push_back(std::move(lost));
  }
  std::ranges::stable_sort(result, {}, &std::vector<std::string>::size);
  return result;
}

Board joined(const JoinedBoards& boards, const FindBoard& find) {
  if (boards.here.empty())
    throw InputError(boards.name,
                     "does not say what board the program runs on; add 'here', a "
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
