#include <fmt/format.h>

#include "base/error.h"
#include "network/evaluate/indexed/indices.h"

namespace millrace::network::loops {
namespace {

struct CheckIndices {
  const Layer& layer;
  Inputs in;

  void operator()(const Gather& op) const { along(op.axis); }
  void operator()(const GatherElements& op) const { along(op.axis); }
  void operator()(const ScatterElements& op) const { along(op.axis); }
  void operator()(const GatherNd& op) const { tuples(op.batch_dimensions); }
  void operator()(const ScatterNd&) const { tuples(0); }
  void operator()(const RoiAlign&) const {
    const std::int64_t images = in[0].shape[0];
    for (std::int64_t i = 0; i < count(in[2].shape); ++i) check(index_at(in[2], i), 0, images, 0);
  }
  template <class Other>
  void operator()(const Other&) const {}

 private:
  void along(std::int64_t axis) const {
    const std::int64_t size = in[0].shape[static_cast<std::size_t>(axis)];
    const std::int64_t n = count(in[1].shape);
    for (std::int64_t i = 0; i < n; ++i) check(index_at(in[1], i), -size, size, axis);
  }
  void tuples(std::int64_t first) const {
    const std::int64_t length = in[1].shape.back();
    const std::int64_t n = count(in[1].shape);
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t axis = first + i % length;
      const std::int64_t size = in[0].shape[static_cast<std::size_t>(axis)];
      check(index_at(in[1], i), -size, size, axis);
    }
  }
  void check(std::int64_t index, std::int64_t least, std::int64_t end, std::int64_t axis) const {
    if (index < least || index >= end)
      throw InputError(layer.name, fmt::format("index {} is outside of [{}, {}), the range of "
                                               "dimension {}; check the indices",
                                               index, least, end, axis));
  }
};

}  // namespace

void check_indices(const Layer& layer, Inputs in) { std::visit(CheckIndices{layer, in}, layer.op); }

}  // namespace millrace::network::loops
