// A plan for the network of models/, and what is certain of it.
#include "plan/plan_file.h"

#include "analysis/proof.h"
#include "analysis/rate.h"
#include "formats/read.h"
#include "fuzz.h"
#include "schedule/read_plan.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  static const network::Network network =
      formats::read_network(MILLRACE_SOURCE_DIR "/models/digits.onnx");
  const fuzz::MemoryFile file(fuzz::text_of(data, size));
  return fuzz::attempt([&] {
    plan::read_plan_origin(file.path());
    const auto [plan, origin, evidence] = schedule::read_plan(file.path(), network);
    const auto times = plan::predicted_times(plan, evidence);
    analysis::prove(plan, network, times);
    analysis::enough_in_flight(plan, network, times);
  });
}
