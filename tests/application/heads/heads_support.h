#pragma once
// Networks of which only the outputs matter, and what `detect` and others make of them.
#include <string>
#include <utility>
#include <vector>

#include "application/postprocess.h"

namespace millrace::test {

/// Outputs of a frame by name.
using NamedArrays = std::vector<std::pair<std::string, network::Array>>;

inline network::Array array_of(const network::Shape& shape, const std::vector<float>& values) {
  return network::make_array(network::DataType::float32, shape, std::span<const float>(values));
}

/// With zeros but for rows that begin at a place: {place, values}.
inline network::Array sparse(const network::Shape& shape,
                             const std::vector<std::pair<std::size_t, std::vector<float>>>& rows) {
  std::vector<float> values(static_cast<std::size_t>(network::element_count(shape)));
  for (const auto& [place, row] : rows)
    std::copy(row.begin(), row.end(), values.begin() + static_cast<std::ptrdiff_t>(place));
  return array_of(shape, values);
}

/// Takes pictures of that size.
inline network::Network network_with(const application::Size& input, const NamedArrays& outputs) {
  network::Network network;
  network.name = "made";
  network.tensors.push_back(
      {"image", network::DataType::float32, {1, 3, input.height, input.width}, {}});
  network.inputs.push_back(TensorId(0));
  for (const auto& [name, array] : outputs) {
    network.outputs.push_back(TensorId(network.tensors.size()));
    network.tensors.push_back({name, array.type, array.shape, {}});
  }
  return network;
}

inline application::Application application_of(const std::string& kind,
                                               const std::string& head = {}) {
  application::Application application;
  application.postprocess.kind = kind;
  application.postprocess.place = "here";
  application.postprocess.detection.head = head;
  return application;
}

/// Findings of a frame without a picture: in pixels of the input.
inline application::Findings found(const application::Application& application,
                                   const application::Size& input, const NamedArrays& outputs,
                                   const std::map<std::string, std::string>& metadata = {}) {
  network::Network network = network_with(input, outputs);
  network.metadata = metadata;
  const auto processing = application::make_postprocessing(application, network, {});
  std::vector<network::Array> arrays;
  for (const auto& [name, array] : outputs) arrays.push_back(array);
  return processing->after({}, arrays);
}

}  // namespace millrace::test
