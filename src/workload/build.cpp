#include "workload/build.h"

#include <algorithm>

#include "network/operator_kinds.h"

namespace millrace::workload {
namespace {

/// Writes a workload of tiles, operand by operand.
class TiledBuilder {
 public:
  TiledBuilder(const network::Network& network, const LayerGeometry& geometry, const Tiling& tiling)
      : network_(network), geometry_(geometry), tiling_(tiling) {}

  Workload build(LayerId layer) {
    workload_.name = network_[layer].name;
    workload_.layer = layer.index;
    workload_.overlapped = tiling_.overlapped;
    Link process = processing_link();
    for (const Operand& source : geometry_.sources) {
      const std::int32_t tensor = add_tensor(source), tile = add_place(source);
      process.sources.push_back(scratch_joint(source, tile, false));
      workload_.links.push_back(transfer(source, tensor, tile, true));
    }
    const std::int32_t tensor = add_tensor(geometry_.output), tile = add_place(geometry_.output);
    process.sink = scratch_joint(geometry_.output, tile, false);
    workload_.links.push_back(process);
    workload_.links.push_back(transfer(geometry_.output, tensor, tile, false));
    return std::move(workload_);
  }

 private:
  Link processing_link() const {
    Link link;
    link.name = "compute";
    link.kind = LinkKind::processing;
    link.unit = processing_unit;
    link.delay = tiling_.overlapped ? 1 : 0;
    link.operation = geometry_.operation;
    link.window = geometry_.window;
    link.activation = geometry_.activation;
    link.macs = geometry_.macs_per_position;
    for (const std::int64_t total : geometry_.totals) link.macs *= total;
    return link;
  }

  std::int32_t add_tensor(const Operand& operand) {
    const auto& buffers = workload_.buffers;
    const auto same = std::ranges::find_if(
        buffers, [&](const Region& buffer) { return buffer.tensor == operand.tensor.index; });
    if (same != buffers.end()) return static_cast<std::int32_t>(same - buffers.begin());
    Region region = tensor_region(network_, operand.tensor);
    region.name = operand.name;
    region.row_bytes = region.row_bytes / 4 * geometry_.element;
    workload_.buffers.push_back(region);
    return static_cast<std::int32_t>(workload_.buffers.size() - 1);
  }

  /// Its tiles in the scratchpad: a row for each of its places.
  std::int32_t add_place(const Operand& operand) {
    Region region;
    region.name = operand.name + "_tile";
    region.memory = 1;
    region.offset = scratch_;
    region.rows = places_of(geometry_, tiling_, operand);
    region.row_bytes = tile_bytes(geometry_, tiling_, operand);
    scratch_ += region.size();
    workload_.buffers.push_back(region);
    return static_cast<std::int32_t>(workload_.buffers.size() - 1);
  }

  /// The loops that the operand's tiles follow, and those between. By loop: its place in the walk.
  std::vector<Loop> walk_of(const Operand& operand) const {
    std::vector<Loop> walk;
    for (const Loop loop : order_of(tiling_))
      if (tiles_of(geometry_, tiling_, loop) > 1) walk.push_back(loop);
    while (!walk.empty() && !operand.follows(walk.back())) walk.pop_back();
    return walk;
  }

  /// The walk and the sides' counts, without strides.
  Joint frame_of(const Operand& operand, std::int32_t buffer) const {
    const std::vector<Loop> walk = walk_of(operand);
    Joint joint;
    joint.buffer = buffer;
    joint.element = static_cast<std::int32_t>(geometry_.element);
    for (const Loop loop : walk)
      joint.walk[joint.walk_size++].count = tiles_of(geometry_, tiling_, loop);
    for (const SideUnder& side : operand.sides) {
      const Extents extents = *extents_of(geometry_, tiling_, side);
      Side& to = joint.sides[joint.side_count++];
      to.pipe_up = extents.first * side.elements;
      to.pipeline = extents.middle * side.elements;
      to.pipe_down = extents.last * side.elements;
      const auto along = std::ranges::find(walk, side.loop);
      const bool same = to.pipe_up == to.pipeline && to.pipeline == to.pipe_down;
      const bool stays = along == walk.end() || (same && !side.slides);
      to.along = stays ? -1 : static_cast<std::int32_t>(along - walk.begin());
    }
    return joint;
  }

  Joint tensor_joint(const Operand& operand, std::int32_t buffer) const {
    Joint joint = frame_of(operand, buffer);
    const std::vector<Loop> walk = walk_of(operand);
    for (std::size_t i = 0; i < walk.size(); ++i) {
      const std::int64_t stride = operand.strides[at(walk[i])] * geometry_.element;
      const Extents steps = step_of(operand, walk[i]);
      joint.walk[i].first = steps.first_step * stride;
      joint.walk[i].next = steps.next_step * stride;
    }
    for (std::size_t i = 0; i < operand.sides.size(); ++i)
      joint.sides[i].stride = operand.sides[i].stride * geometry_.element;
    return joint;
  }

  Extents step_of(const Operand& operand, Loop loop) const {
    for (const SideUnder& side : operand.sides)
      if (side.loop == loop && side.slides) return *extents_of(geometry_, tiling_, side);
    const std::int64_t tile = tiling_.tile[at(loop)];
    return Extents{1, 1, 1, tile, tile};
  }

  /// Dense, for the largest tile. `moves`: it is another tile in each run.
  Joint scratch_joint(const Operand& operand, std::int32_t buffer, bool moves) const {
    Joint joint = frame_of(operand, buffer);
    if (!moves) joint.period = period_of(geometry_, tiling_, operand);
    std::int64_t stride = geometry_.element;
    for (std::size_t i = joint.side_count; i-- > 0;) {
      Side& side = joint.sides[i];
      side.stride = stride;
      stride *= std::max({side.pipe_up, side.pipeline, side.pipe_down});
    }
    const Region& region = workload_.buffers[static_cast<std::size_t>(buffer)];
    if (region.rows > 1) joint.ring = {region.rows, region.row_bytes};
    return joint;
  }

  Link transfer(const Operand& operand, std::int32_t tensor, std::int32_t tile, bool loads) const {
    Link link;
    link.name = (loads ? "load_" : "store_") + operand.name;
    link.period = period_of(geometry_, tiling_, operand);
    if (!loads) link.delay = link.period - 1 + (tiling_.overlapped ? 2 : 0);
    const Joint outside = tensor_joint(operand, tensor);
    const Joint inside = scratch_joint(operand, tile, true);
    link.sources = {loads ? outside : inside};
    link.sink = loads ? inside : outside;
    return link;
  }

  const network::Network& network_;
  const LayerGeometry& geometry_;
  const Tiling& tiling_;
  Workload workload_;
  std::int64_t scratch_ = 0;
};

std::int64_t product_of(const network::Shape& shape, std::size_t begin, std::size_t end) {
  std::int64_t product = 1;
  for (std::size_t i = begin; i < end; ++i) product *= shape[i];
  return product;
}

/// A tile of `rows` rows of elements side by side, `pitch` elements apart.
struct Strip {
  std::int64_t rows = 1, columns = 1, pitch = 0, start = 0;
};

Joint strip_joint(std::int32_t buffer, std::int64_t element, const Strip& strip) {
  Joint joint;
  joint.buffer = buffer;
  joint.element = static_cast<std::int32_t>(element);
  joint.start = strip.start * element;
  joint.side_count = 2;
  joint.sides[0] = {strip.rows, strip.rows, strip.rows, strip.pitch * element, -1};
  joint.sides[1] = {strip.columns, strip.columns, strip.columns, element, -1};
  return joint;
}

/// That of the tensor, which the workload gets if it has none.
std::int32_t buffer_for(Workload& workload, const network::Network& network, TensorId tensor) {
  auto& buffers = workload.buffers;
  const auto same = std::ranges::find(buffers, std::optional(tensor.index), &Region::tensor);
  if (same != buffers.end()) return static_cast<std::int32_t>(same - buffers.begin());
  buffers.push_back(tensor_region(network, tensor));
  return static_cast<std::int32_t>(buffers.size() - 1);
}

}  // namespace

Region tensor_region(const network::Network& network, TensorId tensor) {
  Region region;
  region.name = network[tensor].name;
  region.tensor = tensor.index;
  region.constant = network[tensor].constant.has_value();
  region.row_bytes = network[tensor].size().count;
  return region;
}

Workload build_tiled(const network::Network& network, LayerId layer, const LayerGeometry& geometry,
                     const Tiling& tiling) {
  return TiledBuilder(network, geometry, tiling).build(layer);
}

Workload build_moved(const network::Network& network, LayerId layer) {
  const network::Layer& moved = network[layer];
  const network::Tensor& output = network[moved.outputs[0]];
  const auto* concat = std::get_if<network::Concat>(&moved.op);
  const auto axis = static_cast<std::size_t>(concat ? concat->axis : 0);
  const std::int64_t element = size_of(output.type).count;
  const std::int64_t rows = product_of(output.shape, 0, axis);
  const std::int64_t pitch = product_of(output.shape, axis, output.shape.size());
  Workload workload;
  workload.name = moved.name;
  workload.layer = layer.index;
  workload.buffers.push_back(tensor_region(network, moved.outputs[0]));
  std::int64_t start = 0;
  const std::size_t inputs = concat ? moved.inputs.size() : 1;
  for (std::size_t i = 0; i < inputs; ++i) {
    const network::Tensor& input = network[moved.inputs[i]];
    const std::int64_t columns =
        network::element_count(input.shape) / std::max<std::int64_t>(rows, 1);
    if (columns == 0) continue;
    Link link;
    link.name = "move" + std::to_string(i);
    link.sources = {strip_joint(buffer_for(workload, network, moved.inputs[i]), element,
                                {rows, columns, columns, 0})};
    link.sink = strip_joint(0, element, {rows, columns, pitch, start});
    workload.links.push_back(link);
    start += columns;
  }
  return workload;
}

Workload build_whole(const network::Network& network, LayerId layer, const std::string& remark) {
  const network::Layer& whole = network[layer];
  Workload workload;
  workload.name = whole.name;
  workload.layer = layer.index;
  workload.remark = remark;
  Link link;
  link.name = "compute";
  link.kind = LinkKind::processing;
  link.unit = processing_unit;
  link.operation = TileOperation::whole;
  link.macs = cost_of(network, layer).macs;
  const auto holds_something = [&](TensorId id) {
    return id.valid() && network[id].size().count > 0;
  };
  const auto joint_for = [&](TensorId tensor) {
    const std::int64_t elements = network::element_count(network[tensor].shape);
    return strip_joint(buffer_for(workload, network, tensor), size_of(network[tensor].type).count,
                       {1, elements, elements, 0});
  };
  for (const TensorId input : whole.inputs)
    if (holds_something(input) && link.sources.size() < max_sources)
      link.sources.push_back(joint_for(input));
  const auto output = std::ranges::find_if(whole.outputs, holds_something);
  link.sink = joint_for(*output);
  workload.links.push_back(link);
  for (const TensorId id : whole.outputs)  // which no link names, for a link has one sink
    if (holds_something(id)) static_cast<void>(buffer_for(workload, network, id));
  return workload;
}

}  // namespace millrace::workload
