#include "workload/check/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "workload/check/data_flow.h"
#include "workload/check/effort.h"

namespace millrace::workload {
namespace {

void check_memories(const Program& program, const Workload& workload,
                    std::vector<std::string>& found) {
  for (const Region& buffer : workload.buffers) {
    const auto memory = static_cast<std::size_t>(buffer.memory);
    const std::int64_t size = program.memories[memory].size.count;
    const std::int64_t end = buffer.offset + buffer.size();
    if (size > 0 && end > size)
      found.push_back(fmt::format("buffer '{}' ends at byte {} of the memory '{}', which has {}",
                                  buffer.name, end, program.memories[memory].name, size));
  }
}

bool overlap(const Region& a, const Region& b) {
  return a.memory == b.memory && a.memory != 0 && a.offset < b.offset + b.size() &&
         b.offset < a.offset + a.size();
}

void check_overlaps(const Workload& workload, std::vector<std::string>& found) {
  const auto& buffers = workload.buffers;
  for (std::size_t i = 0; i < buffers.size(); ++i)
    for (std::size_t j = i + 1; j < buffers.size(); ++j)
      if (overlap(buffers[i], buffers[j]))
        found.push_back(fmt::format("the buffers '{}' and '{}' lie on the same bytes",
                                    buffers[i].name, buffers[j].name));
}

/// Whether its tiles begin between two elements.
bool splits_elements(const Joint& joint) {
  std::vector<std::int64_t> distances{joint.start, joint.ring.stride};
  for (std::size_t i = 0; i < joint.walk_size; ++i) {
    distances.push_back(joint.walk[i].first);
    distances.push_back(joint.walk[i].next);
  }
  for (std::size_t i = 0; i < joint.side_count; ++i) distances.push_back(joint.sides[i].stride);
  return std::ranges::any_of(distances,
                             [&](std::int64_t bytes) { return bytes % joint.element != 0; });
}

void check_joints(const Link& link, std::vector<std::string>& found) {
  const auto check = [&](const Joint& joint, const std::string& name) {
    if (splits_elements(joint))
      found.push_back(fmt::format(
          "link '{}': a distance of its {} is no multiple of {} bytes, the size of an element",
          link.name, name, joint.element));
  };
  for (std::size_t i = 0; i < link.sources.size(); ++i)
    check(link.sources[i], fmt::format("source {}", i));
  check(link.sink, "sink");
}

void check_link(const Link& link, std::vector<std::string>& found) {
  if (link.unit.empty())
    found.push_back(fmt::format("link '{}' is on no unit, expected a name such as dma", link.name));
  if (link.kind == LinkKind::transfer && link.sources.size() != 1)
    found.push_back(fmt::format("link '{}' is a transfer of {} sources, expected 1", link.name,
                                link.sources.size()));
  if (link.kind == LinkKind::transfer && !link.sources.empty() &&
      link.sources[0].element != link.sink.element)
    found.push_back(fmt::format("link '{}' reads elements of {} bytes and writes elements of {}",
                                link.name, link.sources[0].element, link.sink.element));
  for (std::size_t i = 0; i < link.sources.size(); ++i)
    if (runs_of(link.sources[i]) != runs_of(link.sink))
      found.push_back(fmt::format("link '{}': source {} is there for {} runs, the sink for {}",
                                  link.name, i, runs_of(link.sources[i]), runs_of(link.sink)));
}

/// What lies in a buffer has one size.
void check_elements(const Workload& workload, std::vector<std::string>& found) {
  std::vector<std::int32_t> elements(workload.buffers.size());
  const auto note = [&](const Link& link, const Joint& joint) {
    const auto buffer = static_cast<std::size_t>(joint.buffer);
    std::int32_t& element = elements[buffer];
    if (element == 0) element = joint.element;
    if (element != joint.element)
      found.push_back(
          fmt::format("link '{}' takes the elements of the buffer '{}' for {} bytes "
                      "long, another link for {}",
                      link.name, workload.buffers[buffer].name, joint.element, element));
  };
  for (const Link& link : workload.links) {
    for (const Joint& source : link.sources) note(link, source);
    note(link, link.sink);
  }
}

/// A way along links from a tensor in the first memory back to it. Places of a fast memory are used
/// again and again; that nothing is read there before it is written, the steps show.
class Cycles {
 public:
  explicit Cycles(const Workload& workload) : workload_(workload) {}

  std::string find() {
    for (std::size_t i = 0; i < workload_.buffers.size(); ++i) {
      if (workload_.buffers[i].memory != 0) continue;
      seen_.assign(workload_.buffers.size(), false);
      goal_ = static_cast<std::int32_t>(i);
      if (leads_back(goal_)) return way_;
    }
    return {};
  }

 private:
  bool leads_back(std::int32_t buffer) {
    seen_[static_cast<std::size_t>(buffer)] = true;
    for (const Link& link : workload_.links) {
      const bool leaves = std::ranges::any_of(
          link.sources, [&](const Joint& source) { return source.buffer == buffer; });
      if (!leaves) continue;
      const bool is_new = !seen_[static_cast<std::size_t>(link.sink.buffer)];
      if (link.sink.buffer == goal_ || (is_new && leads_back(link.sink.buffer))) {
        if (way_.empty()) way_ = link.name;
        return true;
      }
    }
    return false;
  }

  const Workload& workload_;
  std::int32_t goal_ = 0;
  std::vector<bool> seen_;
  std::string way_;  // the link that closes it
};

void check_sinks(const Workload& workload, std::vector<std::string>& found) {
  const bool ends = std::ranges::any_of(workload.links, [&](const Link& link) {
    return workload.buffers[static_cast<std::size_t>(link.sink.buffer)].memory == 0;
  });
  if (!ends) found.emplace_back("no link writes to the first memory, so that it has no output");
}

void check_effort(const Workload& workload, std::vector<std::string>& found) {
  const Effort effort = effort_of(workload);
  if (effort.touched > most_touched)
    found.push_back(fmt::format("its runs touch {:.0f} bytes in all; at most {:.0f} are checked",
                                effort.touched, most_touched));
  if (effort.marked > most_marked)
    found.push_back(fmt::format("its buffers need {:.0f} marks in all; at most {:.0f} are made",
                                effort.marked, most_marked));
}

std::string prefixed(const Workload& workload, const std::string& text) {
  return fmt::format("workload '{}': {}", workload.name, text);
}

}  // namespace

std::vector<std::string> static_violations(const Program& program, const Workload& workload) {
  std::vector<std::string> found;
  check_memories(program, workload, found);
  check_overlaps(workload, found);
  for (const Link& link : workload.links) {
    check_link(link, found);
    check_joints(link, found);
  }
  check_elements(workload, found);
  if (const std::string link = Cycles(workload).find(); !link.empty())
    found.push_back(fmt::format("the links form a cycle, which link '{}' closes", link));
  check_sinks(workload, found);
  return found;
}

std::vector<std::string> violations(const Program& program) {
  if (program.workloads.empty() && !(program.ends && program.ends->outputs.empty()))
    return {"it has no workload, so nothing is written; make the program again"};
  std::vector<std::string> all;
  for (const Workload& workload : program.workloads) {
    std::vector<std::string> found = static_violations(program, workload);
    if (found.empty()) check_effort(workload, found);
    if (found.empty()) found = play_violations(workload);
    for (const std::string& text : found) all.push_back(prefixed(workload, text));
  }
  if (all.empty()) all = data_flow_violations(program, nullptr);
  return all;
}

}  // namespace millrace::workload
