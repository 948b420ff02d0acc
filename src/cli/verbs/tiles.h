#pragma once
// Programs of tiles: what `workload`, `analyze` and `simulate` do with them.
#include <cstdint>
#include <string>
#include <vector>

namespace millrace::cli {

struct TilesToSimulate {
  std::string file, board, gantt, trace;
  std::vector<std::string> beside;
  std::vector<std::int64_t> streams;
  bool json = false;
};
int simulate_tiles(const TilesToSimulate& options);

struct TilesAnswer {
  const std::string& file;
  bool json = false;
};
/// `right`: what is printed if nothing was found. 1 if something was.
int say_findings(const TilesAnswer& answer, const std::vector<std::string>& found,
                 const std::string& right);

/// Whether the program may run.
int check_tiles(const std::string& file, bool json);

}  // namespace millrace::cli
