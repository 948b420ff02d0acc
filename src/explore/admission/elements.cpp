#include "explore/admission/elements.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "base/error.h"

namespace millrace::explore {
namespace {

/// A device falls into parts; `name` of each.
struct Parts {
  const board::Device& device;
  std::vector<std::string> names;
  std::vector<std::vector<int>> cores;  // of a CPU's parts
  std::vector<std::size_t> units;       // of the problem
  std::optional<std::size_t> link = {};  // likewise
};

/// The cores of the device that are not reserved, by clusters that share a second-level cache.
std::vector<std::vector<int>> clusters_of(const board::Board& board, const board::Device& device,
                                          int reserved) {
  std::vector<int> cores = device.cores;
  cores.resize(cores.size() - std::min(cores.size(), static_cast<std::size_t>(reserved)));
  std::vector<std::vector<int>> clusters;
  for (int core : cores) {
    std::vector<int> sharing{core};
    for (const board::Cache& cache : board.caches)
      if (cache.level == 2 && std::ranges::find(cache.cores, core) != cache.cores.end())
        sharing = cache.cores;
    const auto has = [&](const std::vector<int>& cluster) {
      return std::ranges::find(sharing, cluster.front()) != sharing.end();
    };
    const auto found = std::ranges::find_if(clusters, has);
    if (found == clusters.end())
      clusters.push_back({core});
    else
      found->push_back(core);
  }
  return clusters;
}

Parts parts_of(const board::Board& board, const board::Device& device,
               const ElementOptions& options) {
  Parts parts{device, {}, {}, {}, {}};
  if (device.kind == board::ProcessorKind::cpu) {
    parts.cores = clusters_of(board, device, options.reserved_cores);
    for (const auto& cluster : parts.cores)
      parts.names.push_back(cluster.size() == 1
                                ? fmt::format("core{}", cluster[0])
                                : fmt::format("cores{}-{}", cluster.front(), cluster.back()));
  } else if (device.kind == board::ProcessorKind::gpu && device.multiprocessor_groups > 1) {
    const std::size_t count = std::min<std::size_t>(
        options.gpu_parts, static_cast<std::size_t>(device.multiprocessor_groups));
    for (std::size_t p = 0; p < count; ++p)
      parts.names.push_back(fmt::format("{}/{}", device.processors[0], p));
  } else {
    parts.names = device.processors;
  }
  return parts;
}

/// How many of the device's processors these parts of it are.
double amount_of(const Parts& parts, std::size_t first, std::size_t count) {
  double speed = static_cast<double>(count);
  if (parts.device.kind == board::ProcessorKind::cpu) {
    speed = 0;
    for (std::size_t p = first; p < first + count; ++p)
      speed += static_cast<double>(parts.cores[p].size());
  } else if (parts.device.kind == board::ProcessorKind::gpu) {
    speed /= static_cast<double>(parts.names.size());
  }
  return speed;
}

/// The board with one processor that works as the parts together do.
board::Board board_of(const board::Board& board, const Parts& parts, const std::string& name,
                      double speed) {
  board::Board result = board;
  board::Device device = parts.device;
  device.name = name;
  device.processors = {name};
  device.together = device.kind == board::ProcessorKind::cpu;
  for (board::Unit& unit : device.units)
    for (auto& [precision, operations] : unit.operations) operations *= speed;
  device.bytes *= speed;
  for (board::Memory& memory : result.memories) {
    const auto found = std::ranges::find(memory.shared_by, parts.device.name);
    if (found == memory.shared_by.end()) continue;
    *found = name;
    if (parts.device.kind == board::ProcessorKind::gpu) memory.bytes *= speed;
  }
  result.processors = {{name, device.kind, {}}};
  if (device.kind == board::ProcessorKind::cpu) result.processors[0].cores = device.cores;
  result.devices = {std::move(device)};
  return result;
}

class ElementList {
 public:
  ElementList(const board::Board& board, const ElementOptions& options)
      : board_(board), options_(options) {}

  void add(const board::Device& device) {
    Parts parts = parts_of(board_, device, options_);
    if (parts.names.empty()) return;
    const std::string kind = to_text(device.kind);
    std::vector<std::string> kinds{kind};
    if (device.kind == board::ProcessorKind::gpu) {
      kinds.clear();
      for (const board::Unit& unit : device.units) kinds.push_back(kind + "." + unit.name);
    }
    known_.insert(kinds.begin(), kinds.end());
    const bool is_used = std::ranges::any_of(kinds, [&](const std::string& each) {
      return may_use(each, "alone") || may_use(each, "together");
    });
    if (!is_used) return;
    for (const std::string& name : parts.names) {
      parts.units.push_back(result_.problem.units.size());
      result_.problem.units.push_back(name);
    }
    if (device.costs.transfer) {  // to a memory of its own
      parts.link = result_.problem.units.size();
      result_.problem.units.push_back(device.name + " link");
    }
    for (const std::string& each : kinds) add_runs(parts, each);
  }

  Elements take() {
    for (const std::string& kind : options_.kinds) {
      const std::string base = kind.ends_with(".together") || kind.ends_with(".alone")
                                   ? kind.substr(0, kind.rfind('.'))
                                   : kind;
      if (!known_.contains(base))
        throw InputError("kinds", fmt::format("the board '{}' has no '{}'; it has {}", board_.name,
                                              base, fmt::join(known_, ", ")));
    }
    if (result_.elements.empty())
      throw InputError("kinds",
                       fmt::format("nothing of the board '{}' is left to run on", board_.name));
    return std::move(result_);
  }

 private:
  bool may_use(const std::string& kind, const char* form) const {
    return options_.kinds.empty() || options_.kinds.contains(kind) ||
           options_.kinds.contains(kind + "." + form);
  }

  void add_runs(const Parts& parts, const std::string& kind) {
    const std::size_t count = parts.names.size();
    for (std::size_t length = 1; length <= count; ++length) {
      if (!may_use(kind, length == 1 ? "alone" : "together")) continue;
      const bool all_only = parts.device.kind != board::ProcessorKind::cpu && length > 1;
      if (all_only && length < count) continue;
      for (std::size_t first = 0; first + length <= count; ++first)
        add_element(parts, kind, first, length);
    }
  }

  void add_element(const Parts& parts, const std::string& kind, std::size_t first,
                   std::size_t length) {
    std::string name =
        length == 1 ? parts.names[first]
                    : fmt::format("{}..{}", parts.names[first], parts.names[first + length - 1]);
    board::Device device = parts.device;
    if (device.kind == board::ProcessorKind::gpu) {
      const std::string unit = kind.substr(kind.find('.') + 1);
      std::erase_if(device.units, [&](const board::Unit& each) { return each.name != unit; });
      if (parts.device.units.size() > 1) name += ":" + unit;
    }
    const Parts of_unit{device, parts.names, parts.cores, parts.units, parts.link};
    const double amount = amount_of(parts, first, length);
    const bool is_whole = device.kind == board::ProcessorKind::gpu && length == parts.names.size();
    const double speed = length == 1 || is_whole ? amount : amount * options_.together;
    SharedProcessor processor{name, {}, parts.link};
    for (std::size_t p = first; p < first + length; ++p) processor.units.push_back(parts.units[p]);
    result_.problem.processors.push_back(std::move(processor));
    result_.elements.push_back({kind, length, amount, board_of(board_, of_unit, name, speed)});
  }

  const board::Board& board_;
  const ElementOptions& options_;
  Elements result_;
  std::set<std::string> known_;
};

}  // namespace

Elements elements_of(const board::Board& board, const ElementOptions& options) {
  ElementList list(board, options);
  for (const board::Device& device : board.devices) list.add(device);
  return list.take();
}

}  // namespace millrace::explore
