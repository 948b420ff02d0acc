#include "board/clusters.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <tuple>

#include "board/arm_cores.h"

namespace millrace::board {
namespace {

namespace fs = std::filesystem;

/// In kHz; 0 if the file has none.
double khz_in(const fs::path& path) {
  double khz = 0;
  std::istringstream(first_line(path)) >> khz;
  return khz > 0 && khz < 1e9 ? khz : 0;
}

/// All that there are, or the lowest and the highest.
std::vector<Megahertz> clocks_in(const fs::path& cpufreq) {
  std::vector<Megahertz> clocks;
  std::istringstream listed(first_line(cpufreq / "scaling_available_frequencies"));
  for (double khz = 0; listed >> khz;)
    if (khz > 0 && khz < 1e9) clocks.push_back({khz / 1e3});
  if (clocks.empty())
    for (const char* name : {"cpuinfo_min_freq", "cpuinfo_max_freq"})
      if (const double khz = khz_in(cpufreq / name); khz > 0) clocks.push_back({khz / 1e3});
  std::ranges::sort(clocks);
  clocks.erase(std::unique(clocks.begin(), clocks.end()), clocks.end());
  return clocks;
}

std::optional<int> clock_of(const fs::path& core) {
  const std::vector<int> sharing = cores_in_file(core / "cpufreq/related_cpus");
  const std::vector<int> threads = cores_in_file(core / "topology/thread_siblings_list");
  const bool are_others = std::ranges::any_of(sharing, [&](int other) {
    return std::ranges::find(threads, other) == threads.end();
  });
  if (sharing.size() < 2 || !are_others) return std::nullopt;
  return *std::ranges::min_element(sharing);
}

bool has_kinds(const std::vector<CoreFacts>& facts) {
  return std::ranges::any_of(facts, [](const CoreFacts& each) { return each.kind > 0; });
}

}  // namespace

std::string first_line(const fs::path& path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return line;
}

std::vector<int> cores_in_file(const fs::path& path) {
  std::string text = first_line(path);
  std::ranges::replace(text, ',', ' ');
  std::istringstream words(text);
  std::vector<int> cores;
  for (std::string word; words >> word;) {
    int first = 0, last = 0;
    const int found = std::sscanf(word.c_str(), "%d-%d", &first, &last);
    constexpr int most = 1 << 16;
    if (found < 1 || first < 0 || last > most) return {};
    for (int core = first; core <= (found == 2 ? last : first); ++core) cores.push_back(core);
  }
  return cores;
}

std::vector<CoreFacts> facts_of_cores(const std::vector<int>& cores, const fs::path& root) {
  std::ifstream cpuinfo(root / "proc/cpuinfo");
  const std::map<int, std::string> models = arm_models(cpuinfo);
  const std::vector<int> fast = cores_in_file(root / "sys/devices/cpu_core/cpus");
  std::vector<CoreFacts> result;
  for (const int core : cores) {
    CoreFacts facts{core};
    facts.kind = std::ranges::count(fast, core) > 0 ? 1 : 0;
    const fs::path folder = root / fmt::format("sys/devices/system/cpu/cpu{}", core);
    if (const auto model = models.find(core); model != models.end()) facts.model = model->second;
    std::istringstream(first_line(folder / "cpu_capacity")) >> facts.capacity;
    facts.clock_of = clock_of(folder);
    if (facts.clock_of || !facts.model.empty()) facts.clocks = clocks_in(folder / "cpufreq");
    result.push_back(std::move(facts));
  }
  return result;
}

std::vector<Device> devices_of_cores(const std::vector<Processor>& processors,
                                     const std::vector<CoreFacts>& facts,
                                     const std::string& model) {
  // Machines with Intel's two kinds of cores say nothing of capacities, or each core its own.
  const bool by_kind = has_kinds(facts);
  using Key = std::tuple<std::int64_t, int, std::string>;
  std::map<Key, Device> by_key;
  for (std::size_t p = 0; p < processors.size(); ++p) {
    const CoreFacts& core = facts[p];
    Device& device = by_key[{by_kind ? core.kind : core.capacity, core.clock_of.value_or(-1),
                             core.model}];
    device.cores.push_back(core.core);
    device.processors.push_back(processors[p].name);
    device.model = core.model.empty() ? model : core.model;
    device.clocks = core.clocks;
    if (!device.clocks.empty()) device.origins.all = "system";
  }
  std::vector<Device> devices;
  for (auto& [key, device] : by_key) {
    device.name = by_key.size() == 1 ? "cpu" : "cpu" + std::to_string(devices.size());
    devices.push_back(std::move(device));
  }
  return devices;
}

std::vector<Processor> joined_clusters(const Board& board) {
  std::vector<Processor> result;
  std::vector<const Device*> done;
  for (const Processor& processor : board.processors) {
    const Device* const device = device_of(board, processor);
    if (processor.kind != ProcessorKind::cpu || std::ranges::count(done, device) > 0) continue;
    done.push_back(device);
    Board cluster = board;
    std::erase_if(cluster.processors, [&](const Processor& other) {
      return other.kind != ProcessorKind::cpu || device_of(board, other) != device;
    });
    result.push_back(all_cores(cluster));
  }
  return result;
}

}  // namespace millrace::board
