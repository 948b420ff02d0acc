#include "board/board.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"

namespace millrace::board {
namespace {

/// {0, 1, 2, 5} is "0-2,5".
std::string ranges_of(const std::vector<int>& cores) {
  std::string text;
  for (std::size_t first = 0; first < cores.size();) {
    std::size_t last = first;
    while (last + 1 < cores.size() && cores[last + 1] == cores[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(cores[first]);
    if (last > first) text += fmt::format("-{}", cores[last]);
    first = last + 1;
  }
  return text;
}

const Processor& find(const Board& board, const std::string& name) {
  const auto found =
      std::find_if(board.processors.begin(), board.processors.end(),
                   [&](const Processor& processor) { return processor.name == name; });
  if (found != board.processors.end()) return *found;
  std::vector<std::string_view> known;
  for (const Processor& processor : board.processors) known.push_back(processor.name);
  const std::string near = nearest_word(name, known);
  throw InputError("processors",
                   fmt::format("'{}' is not a processor of this board, which has {}{}", name,
                               fmt::join(known, ", "),
                               near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
}

void add_cores(Hasher& hasher, const std::vector<int>& cores) {
  hasher.add(static_cast<std::int64_t>(cores.size()));
  for (int core : cores) hasher.add(std::int64_t{core});
}

}  // namespace

Processor all_cores(const Board& board) {
  if (board.processors.size() == 1) return board.processors.front();
  Processor all;
  for (const Processor& processor : board.processors)
    all.cores.insert(all.cores.end(), processor.cores.begin(), processor.cores.end());
  std::sort(all.cores.begin(), all.cores.end());
  all.name = "cores" + ranges_of(all.cores);
  return all;
}

Board only(const Board& board, const std::vector<std::string>& processor_names) {
  if (processor_names.empty())
    throw InputError("processors", "the list is empty, expected at least one processor");
  Board result = board;
  result.processors.clear();
  for (const std::string& name : processor_names) {
    const Processor& processor = find(board, name);
    const auto& chosen = result.processors;
    if (std::find(chosen.begin(), chosen.end(), processor) != chosen.end())
      throw InputError("processors", fmt::format("'{}' is named twice, expected once", name));
    result.processors.push_back(processor);
  }
  return result;
}

std::string hash_of(const Board& board) {
  Hasher hasher;
  hasher.add(board.cpu_model);
  hasher.add(static_cast<std::int64_t>(board.instruction_sets.size()));
  for (const std::string& set : board.instruction_sets) hasher.add(set);
  hasher.add(static_cast<std::int64_t>(board.caches.size()));
  for (const Cache& cache : board.caches) {
    hasher.add(std::int64_t{cache.level}).add(cache.size.count);
    add_cores(hasher, cache.cores);
  }
  return hasher.digits();
}

}  // namespace millrace::board
