#include "application/batching.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace millrace::application {

std::int64_t batch_of(const Application& application, const network::Network& network) {
  const bool of_pictures =
      application.preprocess.kind == "image" && application.input.kind != InputKind::arrays;
  if (!of_pictures || network.inputs.size() != 1) return 1;
  const network::Shape& shape = network[network.inputs.front()].shape;
  return shape.size() == 4 ? std::max<std::int64_t>(shape[0], 1) : 1;
}

network::Network for_one_picture(const network::Network& network, std::int64_t batch) {
  network::Network one = network;
  for (const TensorId id : one.inputs) one.tensors[id.index].shape[0] = 1;
  for (const TensorId id : one.outputs) {
    network::Tensor& output = one.tensors[id.index];
    const bool divides = !output.shape.empty() && output.shape[0] % batch == 0;
    if (!divides)
      throw InputError(network.name,
                       fmt::format("takes {} pictures at once, but its output '{}' of {} does not "
                                   "divide among them; export it with a batch of 1",
                                   batch, output.name, network::to_text(output.shape)));
    output.shape[0] /= batch;
  }
  return one;
}

std::vector<network::Array> joined(std::span<const std::vector<network::Array>> pictures,
                                   std::int64_t batch) {
  std::vector<network::Array> result;
  for (std::size_t input = 0; input < pictures.front().size(); ++input) {
    const network::Array& first = pictures.front()[input];
    const std::size_t bytes = first.bytes().size();
    network::Shape shape = first.shape;
    shape[0] *= batch;
    auto memory = network::Buffer::uninitialized(Bytes{static_cast<std::int64_t>(bytes) * batch});
    for (std::size_t i = 0; i < static_cast<std::size_t>(batch); ++i) {
      const network::Array& each = pictures[std::min(i, pictures.size() - 1)][input];
      std::memcpy(memory.data() + i * bytes, each.bytes().data(), bytes);
    }
    result.push_back(network::make_array(first.type, std::move(shape), std::move(memory)));
  }
  return result;
}

std::vector<network::Array> part_of(std::span<const network::Array> outputs, std::int64_t picture,
                                    std::int64_t batch) {
  std::vector<network::Array> parts;
  for (const network::Array& output : outputs) {
    const std::size_t size = output.bytes().size() / static_cast<std::size_t>(batch);
    network::Shape shape = output.shape;
    shape[0] /= batch;
    parts.push_back(network::make_array(
        output.type, std::move(shape),
        output.bytes().subspan(static_cast<std::size_t>(picture) * size, size)));
  }
  return parts;
}

}  // namespace millrace::application
