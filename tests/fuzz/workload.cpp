// A program of tiles, what is wrong with it before it runs, and a run if nothing is.
#include "base/json.h"
#include "formats/read.h"
#include "fuzz.h"
#include "workload/check/check.h"
#include "workload/check/effort.h"
#include "workload/executable.h"
#include "workload/facts.h"
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

/// The network of the seeds.
const network::Network& digits() {
  static const network::Network network =
      formats::read_network(MILLRACE_SOURCE_DIR "/models/digits.onnx");
  return network;
}

/// Precondition: nothing is wrong with it.
void run(const workload::Program& program) {
  const network::Network& network = digits();
  std::vector<network::Buffer> buffers;
  workload::TensorTable table;
  for (const network::Tensor& tensor : network.tensors) {
    const auto& constant = tensor.constant;
    buffers.emplace_back(constant ? Bytes{} : tensor.size());
    table.push_back(constant ? const_cast<std::byte*>(constant->memory->data())
                             : buffers.back().data());
  }
  const workload::FastMemories fast(program);
  for (const workload::Workload& one : program.workloads)
    workload::Executable(one, network, fast).run(table);
}

void attempt_run(const workload::Program& program) {
  constexpr double few_bytes = 1e7;
  for (const workload::Workload& one : program.workloads) {
    const workload::Effort effort = workload::effort_of(one);
    if (effort.turns > 1e4 || effort.touched + effort.marked > few_bytes) return;
  }
  const bool right =
      workload::violations(program, digits()).empty() && workload::violations(program).empty();
  if (!right) return;
  run(program);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::attempt([&] {
    const fuzz::MemoryFile file(fuzz::text_of(data, size));
    const workload::Program program = workload::read_program(file.path());
    for (const workload::Workload& one : program.workloads) attempt_steps(program, one);
    workload::to_json(program);
    attempt_run(program);
  });
}
