// A plan for the network of models/.
#include "plan/plan_file.h"

#include "fuzz.h"
#include "network/read.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  static const network::Network network =
      network::read_network(MILLRACE_SOURCE_DIR "/models/digits.onnx");
  const fuzz::MemoryFile file(fuzz::text_of(data, size));
  fuzz::attempt([&] { plan::read_plan_origin(file.path()); });
  return fuzz::attempt([&] { plan::read_plan(file.path(), network); });
}
