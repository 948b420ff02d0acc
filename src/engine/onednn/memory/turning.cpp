#include "engine/onednn/memory/turning.h"

namespace millrace::engine::onednn {

std::optional<kernels::Turn> fast_turn(const Desc& from, const Desc& to) {
  if (type_of(from) != Type::f32 || type_of(to) != Type::f32) return std::nullopt;
  const auto before = dense_strides(from), after = dense_strides(to);
  const Dims shape = dims_of(from);
  if (!before || !after || shape != dims_of(to)) return std::nullopt;
  std::vector<kernels::TurnedAxis> axes;
  for (std::size_t d = 0; d < shape.size(); ++d)
    axes.push_back({static_cast<std::size_t>(shape[d]), static_cast<std::size_t>((*before)[d]),
                    static_cast<std::size_t>((*after)[d])});
  kernels::Turn turn = kernels::turn_of(std::move(axes));
  if (!kernels::is_fast(turn)) return std::nullopt;
  return turn;
}

}  // namespace millrace::engine::onednn
