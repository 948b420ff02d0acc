// A deployment on a shipped board for the network of models/, and its task system in each setting.
#include "board/shipped.h"
#include "deployment/deployment_file.h"
#include "formats/read.h"
#include "fuzz.h"
#include "realtime/task_system.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  static const network::Network network =
      formats::read_network(MILLRACE_SOURCE_DIR "/models/digits.onnx");
  static const board::Board board = board::find_board("jetson-agx-xavier");
  const fuzz::MemoryFile file(fuzz::text_of(data, size));
  return fuzz::attempt([&] {
    const auto network_of = [&](const formats::ModelSource&) -> const network::Network& {
      return network;
    };
    deployment::read_deployment(file.path(), nullptr);
    const auto deployment = deployment::read_deployment(file.path(), network_of);
    deployment::check(deployment, board);
    for (const deployment::Setting& setting : deployment.settings)
      realtime::check(deployment::task_system(deployment, board,
                                              {setting.scenario, setting.level, setting.clocks}));
  });
}
