#include "workload/facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "workload/program_file.h"
#include "workload/words.h"

namespace millrace::workload {
namespace {

using Json = nlohmann::ordered_json;

std::int64_t bytes_moved(const Link& link) {
  JointState state;
  std::int64_t bytes = 0;
  for (std::int64_t run = 0; run < runs_of(link); ++run, update(link.sink, state)) {
    const Tile tile = tile_of(link.sink, state);
    std::int64_t elements = link.sink.element;
    for (const std::int64_t count : tile.counts) elements *= count;
    bytes += elements;
  }
  return bytes;
}

bool touches_first_memory(const Workload& workload, const Link& link) {
  const auto is_first = [&](const Joint& joint) {
    return workload.buffers[static_cast<std::size_t>(joint.buffer)].memory == 0;
  };
  return is_first(link.sink) || std::ranges::any_of(link.sources, is_first);
}

/// Whether a layer writes to where another one reads.
bool is_read_by_others(const Workload& workload, const Link& writer) {
  return std::ranges::any_of(workload.links, [&](const Link& link) {
    return link.kind == LinkKind::processing && link.operation != TileOperation::requantize &&
           &link != &writer &&
           std::ranges::find(link.sources, writer.sink.buffer, &Joint::buffer) !=
               link.sources.end();
  });
}

std::string tile_text(const Joint& joint) {
  const Tile tile = tile_of(joint, {});
  std::string text;
  for (std::size_t i = 0; i < joint.side_count; ++i)
    text += fmt::format("{}{}", i == 0 ? "" : "x", tile.counts[i]);
  return text;
}

/// Where a value of a file is, in words: "links[2].delay".
void compare(const Json& a, const Json& b, const std::string& place,
             std::vector<std::string>& found) {
  if (a == b) return;
  if (a.is_object() && b.is_object()) {
    for (const auto& [key, value] : a.items())
      compare(value, b.contains(key) ? b.at(key) : Json(), place + "." + key, found);
    for (const auto& [key, value] : b.items())
      if (!a.contains(key)) compare(Json(), value, place + "." + key, found);
    return;
  }
  if (a.is_array() && b.is_array() && a.size() == b.size()) {
    for (std::size_t i = 0; i < a.size(); ++i)
      compare(a[i], b[i], fmt::format("{}[{}]", place, i), found);
    return;
  }
  found.push_back(fmt::format("{}: {} and {}", place, a.dump(), b.dump()));
}

}  // namespace

std::int64_t needed_of(const Workload& workload, std::size_t memory) {
  std::int64_t needed = 0;
  for (const Region& buffer : workload.buffers)
    if (buffer.memory == static_cast<std::int32_t>(memory))
      needed = std::max(needed, buffer.offset + buffer.size());
  return needed;
}

WorkloadFacts facts_of(const Workload& workload, std::size_t memories) {
  WorkloadFacts facts;
  facts.steps = steps_of(workload);
  facts.operation = "copy";
  if (memories > 1) facts.scratch = needed_of(workload, memories - 1);
  for (std::size_t i = 1; i + 1 < memories; ++i) facts.between += needed_of(workload, i);
  std::size_t layers = 0;
  for (const Link& link : workload.links) {
    if (link.kind == LinkKind::transfer && touches_first_memory(workload, link))
      facts.traffic += bytes_moved(link);
    if (link.kind != LinkKind::processing || link.operation == TileOperation::requantize) continue;
    ++layers;
    if (is_read_by_others(workload, link)) facts.kept += 2 * bytes_moved(link);
    facts.operation = operation_words[static_cast<std::size_t>(link.operation)];
    facts.macs += link.macs;
    facts.tile = tile_text(link.sink);
  }
  if (layers > 1) facts.operation = fmt::format("{} layers", layers);
  return facts;
}

std::vector<std::string> differences(const Program& a, const Program& b, std::size_t most) {
  std::vector<std::string> found;
  const Json left = to_json(a), right = to_json(b);
  compare(left.at("network"), right.at("network"), "network", found);
  compare(left.at("memories"), right.at("memories"), "memories", found);
  for (std::size_t i = 0; i < a.workloads.size(); ++i) {
    const std::string& name = a.workloads[i].name;
    const auto same = std::ranges::find(b.workloads, name, &Workload::name);
    if (same == b.workloads.end()) {
      found.push_back(fmt::format("{}: only in the first program", name));
      continue;
    }
    const auto index = static_cast<std::size_t>(same - b.workloads.begin());
    compare(left.at("workloads")[i], right.at("workloads")[index], name, found);
  }
  for (const Workload& workload : b.workloads)
    if (std::ranges::find(a.workloads, workload.name, &Workload::name) == a.workloads.end())
      found.push_back(fmt::format("{}: only in the second program", workload.name));
  if (found.size() > most) found.resize(most);
  return found;
}

}  // namespace millrace::workload
