// Compare, Test and Where.
#include <cmath>
#include <cstring>
#include <functional>

#include "network/evaluate/broadcast.h"
#include "network/evaluate/loops.h"
#include "network/evaluate/types.h"

namespace millrace::network::loops {
namespace {

template <class T>
void compare(CompareKind kind, Inputs in, const View& out) {
  const auto rows = [&](auto f) {
    broadcast_rows<T, T, std::uint8_t>(
        in, out, [=](T a, T b) { return static_cast<std::uint8_t>(f(a, b) ? 1 : 0); });
  };
  switch (kind) {
    case CompareKind::equal:
      return rows([](T a, T b) { return a == b; });
    case CompareKind::less:
      return rows(std::less<T>());
    case CompareKind::less_or_equal:
      return rows(std::less_equal<T>());
    case CompareKind::greater:
      return rows(std::greater<T>());
    case CompareKind::greater_or_equal:
      return rows(std::greater_equal<T>());
  }
}

template <class T>
bool holds(const Test& op, T value) {
  if (op.kind == TestKind::is_nan) return std::isnan(value);
  return std::isinf(value) && (value < 0 ? op.negative : op.positive);
}

/// `Size` bytes an element.
template <std::size_t Size>
void select_elements(Inputs in, const View& out) {
  const Walk<4> walk = collapsed(Walk<4>{
      {out.shape.begin(), out.shape.end()},
      {broadcast_strides(out.shape, out.shape), broadcast_strides(in[0].shape, out.shape),
       broadcast_strides(in[1].shape, out.shape), broadcast_strides(in[2].shape, out.shape)}});
  const auto at = [](std::int64_t offset) { return offset * static_cast<std::int64_t>(Size); };
  const std::size_t last = walk.rank() - 1;
  for_each(walk, last, [&](const std::array<std::int64_t, 4>& begin) {
    for (std::int64_t i = 0; i < walk.shape.back(); ++i) {
      const bool first = in[0].data[begin[1] + i * walk.strides[1][last]] != std::byte{0};
      const std::size_t from = first ? 2 : 3;
      std::memcpy(out.data + at(begin[0] + i * walk.strides[0][last]),
                  in[from - 1].data + at(begin[from] + i * walk.strides[from][last]), Size);
    }
  });
}

}  // namespace

void run(const Compare& op, Inputs in, Outputs out) {
  if (in[0].type == DataType::boolean) return compare<std::uint8_t>(op.kind, in, out[0]);
  visit_number(in[0].type,
               [&]<class T>(std::type_identity<T>) { compare<T>(op.kind, in, out[0]); });
}

void run(const Test& op, Inputs in, Outputs out) {
  visit_float(in[0].type, [&]<class T>(std::type_identity<T>) {
    const std::int64_t n = count(out[0].shape);
    for (std::int64_t i = 0; i < n; ++i) out[0].data[i] = std::byte{holds(op, in[0].as<T>()[i])};
  });
}

void run(const Where&, Inputs in, Outputs out) {
  switch (size_of(out[0].type).count) {
    case 1:
      return select_elements<1>(in, out[0]);
    case 2:
      return select_elements<2>(in, out[0]);
    case 4:
      return select_elements<4>(in, out[0]);
    default:
      return select_elements<8>(in, out[0]);
  }
}

}  // namespace millrace::network::loops
