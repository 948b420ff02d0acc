#include "workload/link_run.h"

#include <cmath>

namespace millrace::workload {
namespace {

double elements_of_tile(const Tile& tile) {
  double elements = 1;
  for (const std::int64_t count : tile.counts) elements *= static_cast<double>(count);
  return elements;
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
  for (const Link& link : workload.links)
    links.push_back({&link, std::vector<JointState>(link.sources.size()), {}});
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
    work =
        elements_of_tile(tile_of(link.sink, at.sink)) * link.sink.element / costs.bytes_per_cycle;
  else
    work = work_of(at) / (link.macs > 0 ? costs.macs_per_cycle : costs.values_per_cycle);
  return costs.setup + static_cast<std::int64_t>(std::ceil(work));
}

void move_on(LinkProgress& at) {
  for (std::size_t i = 0; i < at.sources.size(); ++i) update(at.link->sources[i], at.sources[i]);
  update(at.link->sink, at.sink);
}

}  // namespace millrace::workload
