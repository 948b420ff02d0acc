#include "explore/mapping/replicas.h"

#include <algorithm>

namespace millrace::explore {
namespace {

using Times = std::vector<std::vector<double>>;

/// The slowest of each group, its time shared.
Times slowest_shared(const Times& times, std::size_t size) {
  Times result(times.size());
  for (std::size_t layer = 0; layer < times.size(); ++layer)
    for (std::size_t first = 0; first < times[layer].size(); first += size) {
      const auto begin = times[layer].begin() + static_cast<std::ptrdiff_t>(first);
      const double slowest = *std::max_element(begin, begin + static_cast<std::ptrdiff_t>(size));
      result[layer].push_back(slowest / static_cast<double>(size));
    }
  return result;
}

template <class T>
std::vector<T> first_of_groups(const std::vector<T>& all, std::size_t size) {
  std::vector<T> result;
  for (std::size_t i = 0; i < all.size(); i += size) result.push_back(all[i]);
  return result;
}

}  // namespace

Problem in_groups(const Problem& problem, std::size_t size) {
  Problem result = problem;
  result.processors = problem.processors / size;
  result.time = slowest_shared(problem.time, size);
  result.alone = slowest_shared(problem.alone, size);
  for (auto& variants : result.variants) variants = first_of_groups(variants, size);
  const double share = 1 / static_cast<double>(size);
  result.read_ns *= share;
  result.write_ns *= share;
  if (!problem.names.empty()) result.names = first_of_groups(problem.names, size);
  result.borders = first_of_groups(problem.borders, size);
  for (Problem::Borders& borders : result.borders) {
    borders.read_ns *= share;
    borders.write_ns *= share;
    borders.border_ns *= share;
    borders.launch_ns *= share;
    if (borders.fed_by) borders.fed_by = *borders.fed_by / size;
  }
  return result;
}

plan::Mapping to_first_of_groups(plan::Mapping mapping, std::size_t size) {
  for (ProcessorId& processor : mapping.processors) processor.index *= size;
  return mapping;
}

std::map<ProcessorId, std::vector<ProcessorId>> turns_in_groups(std::size_t processors,
                                                                std::size_t size) {
  std::map<ProcessorId, std::vector<ProcessorId>> result;
  for (std::size_t first = 0; first < processors; first += size)
    for (std::size_t other = first + 1; other < first + size; ++other)
      result[ProcessorId(first)].emplace_back(other);
  return result;
}

}  // namespace millrace::explore
