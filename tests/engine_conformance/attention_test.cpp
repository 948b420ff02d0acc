// Attention as exporters write it, in many forms, against the plain loops: where queries, keys and
// values come from, what stands between the products, and where the result goes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "agreement.h"
#include "base/random.h"
#include "engine/registry.h"
#include "network/operator_kinds.h"
#include "support/network_builder.h"

namespace millrace::test {
namespace {

using namespace millrace::network;

constexpr double attention_tolerance = 2e-5;
/// Where numbers have two terms of bfloat16: up to four products in a row lose 2^-16 of what they
/// add up, which is more than their results where signs differ.
constexpr double split_tolerance = 8 * 0x1p-16;

struct AttentionSizes {
  std::int64_t images, heads, rows, keys, depth, width;
};

class AttentionBuilder {
 public:
  explicit AttentionBuilder(std::uint64_t seed) : random_(seed), b_(seed) {
    const auto any = [&](std::int64_t low, std::int64_t high) {
      return low + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(high - low)));
    };
    s_ = {any(1, 3), any(1, 4), any(1, 60), any(1, 90), any(1, 40), any(1, 40)};
    if (is(3)) s_.rows = any(13, 20);
  }

  Network build() {
    const auto [q, k, v] = is(3) ? joint_factors() : separate_factors();
    TensorId y = b_.layer(MatMul{}, {q, k}, {s_.images, s_.heads, s_.rows, s_.keys});
    for (int i = static_cast<int>(random_.below(3)); i > 0; --i) y = changed(y);
    if (is(6)) b_.output(y);
    y = b_.layer(Softmax{is(8) ? 2 : 3, 4, is(10)}, {y}, b_.shape(y));
    y = b_.layer(MatMul{}, {y, v}, {s_.images, s_.heads, s_.rows, s_.width});
    b_.output(is(4) ? y : joined(y));
    return b_.build();
  }

 private:
  struct Factors {
    TensorId query, key, value;
  };

  bool is(std::uint64_t one_of) { return random_.below(one_of) == 0; }

  /// [images, tokens, heads * size] with the heads turned outwards; `last`: the tokens innermost.
  TensorId heads_of(TensorId x, std::int64_t tokens, std::int64_t size, bool last) {
    x = b_.layer(Reshape{}, {x}, {s_.images, tokens, s_.heads, size});
    if (last) return b_.layer(Transpose{{0, 2, 3, 1}}, {x}, {s_.images, s_.heads, size, tokens});
    return b_.layer(Transpose{{0, 2, 1, 3}}, {x}, {s_.images, s_.heads, tokens, size});
  }

  TensorId tokens(std::int64_t count, std::int64_t size) {
    const std::int64_t in = 5, all = s_.heads * size;
    const TensorId x = b_.input({s_.images, count, in});
    return b_.layer(MatMul{}, {x, b_.constant({in, all})}, {s_.images, count, all});
  }

  TensorId plain(std::int64_t rows, std::int64_t columns) {
    return b_.input({is(3) ? 1 : s_.images, is(3) ? 1 : s_.heads, rows, columns});
  }

  Factors separate_factors() {
    Factors f;
    f.query = is(3) ? b_.input({s_.images, s_.heads, s_.rows, s_.depth})
                    : heads_of(tokens(s_.rows, s_.depth), s_.rows, s_.depth, false);
    f.key = is(3) ? plain(s_.depth, s_.keys)
                  : heads_of(tokens(s_.keys, s_.depth), s_.keys, s_.depth, true);
    f.value = is(3) ? plain(s_.keys, s_.width)
                    : heads_of(tokens(s_.keys, s_.width), s_.keys, s_.width, false);
    if (is(2)) f.query = b_.binary(BinaryKind::mul, f.query, b_.constant(Shape{}, {0.3, 0.9}));
    return f;
  }

  /// One product for all three, which are parts of it.
  Factors joint_factors() {
    s_.keys = s_.rows;
    s_.width = s_.depth;
    TensorId x = tokens(s_.rows, 3 * s_.depth);
    x = b_.layer(Reshape{}, {x}, {s_.images, s_.rows, 3, s_.heads, s_.depth});
    x = b_.layer(Transpose{{2, 0, 3, 1, 4}}, {x}, {3, s_.images, s_.heads, s_.rows, s_.depth});
    std::vector<TensorId> parts = b_.split(0, x, {1, 1, 1});
    for (TensorId& part : parts)
      part = b_.layer(Reshape{}, {part}, {s_.images, s_.heads, s_.rows, s_.depth});
    parts[1] =
        b_.layer(Transpose{{0, 1, 3, 2}}, {parts[1]}, {s_.images, s_.heads, s_.depth, s_.rows});
    return {parts[0], parts[1], parts[2]};
  }

  /// Scaled, masked, or what is neither.
  TensorId changed(TensorId y) {
    const TensorId number = b_.constant(is(2) ? Shape{} : Shape{1, 1}, {0.5, 1.5});
    const Shape spread{is(2) ? 1 : s_.images, is(2) ? 1 : s_.heads, is(2) ? 1 : s_.rows,
                       is(4) ? 1 : s_.keys};
    switch (random_.below(8)) {
      case 0:
        return b_.binary(BinaryKind::mul, number, y);
      case 1:
        return b_.binary(BinaryKind::mul, y, number);
      case 2:
        return b_.binary(BinaryKind::div, y, number);
      case 3:
        return b_.binary(BinaryKind::add, y, b_.constant(spread));
      case 4:
        return b_.binary(BinaryKind::add, b_.input(spread), y);
      case 5:
        return b_.binary(BinaryKind::sub, y, number);
      case 6:
        return b_.binary(BinaryKind::mul, y, b_.constant(spread));
      default:
        return b_.unary(UnaryKind::tanh, y);
    }
  }

  /// Back to [images, tokens, heads * width], and through a product with weights.
  TensorId joined(TensorId y) {
    const std::int64_t all = s_.heads * s_.width;
    y = b_.layer(Transpose{{0, 2, 1, 3}}, {y}, {s_.images, s_.rows, s_.heads, s_.width});
    y = b_.layer(Reshape{}, {y}, {s_.images, s_.rows, all});
    if (is(3)) return y;
    y = b_.layer(MatMul{}, {y, b_.constant({all, all})}, {s_.images, s_.rows, all});
    return b_.binary(BinaryKind::add, y, b_.input({s_.images, s_.rows, all}));
  }

  Random random_;
  NetworkBuilder b_;
  AttentionSizes s_{};
};

TEST(Attention, in_a_thousand_forms_is_that_of_the_loops) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const Network network = AttentionBuilder(seed).build();
    if (!can_run_in_one_piece(network, {})) continue;
    EXPECT_LE(error_in_one_piece(network, {.seed = seed}), attention_tolerance)
        << "seed " << seed << "\n"
        << text_of(network);
  }
}

/// For each product of matrices the last of the engine's ways in float32; nothing if none has two.
std::vector<board::Variant> other_ways(const Network& network) {
  const auto engine = engine::make_engine(engine_under_test());
  const board::Processor core = board::this_machine().processors.front();
  std::vector<board::Variant> result(network.layers.size());
  bool has_others = false;
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    if (!is_one_of<MatMul>(network.layers[i].op)) continue;
    const auto ways = engine->variants(network, LayerId(i), core);
    for (std::size_t w = 1; w < ways.size(); ++w)
      if (ways[w].precision == board::Precision::f32) {
        result[i] = ways[w];
        has_others = true;
      }
  }
  return has_others ? result : std::vector<board::Variant>();
}

TEST(Attention, in_other_ways_is_that_of_the_loops) {
  int tried = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    const Network network = AttentionBuilder(seed).build();
    AgreementOptions options{.variants = other_ways(network), .seed = seed};
    if (options.variants.empty() || !can_run_in_one_piece(network, options)) continue;
    ++tried;
    EXPECT_LE(error_in_one_piece(network, options), split_tolerance) << "seed " << seed << "\n"
                                                                     << text_of(network);
  }
  if (tried == 0) GTEST_SKIP() << "the engine has one way on this processor";
}

/// 20 queries and 30 keys; the mask takes all keys from one query, with these numbers.
Network masked_network(float nothing) {
  NetworkBuilder b;
  const TensorId x =
      b.layer(MatMul{}, {b.input({1, 2, 20, 8}), b.input({1, 2, 8, 30})}, {1, 2, 20, 30});
  std::vector<float> mask(20 * 30, 0.5f);
  std::fill_n(mask.begin() + 7 * 30, 30, nothing);
  mask[8 * 30] = nothing;
  const TensorId masked = b.binary(
      BinaryKind::add, x, b.constant(make_array<float>(DataType::float32, {20, 30}, mask)));
  const TensorId y = b.layer(Softmax{3, 4, false}, {masked}, {1, 2, 20, 30});
  b.output(b.layer(MatMul{}, {y, b.input({1, 2, 30, 8})}, {1, 2, 20, 8}));
  return b.build();
}

/// With infinite numbers no key is left; with the lowest ones all keys are alike.
TEST(Attention, whose_mask_leaves_no_key_is_that_of_the_loops) {
  using Limits = std::numeric_limits<float>;
  for (const float nothing : {-Limits::infinity(), Limits::lowest(), -3e38f, -1e30f}) {
    const Network network = masked_network(nothing);
    if (!can_run_in_one_piece(network, {})) GTEST_SKIP();
    EXPECT_LE(error_in_one_piece(network, {}), attention_tolerance) << nothing;
  }
}

TEST(Attention, whose_factor_is_out_of_range_is_that_of_the_loops) {
  for (const float factor : {0.f, 1e-30f, 1e20f, std::numeric_limits<float>::infinity()})
    for (const BinaryKind kind : {BinaryKind::mul, BinaryKind::div}) {
      NetworkBuilder b;
      TensorId x = b.layer(MatMul{}, {b.input({1, 19, 8}), b.input({1, 8, 30})}, {1, 19, 30});
      x = b.binary(kind, x, b.constant(make_array<float>(DataType::float32, {}, {{factor}})));
      x = b.layer(Softmax{2, 3, false}, {x}, {1, 19, 30});
      b.output(b.layer(MatMul{}, {x, b.input({1, 30, 8})}, {1, 19, 8}));
      const Network network = b.build();
      if (!can_run_in_one_piece(network, {})) continue;
      EXPECT_LE(error_in_one_piece(network, {}), attention_tolerance) << factor;
    }
}

}  // namespace
}  // namespace millrace::test
