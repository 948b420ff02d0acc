#include "workload/link_run.h"

#include <algorithm>
#include <cmath>

namespace millrace::workload {
namespace {

double elements_of_tile(const Tile& tile) {
  double elements = 1;
  for (const std::int64_t count : tile.counts) elements *= static_cast<double>(count);
  return elements;
}

/// Over all ways between two memories; within one, as fast as it is filled.
double bytes_per_cycle(const LinkProgress& at, const CycleCosts& costs) {
  if (costs.ways.empty()) return costs.bytes_per_cycle;
  const std::size_t last = costs.ways.size();
  const std::size_t to = std::min(std::max<std::size_t>(at.nearest, 1), last);
  const std::size_t from = std::min(at.farthest, to - 1);
  return *std::min_element(costs.ways.begin() + static_cast<std::ptrdiff_t>(from),
                           costs.ways.begin() + static_cast<std::ptrdiff_t>(to));
}

/// Multiply-accumulates, or elements of windows, in this run.
double work_of(const LinkProgress& at) {
  const Link& link = *at.link;
  const double outputs = elements_of_tile(tile_of(link.sink, at.sink));
  if (link.operation == TileOperation::whole)
    return link.macs > 0 ? static_cast<double>(link.macs) : outputs;
  if (!slides(link.operation)) return outputs;
  const double kernel = static_cast<double>(link.window.kernel[0] * link.window.kernel[1]);
  if (link.operation != TileOperation::convolution) return outputs * kernel;
  return outputs * kernel * static_cast<double>(tile_of(link.sources[0], at.sources[0]).counts[0]);
}

}  // namespace

std::vector<LinkProgress> links_at_start(const Workload& workload) {
  std::vector<LinkProgress> links;
  const auto memory_of = [&](const Joint& joint) {
    return static_cast<std::size_t>(
        workload.buffers[static_cast<std::size_t>(joint.buffer)].memory);
  };
  for (const Link& link : workload.links) {
    LinkProgress at{&link, 0, 0, std::vector<JointState>(link.sources.size()), {}};
    at.nearest = at.farthest = memory_of(link.sink);
    for (const Joint& source : link.sources) {
      at.nearest = std::max(at.nearest, memory_of(source));
      at.farthest = std::min(at.farthest, memory_of(source));
    }
    links.push_back(std::move(at));
  }
  return links;
}

bool is_active(const Link& link, std::int64_t step) {
  const std::int64_t since = step - link.delay;
  return since >= 0 && since % link.period == 0 && since / link.period < runs_of(link);
}

std::int64_t bytes_of(const LinkProgress& at) {
  return static_cast<std::int64_t>(elements_of_tile(tile_of(at.link->sink, at.sink))) *
         at.link->sink.element;
}

std::int64_t cycles_of(const LinkProgress& at, const CycleCosts& costs) {
  const Link& link = *at.link;
  double work = 0;
  if (link.kind == LinkKind::transfer)
    work = elements_of_tile(tile_of(link.sink, at.sink)) * link.sink.element /
           bytes_per_cycle(at, costs);
  else
    work = work_of(at) / (link.macs > 0 ? costs.macs_per_cycle : costs.values_per_cycle);
  return costs.setup + static_cast<std::int64_t>(std::ceil(work));
}

void move_on(LinkProgress& at) {
  for (std::size_t i = 0; i < at.sources.size(); ++i) update(at.link->sources[i], at.sources[i]);
  update(at.link->sink, at.sink);
}

}  // namespace millrace::workload
