#include "fuzz.h"
#include "network/network.h"
#include "network/read.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  return fuzz::attempt([&] {
    const network::Network network =
        network::read_onnx(fuzz::text_of(data, size), "fuzz.onnx", "/nonexistent");
    network::validate(network);
    network::cost_of(network);
    network::hash_of(network);
  });
}
