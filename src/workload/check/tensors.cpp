// Whether all workloads mean the same by a tensor.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "workload/check/data_flow.h"

namespace millrace::workload {
namespace {

/// What a workload says of a tensor, or of what lies in a fast memory.
struct Meaning {
  std::string workload;
  std::int64_t bytes = 0;  // 0: nothing was said
  std::int32_t element = 0;
  std::optional<TileSteps> steps = {};
};

std::string steps_text(const TileSteps& steps) {
  return fmt::format("{}, zero {}, scale {}", steps.is_signed ? "int8" : "uint8", steps.zero,
                     steps.scale);
}

/// The buffers of one workload. What a transfer moves is the same on both sides.
class WorkloadMeanings {
 public:
  explicit WorkloadMeanings(const Workload& workload)
      : workload_(workload), same_as_(workload.buffers.size()) {
    for (std::size_t i = 0; i < same_as_.size(); ++i) same_as_[i] = i;
    for (const Link& link : workload.links)
      if (link.kind == LinkKind::transfer) join(link.sources[0].buffer, link.sink.buffer);
    meanings_.resize(workload.buffers.size());
  }

  /// The first violation, or nothing.
  std::string note() {
    std::string found;
    for (const Link& link : workload_.links)
      if (link.scaling && found.empty()) found = note(link);
    return found;
  }

  /// Meaning of a buffer's tensor.
  Meaning of(std::size_t buffer) const {
    Meaning meaning;
    meaning.workload = workload_.name;
    meaning.bytes = workload_.buffers[buffer].size();
    meaning.element = element_of(static_cast<std::int32_t>(buffer));
    meaning.steps = meanings_[root(buffer)];
    return meaning;
  }

 private:
  std::size_t root(std::size_t buffer) const {
    while (same_as_[buffer] != buffer) buffer = same_as_[buffer];
    return buffer;
  }
  void join(std::int32_t a, std::int32_t b) {
    same_as_[root(static_cast<std::size_t>(a))] = root(static_cast<std::size_t>(b));
  }

  /// Tensors of several layers pass through such a place one after the other.
  bool is_shared(std::size_t buffer) const {
    if (workload_.buffers[buffer].memory == 0) return false;
    const auto writes = [&](const Link& link) {
      return link.sink.buffer == static_cast<std::int32_t>(buffer);
    };
    return std::ranges::count_if(workload_.links, writes) > 1;
  }

  /// 0: no link touches it.
  std::int32_t element_of(std::int32_t buffer) const {
    for (const Link& link : workload_.links) {
      if (link.sink.buffer == buffer) return link.sink.element;
      for (const Joint& source : link.sources)
        if (source.buffer == buffer) return source.element;
    }
    return 0;
  }

  std::string note(const Link& link) {
    const TileScaling& scaling = *link.scaling;
    const bool pools = link.operation == TileOperation::max_pool;
    std::string found;
    if (link.operation != TileOperation::requantize)
      found = note(link, link.sources[0], scaling.input, pools);
    if (found.empty() && multiplies(link.operation))
      found = note(link, link.sources[1], scaling.weights, scaling.by_channel);
    if (found.empty() && !pools && link.sink.element == 1)
      found = note(link, link.sink, scaling.output, false);
    return found;
  }

  /// `any_scale`: the link does not need to know it.
  std::string note(const Link& link, const Joint& joint, TileSteps steps, bool any_scale) {
    const auto buffer = static_cast<std::size_t>(joint.buffer);
    if (any_scale || is_shared(buffer)) return {};
    std::optional<TileSteps>& known = meanings_[root(buffer)];
    if (!known) known = steps;
    if (*known == steps) return {};
    return fmt::format("link '{}' takes the buffer '{}' for {}, another link for {}", link.name,
                       workload_.buffers[buffer].name, steps_text(steps), steps_text(*known));
  }

  const Workload& workload_;
  std::vector<std::size_t> same_as_;
  std::vector<std::optional<TileSteps>> meanings_;  // by root
};

/// Empty: both mean the same.
std::string difference_of(const Meaning& known, const Meaning& now) {
  // A network of float32 that is simulated in 8 bits has elements of one byte in tiles only.
  const std::int64_t before = known.bytes / std::max(1, known.element);
  const std::int64_t after = now.bytes / std::max(1, now.element);
  if (known.element != 0 && now.element != 0 && before != after)
    return fmt::format("has {} elements, in workload '{}' {}", after, known.workload, before);
  if (known.steps && now.steps && *known.steps != *now.steps)
    return fmt::format("is {}, in workload '{}' {}", steps_text(*now.steps), known.workload,
                       steps_text(*known.steps));
  return {};
}

}  // namespace

std::vector<std::string> tensor_violations(const Program& program) {
  std::vector<std::string> found;
  std::map<std::size_t, Meaning> tensors;
  const auto fail = [&](const Workload& workload, const std::string& text) {
    found.push_back(fmt::format("workload '{}': {}", workload.name, text));
  };
  for (const Workload& workload : program.workloads) {
    WorkloadMeanings meanings(workload);
    if (const std::string text = meanings.note(); !text.empty()) fail(workload, text);
    for (std::size_t i = 0; i < workload.buffers.size(); ++i) {
      const Region& buffer = workload.buffers[i];
      if (buffer.memory != 0 || !buffer.tensor) continue;
      const Meaning now = meanings.of(i);
      auto [known, is_new] = tensors.try_emplace(*buffer.tensor, now);
      const std::string text = is_new ? std::string() : difference_of(known->second, now);
      if (!text.empty())
        fail(workload, fmt::format("the tensor of the buffer '{}' {}", buffer.name, text));
      if (known->second.element == 0) known->second.element = now.element;
      if (!known->second.steps) known->second.steps = now.steps;
    }
  }
  return found;
}

}  // namespace millrace::workload
