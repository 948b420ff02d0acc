#include "product/shared_cores.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "board/cores_in_use.h"

namespace millrace::product {

void put_free_first(board::Board& board) {
  const auto free = board::take_free(board.processors);
  if (!free) return;
  const auto found = board.processors.begin() + static_cast<std::ptrdiff_t>(*free);
  std::rotate(board.processors.begin(), found, found + 1);
}

void note_shared_cores(const std::vector<int>& cores, const millrace::Context& context) {
  std::vector<std::string> shared;
  for (const board::CoreInUse& each : board::used_by_others(cores))
    shared.push_back(each.process > 0 ? fmt::format("core {} (process {})", each.core, each.process)
                                      : fmt::format("core {}", each.core));
  if (!shared.empty())
    context.note(
        fmt::format("another process of yours is bound to {}, so both programs are slower; stop "
                    "one of them",
                    fmt::join(shared, ", ")));
}

void note_shared_cores(const plan::Plan& plan, const millrace::Context& context) {
  std::vector<int> cores;
  for (const plan::Stage& stage : plan.stages)
    for (const board::Processor& each : stage.processors)
      cores.insert(cores.end(), each.cores.begin(), each.cores.end());
  std::sort(cores.begin(), cores.end());
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
  note_shared_cores(cores, context);
}

}  // namespace millrace::product
