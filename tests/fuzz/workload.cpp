// A program of tiles, and what is wrong with it before it runs.
#include "base/json.h"
#include "fuzz.h"
#include "workload/check.h"
#include "workload/effort.h"
#include "workload/program_file.h"
#include "workload/simulate.h"

namespace {

using namespace millrace;

/// Its steps only if they are few: thousands of inputs a second find more than one long one.
void attempt_steps(const workload::Program& program, const workload::Workload& one) {
  constexpr double few_turns = 1e4, few_bytes = 1e7;
  const workload::Effort effort = workload::effort_of(one);
  const bool fits = effort.turns <= few_turns && effort.touched + effort.marked <= few_bytes;
  if (!workload::static_violations(program, one).empty() || !fits) return;
  workload::play_violations(one);
  workload::simulate(one, {});
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::attempt([&] {
    const fuzz::MemoryFile file(fuzz::text_of(data, size));
    const workload::Program program = workload::read_program(file.path());
    for (const workload::Workload& one : program.workloads) attempt_steps(program, one);
    workload::to_json(program);
  });
}
