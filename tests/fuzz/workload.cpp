// A program of tiles, and what is wrong with it before it runs.
#include "base/json.h"
#include "fuzz.h"
#include "workload/check.h"
#include "workload/program_file.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  return fuzz::attempt([&] {
    const fuzz::MemoryFile file(fuzz::text_of(data, size));
    const workload::Program program = workload::read_program(file.path());
    for (const workload::Workload& one : program.workloads)
      workload::static_violations(program, one);
    workload::to_json(program);
  });
}
