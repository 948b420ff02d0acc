#include "network/evaluate/loops.h"
#include "network/evaluate/types.h"

namespace millrace::network::loops {
namespace {

template <class To, class From>
To convert(From value) {
  if constexpr (std::is_same_v<From, Half>) {
    if constexpr (std::is_same_v<To, Half>) {
      return value;
    } else {
      return convert<To>(to_float(value));
    }
  } else if constexpr (std::is_same_v<To, Half>) {
    return to_half(static_cast<double>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From{};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return saturate<To>(static_cast<double>(value));
  } else {
    return static_cast<To>(value);
  }
}

/// A byte that is neither 0 nor 1 must not be read as bool.
template <class T>
auto load(const ConstView& view, std::int64_t i) {
  if constexpr (std::is_same_v<T, bool>) {
    return static_cast<std::uint8_t>(view.as<std::uint8_t>()[i] != 0 ? 1 : 0);
  } else {
    return view.as<T>()[i];
  }
}

template <class From>
void cast_from(const ConstView& in, const View& out) {
  const std::int64_t n = count(out.shape);
  visit_any(out.type, [&]<class To>(std::type_identity<To>) {
    To* to = out.as<To>();
    for (std::int64_t i = 0; i < n; ++i) to[i] = convert<To>(load<From>(in, i));
  });
}

}  // namespace

void run(const Cast&, Inputs in, Outputs out) {
  visit_any(in[0].type,
            [&]<class From>(std::type_identity<From>) { cast_from<From>(in[0], out[0]); });
}

}  // namespace millrace::network::loops
