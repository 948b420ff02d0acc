#include "network/frame.h"

#include <fmt/format.h>

#include <string>

#include "base/error.h"

namespace millrace::network {
namespace {

std::string text_of(DataType type, const Shape& shape) {
  return fmt::format("{} {}", to_text(type), to_text(shape));
}

}  // namespace

void check_frame(const Network& network, std::span<const Array> inputs) {
  if (inputs.size() != network.inputs.size())
    throw InputError("frame", fmt::format("has {} arrays, expected {}, one for each input of '{}'",
                                          inputs.size(), network.inputs.size(), network.name));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& tensor = network[network.inputs[i]];
    const Array& array = inputs[i];
    const std::string place = fmt::format("input '{}'", tensor.name);
    if (array.type != tensor.type || array.shape != tensor.shape)
      throw InputError(place, fmt::format("found {}, expected {}", text_of(array.type, array.shape),
                                          text_of(tensor.type, tensor.shape)));
    if (!array.memory || array.memory->size() != tensor.size())
      throw InputError(place, fmt::format("has no memory of {}", to_text(tensor.size())));
  }
}

}  // namespace millrace::network
