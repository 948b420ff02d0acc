// Resize works along one axis after another, the last one first.
#include <algorithm>
#include <array>
#include <cstring>

#include "network/evaluate/copy.h"
#include "network/evaluate/loops.h"
#include "network/evaluate/resize/interpolation.h"
#include "network/evaluate/types.h"

namespace millrace::network::loops {
namespace {

/// Picks whole elements: any type.
struct Picker {
  std::size_t element = 1;

  void operator()(const Interpolation& way, const AroundAxis& axis, const std::byte* from,
                  std::byte* to) const {
    const std::int64_t block = axis.inner * static_cast<std::int64_t>(element);
    for (std::int64_t o = 0; o < axis.outer; ++o, from += axis.size * block)
      for (const std::int64_t at : way.positions) {
        std::memcpy(to, from + at * block, static_cast<std::size_t>(block));
        to += block;
      }
  }
};

template <class T>
struct Blender {
  void operator()(const Interpolation& way, const AroundAxis& axis, const std::byte* from,
                  std::byte* to) const {
    const T* x = reinterpret_cast<const T*>(from);
    T* y = reinterpret_cast<T*>(to);
    const std::size_t outputs = way.positions.size() / way.taps;
    for (std::int64_t o = 0; o < axis.outer; ++o, x += axis.size * axis.inner)
      for (std::size_t i = 0; i < outputs; ++i, y += axis.inner) blend(way, i, {x, y}, axis.inner);
  }

 private:
  static void blend(const Interpolation& way, std::size_t output, std::pair<const T*, T*> xy,
                    std::int64_t inner) {
    std::fill_n(xy.second, inner, T{});
    for (std::size_t tap = output * way.taps; tap < (output + 1) * way.taps; ++tap) {
      const T weight = static_cast<T>(way.weights[tap]);
      const T* row = xy.first + way.positions[tap] * inner;
      for (std::int64_t j = 0; j < inner; ++j) xy.second[j] += weight * row[j];
    }
  }
};

template <class Axis>
void axis_by_axis(const std::vector<Interpolation>& ways, const ConstView& in, const View& out,
                  const Axis& run_axis) {
  Shape shape(in.shape.begin(), in.shape.end());
  Buffer current, next;
  const std::byte* from = in.data;
  for (std::size_t d = ways.size(); d-- > 0;) {
    if (ways[d].identity) continue;
    const AroundAxis axis = around(shape, static_cast<std::int64_t>(d));
    shape[d] = out.shape[d];
    next = Buffer(size_of(in.type) * count(shape));
    run_axis(ways[d], axis, from, next.data());
    current = std::move(next);
    from = current.data();
  }
  std::memcpy(out.data, from, static_cast<std::size_t>((size_of(out.type) * count(shape)).count));
}

/// Overwrites what lies outside of the input in any axis.
void extrapolate(const Resize& op, const std::vector<Interpolation>& ways, const View& out) {
  const std::array<float, 1> single{static_cast<float>(op.extrapolation)};
  const std::array<double, 1> wide{op.extrapolation};
  std::array<std::byte, 8> value{};
  const bool is_float = out.type == DataType::float32;
  const ConstView from{is_float ? DataType::float32 : DataType::float64,
                       {},
                       is_float ? reinterpret_cast<const std::byte*>(single.data())
                                : reinterpret_cast<const std::byte*>(wide.data())};
  const View element{out.type, {}, value.data()};
  run(Cast{}, {&from, 1}, {&element, 1});
  const std::int64_t size = size_of(out.type).count;
  for (std::size_t d = 0; d < ways.size(); ++d) {
    const AroundAxis axis = around(out.shape, static_cast<std::int64_t>(d));
    for (std::int64_t i = 0; i < axis.outer * axis.size && !ways[d].identity; ++i)
      if (ways[d].outside[static_cast<std::size_t>(i % axis.size)])
        fill(out.data + i * axis.inner * size, axis.inner, value.data(),
             static_cast<std::size_t>(size));
  }
}

}  // namespace

void run(const Resize& op, Inputs in, Outputs out) {
  const std::vector<Interpolation> ways = interpolations(op, in[0].shape, out[0].shape);
  if (op.mode == ResizeMode::nearest) {
    axis_by_axis(ways, in[0], out[0], Picker{static_cast<std::size_t>(size_of(in[0].type).count)});
  } else {
    visit_float(in[0].type, [&]<class T>(std::type_identity<T>) {
      axis_by_axis(ways, in[0], out[0], Blender<T>{});
    });
  }
  extrapolate(op, ways, out[0]);
}

}  // namespace millrace::network::loops
