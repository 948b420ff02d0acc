#include "board/isolated_cores.h"

#include <algorithm>

#include "board/clusters.h"

namespace millrace::board {

std::vector<int> isolated_cores(const std::filesystem::path& root) {
  std::vector<int> cores = cores_in_file(root / "sys/devices/system/cpu/isolated");
  const std::vector<int> of_sets = cores_in_file(root / "sys/fs/cgroup/cpuset.cpus.isolated");
  cores.insert(cores.end(), of_sets.begin(), of_sets.end());
  std::ranges::sort(cores);
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
  return cores;
}

}  // namespace millrace::board
