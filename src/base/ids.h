#pragma once
// Typed indices: a LayerId cannot be mistaken for a TensorId.
#include <compare>
#include <cstddef>
#include <functional>

namespace millrace {

/// An index into the one vector that holds the things of its kind. Default: none.
template <class Tag>
struct Id {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::size_t index = none;

  constexpr Id() = default;
  constexpr explicit Id(std::size_t i) : index(i) {}
  constexpr bool valid() const { return index != none; }
  constexpr auto operator<=>(const Id&) const = default;
};

using LayerId = Id<struct LayerTag>;          // Network::layers
using TensorId = Id<struct TensorTag>;        // Network::tensors
using ProcessorId = Id<struct ProcessorTag>;  // Board::processors

}  // namespace millrace

template <class Tag>
struct std::hash<millrace::Id<Tag>> {
  std::size_t operator()(millrace::Id<Tag> id) const noexcept { return id.index; }
};
