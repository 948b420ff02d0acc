#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/file.h"
#include "board/board_file.h"
#include "board/read_device.h"

namespace millrace::board {
namespace {

constexpr int format = 1;
constexpr std::string_view board_keys[] = {
    "format", "name",    "cpu_model", "instruction_sets", "idle_power_mw",
    "source", "sources", "devices",   "memories",         "caches"};
constexpr std::string_view source_keys[] = {"name", "text", "url", "estimated"};
constexpr std::string_view memory_keys[] = {
    "name",      "size_kib", "size_mib", "size_gib", "bandwidth_gb_per_s",
    "shared_by", "behind",   "source"};
constexpr std::string_view cache_keys[] = {"level",    "size_kib", "size_mib",
                                           "size_gib", "cores",    "source"};

Source read_source(const YamlView& view, Names& sources) {
  view.only(source_keys);
  Source source;
  source.name = sources.add(view.at("name"));
  source.text = view.at("text").text();
  if (view.has("url")) source.url = view.at("url").text();
  source.estimated = view.has("estimated") && view.at("estimated").boolean();
  return source;
}

/// Each core is one processor's, whichever device it is of.
class Cores {
 public:
  void add(const YamlView& device, const Device& owner) {
    for (int core : owner.cores)
      if (const auto [other, fresh] = owners_.try_emplace(core, owner.name); !fresh)
        device.at("cores").fail(fmt::format(
            "core {} is of device '{}' too; give each core to one device", core, other->second));
  }
  /// Fails if the core is no device's.
  void require(const YamlView& view) const {
    if (owners_.contains(read_count(view, 0, largest_core))) return;
    std::vector<int> known;
    for (const auto& [core, owner] : owners_) known.push_back(core);
    view.fail(known.empty()
                  ? fmt::format("found core {}, but no device of the board has cores; remove the "
                                "line",
                                view.integer())
                  : fmt::format("found core {}, which no device of the board has; give one of {}",
                                view.integer(), fmt::join(known, ", ")));
  }
  /// Hardware threads that are no processors may be among them.
  std::vector<int> refer(const YamlView& view) const {
    std::vector<int> cores;
    for (const YamlView& item : view.items()) cores.push_back(read_count(item, 0, largest_core));
    if (std::none_of(cores.begin(), cores.end(), [&](int core) { return owners_.contains(core); }))
      view.fail("none of these cores is of a device; expected those that share the cache");
    return cores;
  }

 private:
  std::map<int, std::string> owners_;
};

Memory read_memory(const YamlView& view, FileNames& names) {
  view.only(memory_keys);
  Memory memory;
  memory.name = names.memories.add(view.at("name"));
  memory.size = read_size(view);
  if (view.has("bandwidth_gb_per_s")) memory.bytes = read_giga(view.at("bandwidth_gb_per_s"));
  for (const YamlView& item : view.at("shared_by").items())
    memory.shared_by.push_back(names.devices.refer(item));
  if (memory.shared_by.empty())
    view.at("shared_by").fail("found no devices, expected those that use the memory");
  memory.origins = read_origins(view, names.sources);
  return memory;
}

/// Once all memories have their names.
void read_behind(const std::vector<YamlView>& views, std::vector<Memory>& memories,
                 const Names& names) {
  std::map<std::string, std::string> behind;
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (!views[i].has("behind")) continue;
    const YamlView view = views[i].at("behind");
    memories[i].behind = names.refer(view);
    behind[memories[i].name] = memories[i].behind;
    std::string way = memories[i].name;
    for (auto next = behind.find(memories[i].name); next != behind.end();
         next = behind.find(next->second)) {
      way += " behind " + next->second;
      if (next->second == memories[i].name)
        view.fail(
            fmt::format("the memories lie in a circle ({}), expected that the last one is "
                        "behind none; remove one 'behind'",
                        way));
    }
  }
}

Cache read_cache(const YamlView& view, const Cores& cores, const Names& sources) {
  view.only(cache_keys);
  return {read_count(view.at("level"), 1, 9), read_size(view), cores.refer(view.at("cores")),
          read_origins(view, sources)};
}

class BoardReader {
 public:
  explicit BoardReader(const YamlView& root) : root_(root) {}

  Board read() {
    root_.only(board_keys);
    if (const std::int64_t found = root_.at("format").integer(); found != format)
      root_.at("format").fail(fmt::format("found {}, expected {}", found, format));
    board_.name = root_.at("name").text();
    if (root_.has("cpu_model")) board_.cpu_model = root_.at("cpu_model").text();
    if (root_.has("instruction_sets"))
      board_.instruction_sets = read_texts(root_.at("instruction_sets"));
    for (const YamlView& view : items("sources"))
      board_.sources.push_back(read_source(view, names_.sources));
    if (root_.has("idle_power_mw")) board_.idle_power = read_power(root_.at("idle_power_mw"));
    board_.origins = read_origins(root_, names_.sources);
    read_devices();
    read_memories();
    for (const YamlView& view : items("caches"))
      board_.caches.push_back(read_cache(view, cores_, names_.sources));
    return std::move(board_);
  }

 private:
  std::vector<YamlView> items(std::string_view key) const {
    return root_.has(key) ? root_.at(key).items() : std::vector<YamlView>{};
  }
  void read_devices() {
    const std::vector<YamlView> views = root_.at("devices").items();
    if (views.empty()) root_.at("devices").fail("found no devices, expected at least one");
    for (const YamlView& view : views) {
      const Device& device = board_.devices.emplace_back(read_device(view, names_));
      cores_.add(view, device);
      for (Processor& processor : processors_of(device))
        board_.processors.push_back(std::move(processor));
    }
    for (const YamlView& view : views) {
      if (view.has("limits") && view.at("limits").has("fallback"))
        names_.devices.refer(view.at("limits").at("fallback"));
      if (view.has("costs") && view.at("costs").has("fed_by_core"))
        cores_.require(view.at("costs").at("fed_by_core"));
    }
  }
  void read_memories() {
    const std::vector<YamlView> views = items("memories");
    for (const YamlView& view : views) board_.memories.push_back(read_memory(view, names_));
    read_behind(views, board_.memories, names_.memories);
  }

  YamlView root_;
  Board board_;
  FileNames names_;
  Cores cores_;
};

}  // namespace

Board read_board(const std::filesystem::path& path) {
  return parse_board(read_file(path), path.string());
}

Board parse_board(const std::string& content, const std::string& file) {
  const YamlNode document = parse_yaml(content, file);
  return BoardReader(YamlView(document, file)).read();
}

}  // namespace millrace::board
