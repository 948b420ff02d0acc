#include "workload/build.h"

#include <algorithm>

#include "network/operator_kinds.h"
#include "workload/levels.h"

namespace millrace::workload {
namespace {

/// Writes a workload of tiles, operand by operand, each from memory to memory on its path.
class TiledBuilder {
 public:
  TiledBuilder(const network::Network& network, const LayerGeometry& geometry, const Tiling& tiling)
      : network_(network), geometry_(geometry), tiling_(tiling) {}

  Workload build(LayerId layer) {
    workload_.name = network_[layer].name;
    workload_.layer = layer.index;
    workload_.overlapped = tiling_.overlapped;
    for (const Operand& source : geometry_.sources)
      loads_ = std::max(loads_, path_of(geometry_, tiling_, source).size - 1);
    Link process = processing_link();
    for (const Operand& source : geometry_.sources) process.sources.push_back(load(source));
    std::vector<Link> stores;
    process.sink = store(geometry_.output, stores);
    if (sums_bytes(geometry_, tiling_) > 0)
      add_sums(process);
    else
      workload_.links.push_back(process);
    workload_.links.insert(workload_.links.end(), stores.begin(), stores.end());
    return std::move(workload_);
  }

 private:
  /// A tensor or the places of its tiles, in a memory on an operand's path.
  struct Stop {
    std::size_t memory = 0;
    std::int32_t buffer = 0;
  };

  std::int64_t step(std::size_t number) const {
    return tiling_.overlapped ? static_cast<std::int64_t>(number) : 0;
  }

  Link processing_link() const {
    Link link;
    link.name = "compute";
    link.kind = LinkKind::processing;
    link.unit = processing_unit;
    link.delay = step(loads_);
    link.operation = geometry_.operation;
    link.window = geometry_.window;
    link.activation = geometry_.activation;
    link.scaling = geometry_.scaling;
    link.macs = geometry_.macs_per_position;
    for (const std::int64_t total : geometry_.totals) link.macs *= total;
    return link;
  }

  /// Adds sums of 8-bit tiles, over several runs: they have a place of their own, and when they are
  /// done, a second link makes 8-bit numbers of them.
  void add_sums(Link& process) {
    const std::int64_t period = process.sink.period;
    Operand sums = geometry_.output;
    sums.element = sizeof(std::int32_t);
    Region region{"sums", static_cast<std::int32_t>(tiling_.memories), used_[tiling_.memories], 1,
                  sums_bytes(geometry_, tiling_), {}};
    workload_.buffers.push_back(region);
    const auto buffer = static_cast<std::int32_t>(workload_.buffers.size() - 1);
    Link finish = process;
    finish.name = "requantize";
    finish.operation = TileOperation::requantize;
    finish.window = {};
    finish.macs = 0;
    finish.period = period;
    finish.delay += period - 1;
    finish.sink.period = 1;
    process.sink = place_joint(sums, {tiling_.memories, buffer}, false);
    finish.sources = {place_joint(sums, {tiling_.memories, buffer}, true)};
    if (geometry_.scaling->by_channel) {
      finish.sources.push_back(process.sources.back());
      finish.sources.back().period /= period;
      process.sources.pop_back();
    }
    workload_.links.push_back(process);
    workload_.links.push_back(finish);
  }

  std::vector<Stop> stops_of(const Operand& operand) {
    const MemoryPath path = path_of(geometry_, tiling_, operand);
    std::vector<Stop> stops{{path.memories[0], add_tensor(operand)}};
    for (std::size_t i = 1; i < path.size; ++i)
      stops.push_back({path.memories[i], add_place(operand, path.memories[i])});
    return stops;
  }

  /// What the kernel reads. The last tiles arrive in the step before it runs.
  Joint load(const Operand& operand) {
    const std::vector<Stop> stops = stops_of(operand);
    for (std::size_t i = 1; i < stops.size(); ++i) {
      const Stop& from = stops[i - 1];
      const Stop& to = stops[i];
      Link link = transfer("load_" + operand.name, from, to);
      link.period = period_in(geometry_, tiling_, operand, to.memory);
      link.delay = step(loads_ - (stops.size() - i));
      link.sources = {part_joint(operand, from, to.memory)};
      link.sink = place_joint(operand, to, true);
      workload_.links.push_back(link);
    }
    return place_joint(operand, stops.back(), false);
  }

  /// What the kernel writes. A tile goes on when it is whole.
  Joint store(const Operand& operand, std::vector<Link>& links) {
    const std::vector<Stop> stops = stops_of(operand);
    for (std::size_t i = stops.size() - 1; i > 0; --i) {
      const Stop& from = stops[i];
      const Stop& to = stops[i - 1];
      Link link = transfer("store_" + operand.name, from, to);
      link.period = period_in(geometry_, tiling_, operand, from.memory);
      link.delay = step(loads_ + stops.size() - i) + link.period - 1;
      link.sources = {place_joint(operand, from, true)};
      link.sink = part_joint(operand, to, from.memory);
      links.push_back(link);
    }
    return place_joint(operand, stops.back(), false);
  }

  /// Named after the memory that is not the scratchpad's neighbour, if there is one between.
  Link transfer(const std::string& name, const Stop& from, const Stop& to) const {
    const std::size_t outer = std::min(from.memory, to.memory);
    const std::size_t inner = std::max(from.memory, to.memory);
    Link link;
    link.name = inner == tiling_.memories ? name : name + suffix_of(inner);
    link.unit = transfer_unit(outer);
    return link;
  }

  static std::string suffix_of(std::size_t memory) { return "_" + std::to_string(memory); }

  std::int32_t add_tensor(const Operand& operand) {
    const auto& buffers = workload_.buffers;
    const auto same = std::ranges::find_if(
        buffers, [&](const Region& buffer) { return buffer.tensor == operand.tensor.index; });
    if (same != buffers.end()) return static_cast<std::int32_t>(same - buffers.begin());
    Region region = tensor_region(network_, operand.tensor);
    region.name = operand.name;
    region.row_bytes =
        region.row_bytes / size_of(network_[operand.tensor].type).count * operand.element;
    workload_.buffers.push_back(region);
    return static_cast<std::int32_t>(workload_.buffers.size() - 1);
  }

  /// Its tiles in a fast memory: a row for each of its places.
  std::int32_t add_place(const Operand& operand, std::size_t memory) {
    Region region;
    region.name = operand.name + "_tile";
    if (memory < tiling_.memories) region.name += suffix_of(memory);
    region.memory = static_cast<std::int32_t>(memory);
    region.offset = used_[memory];
    region.rows = places_of(geometry_, tiling_, operand, memory);
    region.row_bytes = tile_bytes(geometry_, tiling_, operand, memory);
    used_[memory] += region.size();
    workload_.buffers.push_back(region);
    return static_cast<std::int32_t>(workload_.buffers.size() - 1);
  }

  /// The loops that the operand's tiles of a memory follow, and those between. By loop: its place
  /// in the walk.
  std::vector<Loop> walk_of(const Operand& operand, std::size_t memory) const {
    const Tiling alone = at_memory(geometry_, tiling_, memory);
    std::vector<Loop> walk;
    for (const Loop loop : order_of(alone))
      if (tiles_of(geometry_, alone, loop) > 1) walk.push_back(loop);
    while (!walk.empty() && !operand.follows(walk.back())) walk.pop_back();
    return walk;
  }

  /// The walk and the sides' counts of the memory's tiles, without strides.
  Joint frame_of(const Operand& operand, std::int32_t buffer, std::size_t memory) const {
    const Tiling alone = at_memory(geometry_, tiling_, memory);
    const std::vector<Loop> walk = walk_of(operand, memory);
    Joint joint;
    joint.buffer = buffer;
    joint.element = static_cast<std::int32_t>(operand.element);
    for (const Loop loop : walk)
      joint.walk[joint.walk_size++].count = tiles_of(geometry_, alone, loop);
    for (const SideUnder& side : operand.sides) {
      const Extents extents = *extents_of(geometry_, alone, side);
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

  /// Tiles of the memory `inner` where they lie in a tensor, or in a larger tile.
  Joint part_joint(const Operand& operand, const Stop& at_stop, std::size_t inner) const {
    Joint joint = frame_of(operand, at_stop.buffer, inner);
    const std::vector<Loop> walk = walk_of(operand, inner);
    const bool is_tensor = at_stop.memory == operand.home;
    const std::vector<std::int64_t> dense = dense_strides(operand, at_stop.memory);
    for (std::size_t i = 0; i < operand.sides.size(); ++i)
      joint.sides[i].stride = is_tensor ? operand.sides[i].stride * operand.element : dense[i];
    for (std::size_t i = 0; i < walk.size(); ++i) {
      const std::int64_t stride = is_tensor ? operand.strides[at(walk[i])] * operand.element
                                            : stride_inside(operand, at_stop.memory, walk[i]);
      const Extents steps = step_of(operand, walk[i]);
      joint.walk[i].first = steps.first_step * stride;
      joint.walk[i].next = steps.next_step * stride;
    }
    const Region& region = workload_.buffers[static_cast<std::size_t>(at_stop.buffer)];
    if (!is_tensor && region.rows > 1)
      joint.ring = {region.rows, region.row_bytes,
                    period_in(geometry_, tiling_, operand, at_stop.memory) /
                        period_in(geometry_, tiling_, operand, inner)};
    return joint;
  }

  /// From position to position of a loop in a tile of the memory; 0: the loop is around the tile.
  std::int64_t stride_inside(const Operand& operand, std::size_t memory, Loop loop) const {
    const Tiling alone = at_memory(geometry_, tiling_, memory);
    if (tiles_of(geometry_, alone, loop) > 1) return 0;
    const std::vector<std::int64_t> dense = dense_strides(operand, memory);
    for (std::size_t i = 0; i < operand.sides.size(); ++i)
      if (operand.sides[i].loop == loop) return operand.sides[i].elements * dense[i];
    return 0;
  }

  /// In bytes, by side, for the largest tile of a memory.
  std::vector<std::int64_t> dense_strides(const Operand& operand, std::size_t memory) const {
    const Tiling alone = at_memory(geometry_, tiling_, memory);
    std::vector<std::int64_t> strides(operand.sides.size());
    std::int64_t stride = operand.element;
    for (std::size_t i = operand.sides.size(); i-- > 0;) {
      const SideUnder& side = operand.sides[i];
      strides[i] = stride;
      stride *= extents_of(geometry_, alone, side)->largest() * side.elements;
    }
    return strides;
  }

  Extents step_of(const Operand& operand, Loop loop) const {
    for (const SideUnder& side : operand.sides)
      if (side.loop == loop && side.slides) return *extents_of(geometry_, tiling_, side);
    const std::int64_t tile = tiling_.tile[at(loop)];
    return Extents{1, 1, 1, tile, tile};
  }

  /// Whole tiles of a memory, dense. `moves`: it is another tile in each run.
  Joint place_joint(const Operand& operand, const Stop& at_stop, bool moves) const {
    Joint joint = frame_of(operand, at_stop.buffer, at_stop.memory);
    if (!moves) joint.period = period_in(geometry_, tiling_, operand, at_stop.memory);
    const std::vector<std::int64_t> strides = dense_strides(operand, at_stop.memory);
    for (std::size_t i = 0; i < strides.size(); ++i) joint.sides[i].stride = strides[i];
    const Region& region = workload_.buffers[static_cast<std::size_t>(at_stop.buffer)];
    if (region.rows > 1) joint.ring = {region.rows, region.row_bytes};
    return joint;
  }

  const network::Network& network_;
  const LayerGeometry& geometry_;
  const Tiling& tiling_;
  Workload workload_;
  std::size_t loads_ = 1;  // transfers of a source, one after the other: the longest path
  std::array<std::int64_t, most_memories> used_{};  // bytes, by memory
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

/// The tensor's buffer, which the workload gets if it has none.
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
