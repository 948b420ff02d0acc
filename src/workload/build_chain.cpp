#include <fmt/format.h>

#include <algorithm>

#include "workload/build.h"
#include "workload/chain.h"

namespace millrace::workload {
namespace {

constexpr std::int64_t chain_alignment = 64;

/// Rows of a tensor tile by tile: `first_step` and `next_step` in rows.
struct RowWalk {
  RowParts counts;
  std::int64_t first_step = 0, next_step = 0;
};

/// Writes the links in the order in which they run in a step: loads, then each layer with what it
/// keeps, then the store.
class ChainBuilder {
 public:
  ChainBuilder(const network::Network& network, std::span<const ChainMember> chain,
               const ChainRows& rows, const ChainPlace& where)
      : network_(network), chain_(chain), rows_(rows), memory_(where.memory) {
    workload_.overlapped = where.overlapped;
    workload_.layer = chain.back().layer.index;
    workload_.name =
        fmt::format("{}..{}", network[chain.front().layer].name, network[chain.back().layer].name);
  }

  Workload build() {
    measure_passing();
    for (std::size_t i = 0; i < chain_.size(); ++i) add_member(i);
    Workload done = std::move(workload_);
    for (std::vector<Link>* links : {&loads_, &computed_, &stores_})
      for (Link& link : *links) done.links.push_back(std::move(link));
    return done;
  }

 private:
  const LayerGeometry& geometry(std::size_t member) const { return chain_[member].rows.geometry; }
  const std::string& name(std::size_t member) const { return network_[chain_[member].layer].name; }
  bool is_last(std::size_t member) const { return member + 1 == chain_.size(); }

  /// Between two layers that read no row again, a tile passes through one of two places.
  void measure_passing() {
    for (std::size_t i = 0; i + 1 < chain_.size(); ++i) {
      if (rows_.kept[i + 1] > 0) continue;
      Joint joint = framed(i, geometry(i).output, rows_.written[i]);
      std::int64_t& most = passing_bytes_[passing_through(i)];
      most = std::max(most, lie_dense(joint, rows_between(i + 1)));
    }
  }

  void add_member(std::size_t member) {
    before_ = between_;
    Link link;
    link.name = name(member);
    link.kind = LinkKind::processing;
    link.unit = processing_unit;
    link.delay = workload_.overlapped ? 1 : 0;
    link.layer = chain_[member].layer.index;
    link.operation = geometry(member).operation;
    link.window = geometry(member).window;
    link.activation = geometry(member).activation;
    link.scaling = geometry(member).scaling;
    link.macs = geometry(member).macs_per_position;
    for (const std::int64_t total : geometry(member).totals) link.macs *= total;
    for (std::size_t i = 0; i < geometry(member).sources.size(); ++i)
      link.sources.push_back(source(member, i));
    link.sink = sink(member);
    computed_.push_back(std::move(link));
    if (member > 0 && rows_.kept[member] > 0) keep(member);
  }

  Joint source(std::size_t member, std::size_t index) {
    const Operand& operand = geometry(member).sources[index];
    const bool is_input = index == chain_[member].rows.input;
    if (is_input && member > 0) return between(member);
    if (!has_rows(operand)) return loaded_whole(member, operand);
    const RowParts same = rows_.written[member];
    return is_input ? loaded(member, operand, {rows_.read, rows_.first_step, rows_.next_step})
                    : loaded(member, operand, {same, same.first, same.middle});
  }

  /// A tensor's rows tile by tile, where the tensor lies.
  Joint outside(std::size_t member, const Operand& operand, const RowWalk& walk) {
    Joint joint = framed(member, operand, walk.counts);
    joint.buffer = tensor(member, operand);
    const std::int64_t row = operand.strides[at(Loop::row)] * joint.element;
    if (joint.walk_size > 0) {
      joint.walk[0].first = walk.first_step * row;
      joint.walk[0].next = walk.next_step * row;
    }
    for (std::size_t i = 0; i < operand.sides.size(); ++i)
      joint.sides[i].stride = operand.sides[i].stride * joint.element;
    return joint;
  }

  /// The sides in elements; the rows follow the tiles.
  Joint framed(std::size_t member, const Operand& operand, const RowParts& rows) const {
    Joint joint;
    joint.element = static_cast<std::int32_t>(operand.element);
    const bool follows = has_rows(operand) && rows_.tiles > 1;
    if (follows) joint.walk[joint.walk_size++].count = rows_.tiles;
    const Tiling all{geometry(member).totals, false, false};
    for (const SideUnder& side : operand.sides) {
      const std::int64_t count = extents_of(geometry(member), all, side)->largest() * side.elements;
      Side& to = joint.sides[joint.side_count++];
      to.pipe_up = to.pipeline = to.pipe_down = count;
      if (side.loop != Loop::row) continue;
      to.pipe_up = rows.first;
      to.pipeline = rows.middle;
      to.pipe_down = rows.last;
      if (follows) to.along = 0;
    }
    // Also what lies beyond the last window, so that tiles have all columns.
    if (has_rows(operand) && operand.sides.back().slides) {
      Side& columns = joint.sides[joint.side_count - 1];
      columns.pipe_up = columns.pipeline = columns.pipe_down = geometry(member).input[1];
    }
    return joint;
  }

  Joint loaded(std::size_t member, const Operand& operand, const RowWalk& walk) {
    Link link;
    link.name = fmt::format("load_{}_{}", name(member), operand.name);
    Joint inside = framed(member, operand, walk.counts);
    inside.buffer = place(fmt::format("{}_{}_tile", name(member), operand.name),
                          lie_dense(inside, walk.counts.largest()), workload_.overlapped ? 2 : 1);
    set_ring(inside);
    link.sources = {outside(member, operand, walk)};
    link.sink = inside;
    loads_.push_back(link);
    return inside;
  }

  /// Once, before the first tile.
  Joint loaded_whole(std::size_t member, const Operand& operand) {
    Link link;
    link.name = fmt::format("load_{}_{}", name(member), operand.name);
    link.period = rows_.tiles;
    Joint inside = framed(member, operand, {});
    const std::int64_t bytes = lie_dense(inside, 1);
    inside.buffer = place(fmt::format("{}_{}_tile", name(member), operand.name), bytes, 1);
    link.sources = {outside(member, operand, {})};
    link.sink = inside;
    loads_.push_back(link);
    inside.period = rows_.tiles;
    return inside;
  }

  /// Strides of a place for so many rows; the bytes that it needs.
  std::int64_t lie_dense(Joint& joint, std::int64_t rows) const {
    std::int64_t stride = joint.element;
    for (std::size_t i = joint.side_count; i-- > 0;) {
      Side& side = joint.sides[i];
      side.stride = stride;
      stride *= side.along >= 0 ? rows : side.pipe_up;
    }
    return stride;
  }

  void set_ring(Joint& joint) const {
    const Region& region = workload_.buffers[static_cast<std::size_t>(joint.buffer)];
    if (region.rows > 1 && joint.walk_size > 0) joint.ring = {region.rows, region.row_bytes};
  }

  std::int32_t tensor(std::size_t member, const Operand& operand) {
    auto& buffers = workload_.buffers;
    const auto same = std::ranges::find_if(
        buffers, [&](const Region& buffer) { return buffer.tensor == operand.tensor.index; });
    if (same != buffers.end()) return static_cast<std::int32_t>(same - buffers.begin());
    Region region = tensor_region(network_, operand.tensor);
    region.name = fmt::format("{}_{}", name(member), operand.name);
    region.row_bytes =
        region.row_bytes / size_of(network_[operand.tensor].type).count * operand.element;
    buffers.push_back(region);
    return static_cast<std::int32_t>(buffers.size() - 1);
  }

  std::int32_t place(const std::string& name, std::int64_t bytes, std::int64_t places) {
    Region region;
    region.name = name;
    region.memory = memory_;
    region.offset = scratch_;
    region.rows = places;
    region.row_bytes = (bytes + chain_alignment - 1) / chain_alignment * chain_alignment;
    scratch_ += region.size();
    workload_.buffers.push_back(region);
    return static_cast<std::int32_t>(workload_.buffers.size() - 1);
  }

  /// The rows of a member's input that its windows read, old and new ones.
  std::int64_t rows_between(std::size_t member) const {
    const RowParts& rows = rows_.written[member - 1];
    const std::int64_t later = rows_.tiles > 2 ? std::max(rows.middle, rows.last) : rows.last;
    return rows_.tiles == 1 ? rows.first : std::max(rows.first, rows_.kept[member] + later);
  }

  /// Where a member writes.
  Joint sink(std::size_t member) {
    const Operand& output = geometry(member).output;
    const RowParts& rows = rows_.written[member];
    Joint joint = framed(member, output, rows);
    if (is_last(member)) {
      joint.buffer = place(name(member) + "_output_tile", lie_dense(joint, rows.largest()),
                           workload_.overlapped ? 2 : 1);
      set_ring(joint);
      store(member, joint);
      return joint;
    }
    const std::int64_t kept = rows_.kept[member + 1];
    const std::int64_t bytes = lie_dense(joint, rows_between(member + 1));
    joint.buffer =
        kept > 0 ? place(name(member) + "_output_tile", bytes, 1)
                 : passing_place(passing_through(member));
    if (joint.walk_size > 0) joint.walk[0].first = kept * joint.sides[1].stride;
    between_ = joint;
    return joint;
  }

  /// A place holds numbers of one size.
  std::size_t passing_through(std::size_t member) const {
    return member % 2 + (geometry(member).output.element == 1 ? 2 : 0);
  }

  std::int32_t passing_place(std::size_t which) {
    std::optional<std::int32_t>& buffer = passing_[which];
    if (!buffer) buffer = place(fmt::format("between{}", which), passing_bytes_[which], 1);
    return *buffer;
  }

  Joint between(std::size_t member) const {
    Joint joint = between_;
    const std::int64_t kept = rows_.kept[member];
    if (joint.walk_size == 0) return joint;
    joint.walk[0].first = 0;
    joint.sides[1].pipeline += kept;
    joint.sides[1].pipe_down += kept;
    return joint;
  }

  /// The last rows of a member's input, which its windows read again, go to the place's begin.
  void keep(std::size_t member) {
    const RowParts& written = rows_.written[member - 1];
    const std::int64_t kept = rows_.kept[member];
    Link link;
    link.name = fmt::format("keep_{}_input", name(member));
    link.unit = processing_unit;
    link.delay = workload_.overlapped ? 1 : 0;
    Joint to = before_;
    to.walk[0] = {rows_.tiles - 1, 0, 0};
    if (rows_.tiles == 2) to.walk_size = 0;
    to.sides[1].pipe_up = to.sides[1].pipeline = to.sides[1].pipe_down = kept;
    to.sides[1].along = -1;
    Joint from = to;
    const std::int64_t row = from.sides[1].stride;
    from.start = (written.first - kept) * row;
    from.walk[0].first = (written.middle - written.first + kept) * row;
    link.sources = {from};
    link.sink = to;
    computed_.push_back(link);
  }

  void store(std::size_t member, const Joint& inside) {
    const Operand& output = geometry(member).output;
    const RowParts& rows = rows_.written[member];
    Link link;
    link.name = fmt::format("store_{}_output", name(member));
    link.delay = workload_.overlapped ? 2 : 0;
    link.sources = {inside};
    link.sink = outside(member, output, {rows, rows.first, rows.middle});
    stores_.push_back(link);
  }

  const network::Network& network_;
  std::span<const ChainMember> chain_;
  const ChainRows& rows_;
  std::int32_t memory_;  // the scratchpad
  Workload workload_;
  std::vector<Link> loads_, computed_, stores_;
  Joint between_, before_;  // where the member and the one before it write
  std::array<std::int64_t, 4> passing_bytes_{};
  std::array<std::optional<std::int32_t>, 4> passing_{};
  std::int64_t scratch_ = 0;
};

}  // namespace

Workload build_chain(const network::Network& network, std::span<const ChainMember> chain,
                     const ChainRows& rows, const ChainPlace& where) {
  return ChainBuilder(network, chain, rows, where).build();
}

}  // namespace millrace::workload
