#include "broken_program.h"

#include <algorithm>

#include "base/error.h"
#include "workload/check/effort.h"
#include "workload/program_file.h"

namespace millrace::workload {
namespace {

void break_order(Program& program, Random& random) {
  auto& all = program.workloads;
  const std::size_t place = random.below(all.size()), to = random.below(all.size());
  switch (random.below(4)) {
    case 0:
      return std::reverse(all.begin(), all.end());
    case 1:
      return std::swap(all[place], all[to]);
    case 2:
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(place));
      return;
    default:
      const Workload copy = all[place];
      all.insert(all.begin() + static_cast<std::ptrdiff_t>(to), copy);
  }
}

std::int64_t changed(std::int64_t value, std::int64_t by, std::int64_t least) {
  return std::max(least, value + by);
}

void break_joint(Joint& joint, Random& random) {
  const std::int64_t one = random.below(2) == 0 ? 1 : -1;
  const std::int64_t by = joint.element * one;
  Side& side = joint.sides[random.below(std::max(1u, joint.side_count))];
  switch (random.below(9)) {
    case 0:
      joint.start = changed(joint.start, by, 0);
      break;
    case 1:
      side.stride = changed(side.stride, by, 0);
      break;
    case 2:
      side.pipe_up = changed(side.pipe_up, one, 1);
      break;
    case 3:
      joint.walk[0].first += by;
      break;
    case 4:
      joint.period = changed(joint.period, one, 1);
      break;
    case 5:
      joint.ring.count = joint.ring.count == 1 ? 2 : 1;
      break;
    case 6:
      joint.ring.every = changed(joint.ring.every, one, 1);
      break;
    case 7:
      joint.walk[random.below(std::max(1u, joint.walk_size))].next -= by;
      break;
    default:
      joint.ring.stride = changed(joint.ring.stride, by, 0);
  }
}

void break_steps(TileSteps& steps, Random& random) {
  switch (random.below(3)) {
    case 0:
      steps.zero = steps.zero == 3 ? 4 : 3;
      break;
    case 1:
      steps.scale *= 1.5f;
      break;
    default:
      steps.is_signed = !steps.is_signed;
  }
}

/// False: it has none.
bool break_scaling(Link& link, Random& random) {
  if (!link.scaling) return false;
  switch (random.below(4)) {
    case 0:
      link.scaling->by_channel = !link.scaling->by_channel;
      break;
    case 1:
      break_steps(link.scaling->input, random);
      break;
    case 2:
      break_steps(link.scaling->weights, random);
      break;
    default:
      break_steps(link.scaling->output, random);
  }
  return true;
}

void break_buffer(Region& buffer, std::size_t memories, Random& random) {
  switch (random.below(3)) {
    case 0:
      if (buffer.tensor) *buffer.tensor ^= 1 + random.below(3);
      break;
    case 1:
      buffer.offset = changed(buffer.offset, -64, 0);
      break;
    default:
      buffer.memory = static_cast<std::int32_t>(random.below(memories));
  }
}

void break_link(Workload& one, Random& random) {
  Link& link = one.links[random.below(one.links.size())];
  switch (random.below(7)) {
    case 0:
      if (one.links.size() > 1) one.links.erase(one.links.begin() + (&link - one.links.data()));
      break;
    case 1:
      std::swap(link, one.links[random.below(one.links.size())]);
      break;
    case 2:
      link.delay = changed(link.delay, random.below(2) == 0 ? 1 : -1, 0);
      break;
    case 3:
      if (break_scaling(link, random)) break;
      [[fallthrough]];
    case 4:
    case 5:
      if (!link.sources.empty())
        return break_joint(link.sources[random.below(link.sources.size())], random);
      break;
    default:
      break_joint(link.sink, random);
  }
}

}  // namespace

void break_at_random(Program& program, Random& random) {
  Workload& one = program.workloads[random.below(program.workloads.size())];
  switch (random.below(6)) {
    case 0:
      return break_order(program, random);
    case 1:
      return break_buffer(one.buffers[random.below(one.buffers.size())], program.memories.size(),
                          random);
    case 2: {
      TileMemory& memory = program.memories[1 + random.below(program.memories.size() - 1)];
      memory.size = Bytes{memory.size.count / 4};
      return;
    }
    default:
      break_link(one, random);
  }
}

std::optional<Program> reread(const Program& program) {
  try {
    const nlohmann::json document = nlohmann::json::parse(to_json(program).dump());
    Program result = program_of(JsonView(document, "broken"));
    for (const Workload& one : result.workloads) {
      const Effort effort = effort_of(one);
      if (effort.touched + effort.marked > 1e7) return std::nullopt;
    }
    return result;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}  // namespace millrace::workload
