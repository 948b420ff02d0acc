#include "runtime/frame.h"

#include <fmt/format.h>

#include <string>

#include "base/error.h"

namespace millrace::runtime {
namespace {

std::string text_of(network::DataType type, const network::Shape& shape) {
  return fmt::format("{} {}", network::to_text(type), network::to_text(shape));
}

}  // namespace

void check_inputs(const network::Network& network, std::span<const network::Array> inputs) {
  if (inputs.size() != network.inputs.size())
    throw InputError("frame", fmt::format("has {} arrays, expected {}, one for each input of '{}'",
                                          inputs.size(), network.inputs.size(), network.name));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const network::Tensor& tensor = network[network.inputs[i]];
    const network::Array& array = inputs[i];
    const std::string place = fmt::format("input '{}'", tensor.name);
    if (array.type != tensor.type || array.shape != tensor.shape)
      throw InputError(place, fmt::format("found {}, expected {}", text_of(array.type, array.shape),
                                          text_of(tensor.type, tensor.shape)));
    if (!array.memory || array.memory->size() != tensor.size())
      throw InputError(place, fmt::format("has no memory of {}", to_text(tensor.size())));
  }
}

}  // namespace millrace::runtime
