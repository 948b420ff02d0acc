// A trace, and the times that it has of a plan.
#include "base/trace.h"

#include "formats/read.h"
#include "fuzz.h"
#include "plan/build.h"
#include "simulate/recorded.h"

namespace {

using namespace millrace;

/// The network of models/ on two cores, as in a trace among the seeds.
plan::Plan plan_of_two_stages() {
  const network::Network network =
      formats::read_network(MILLRACE_SOURCE_DIR "/models/digits.onnx");
  board::Board board;
  for (const int core : {0, 1})
    board.processors.push_back({.name = "core" + std::to_string(core), .cores = {core}});
  plan::Mapping mapping;
  for (std::size_t i = 0; i < network.layers.size(); ++i)
    mapping.processors.push_back(ProcessorId(i < network.layers.size() / 2 ? 0 : 1));
  return plan::build(network, board, mapping);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const plan::Plan plan = plan_of_two_stages();
  const fuzz::MemoryFile file(fuzz::text_of(data, size));
  return fuzz::attempt([&] {
    const Trace trace = read_chrome_trace(file.path());
    simulate::mean_durations(simulate::recording_of(trace, plan), plan);
    simulate::result_of(trace, plan);
  });
}
