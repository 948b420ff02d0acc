#pragma once
// Inside the room: what geometries of layers are made of.
#include "workload/geometry.h"

namespace millrace::workload {

struct LayerAt {
  const network::Network& network;
  const network::Layer& layer;

  const network::Tensor& input(std::size_t i) const { return network[layer.inputs[i]]; }
  bool has(std::size_t i) const { return i < layer.inputs.size() && layer.inputs[i].valid(); }
  const network::Tensor& output() const { return network[layer.outputs.front()]; }
};

/// One number for each channel.
Operand channel_operand(std::string name, TensorId tensor, Loop channel);

bool has_images(const LayerAt& layer);
bool has_negative_pads(const network::Window& window);

/// Geometry from factors and a bias that are the layer's first inputs.
LayerGeometry convolution_geometry(const LayerAt& layer, const network::Conv& conv);
LayerGeometry pool_geometry(const LayerAt& layer, const network::Pool& pool);
/// Rows by a matrix: a convolution of one pixel, whose images are columns of rows.
LayerGeometry product_geometry(const LayerAt& layer, bool transposed);
/// Nothing if an input spreads over the output in a way that tiles do not follow.
std::optional<LayerGeometry> elementwise_geometry(const LayerAt& layer);
LayerGeometry whole_geometry(std::string remark);

/// Between 8-bit integers, or from float32 to them and back. Nothing if the layer is another one.
std::optional<LayerGeometry> byte_geometry(const LayerAt& layer);

}  // namespace millrace::workload
