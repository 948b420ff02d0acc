// A model; and once more with known inputs, so that all its layers are computed while it is read.
#include "base/random.h"
#include "formats/read.h"
#include "fuzz.h"
#include "network/network.h"
#include "network/random_values.h"

namespace {

using namespace millrace;

network::Network read(std::string_view bytes, const formats::ModelSource& options) {
  network::Network network = formats::read_onnx(bytes, "fuzz.onnx", "/nonexistent", options);
  network::validate(network);
  network::hash_of(network);
  return network;
}

bool is_small(const network::Network& network) {
  double bytes = 0;
  for (const network::Tensor& tensor : network.tensors)
    bytes += static_cast<double>(tensor.size().count);
  return bytes < 1e6 && network::cost_of(network).operations < 1'000'000;
}

/// Any bits, with which numbers are huge, or none at all.
network::Array wild(const network::Tensor& tensor, Random& random) {
  network::Buffer memory(tensor.size());
  const bool any = tensor.type != network::DataType::boolean;
  for (std::byte& byte : memory.bytes()) byte = std::byte(random.below(any ? 256 : 2));
  return network::make_array(tensor.type, tensor.shape, std::move(memory));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = fuzz::text_of(data, size);
  return fuzz::attempt([&] {
    const network::Network network = read(bytes, {});
    if (!is_small(network)) return;
    formats::ModelSource known;
    Random random(size);
    const std::vector<network::Array> values = network::random_inputs(network, size);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const network::Tensor& input = network[network.inputs[i]];
      known.constants[input.name] = size % 2 == 0 ? values[i] : wild(input, random);
    }
    read(bytes, known);
  });
}
