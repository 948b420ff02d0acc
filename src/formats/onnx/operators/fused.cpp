// Operators into which ONNX Runtime's optimisers fuse others, mostly those of transformers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "formats/onnx/operators/attend.h"
#include "formats/onnx/operators/tables.h"
#include "formats/onnx/types.h"

namespace millrace::formats::onnx {
namespace {

constexpr float lowest_float = std::numeric_limits<float>::lowest();

TensorId with_optional(Node& node, TensorId id, std::size_t addend) {
  return node.has(addend) ? Steps(node).sum(id, node.input(addend)) : id;
}

/// For each key, or each query and key, whether it counts: an integer above 0. Or, in one
/// dimension, how many keys count in each image of the batch, perhaps followed by which is their
/// first one.
class KeyMask {
 public:
  KeyMask(Node& node, std::size_t input, const Shape& scores)
      : node_(node), steps_(node), input_(input), scores_(scores) {}

  TensorId bias(double masked, DataType type) {
    if (node_.type(input_) != DataType::int32)
      node_.fail(fmt::format("the mask '{}' has type {}, expected int32", node_.tensor(input_).name,
                             to_text(node_.type(input_))));
    const TensorId counts = node_.rank(input_) == 1 ? by_number() : by_key();
    return steps_.chosen(counts, steps_.number(0, type), steps_.number(masked, type));
  }

 private:
  [[noreturn]] void refuse() const {
    node_.fail(
        fmt::format("the mask '{}' has shape {}, which is not supported; expected {}x{}, {}x{}x{}, "
                    "{} or {}",
                    node_.tensor(input_).name, to_text(node_.shape(input_)), scores_[0], scores_[3],
                    scores_[0], scores_[2], scores_[3], scores_[0], 2 * scores_[0]));
  }
  TensorId by_key() {
    const Shape shape = node_.shape(input_);
    const Shape of_keys{scores_[0], scores_[3]}, of_pairs{scores_[0], scores_[2], scores_[3]};
    if (shape != of_keys && shape != of_pairs) refuse();
    const std::int64_t rows = shape == of_keys ? 1 : scores_[2];
    const TensorId mask = steps_.reshaped(node_.input(input_), {scores_[0], 1, rows, scores_[3]});
    return steps_.holds(CompareKind::greater, mask, integers({}, {0}));
  }

  TensorId by_number() {
    const std::int64_t batch = scores_[0], size = node_.shape(input_)[0];
    if (size != batch && size != 2 * batch) refuse();
    const Shape column{batch, 1, 1, 1};
    take_memory(node_, {scores_[3] * std::int64_t{sizeof(std::int64_t)}});
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(scores_[3]));
    std::iota(numbers.begin(), numbers.end(), 0);
    const TensorId keys = integers({1, 1, 1, scores_[3]}, numbers);
    const auto limit = [&](std::int64_t first) {
      return steps_.reshaped(steps_.part(node_.input(input_), 0, first, batch), column);
    };
    const TensorId ends = steps_.holds(CompareKind::less, keys, limit(0));
    if (size == batch) return ends;
    return steps_.combined(BinaryKind::logical_and, ends,
                           steps_.holds(CompareKind::greater_or_equal, keys, limit(batch)));
  }

  TensorId integers(const Shape& shape, const std::vector<std::int64_t>& values) {
    return steps_.integers(shape, values, DataType::int32);
  }

  Node& node_;
  Steps steps_;
  std::size_t input_;
  Shape scores_;  // batch x heads x queries x keys
};

/// Where the two operators of attention have what they share; indices of inputs.
struct FusedInputs {
  std::size_t mask = 0, bias = 0;
};

Attended attend_fused(Node& node, const Heads& heads, const FusedInputs& at, std::int64_t past) {
  Steps steps(node);
  check_heads(node, heads);
  const Shape q = steps.shape(heads.queries), k = steps.shape(heads.keys);
  const DataType type = steps.type(heads.queries);
  Scores scores;
  scores.scale = double{node.attributes().number("scale", 0)};
  if (scores.scale == 0) scores.scale = 1 / std::sqrt(static_cast<double>(q[3]));
  const double masked = double{node.attributes().number("mask_filter_value", -10000)};
  if (node.has(at.mask))
    scores.bias = KeyMask(node, at.mask, {q[0], q[1], q[2], k[2]}).bias(masked, type);
  const Sight sight{q[2], k[2], past, node.attributes().flag("unidirectional", false)};
  if (sight.causal) add_bias(node, scores.bias, sight_bias(node, sight, lowest_float, type));
  if (node.has(at.bias)) add_bias(node, scores.bias, node.input(at.bias));
  return attend(node, heads, scores);
}

/// How many numbers queries, keys and values have.
Shape hidden_sizes(const Node& node, std::int64_t all) {
  const Shape sizes = node.attributes().integers("qkv_hidden_sizes").value_or(Shape{});
  if (sizes.empty() && all % 3 == 0) return Shape(3, all / 3);
  const bool fit = sizes.size() == 3 && *std::min_element(sizes.begin(), sizes.end()) > 0 &&
                   *std::max_element(sizes.begin(), sizes.end()) <= all &&
                   sizes[0] + sizes[1] + sizes[2] == all;
  if (!fit)
    node.fail(fmt::format("'qkv_hidden_sizes' is {}, but the weights make {} numbers",
                          to_text(sizes), all));
  return sizes;
}

/// Keys and values so far, then those of this input. Input `past` has both.
void join_both_past(Node& node, std::size_t past, Heads& heads) {
  Steps steps(node);
  const Shape shape = node.shape(past);
  if (shape.size() != 5 || shape[0] != 2)
    node.fail(fmt::format("'past' has shape {}, expected 2 x batch x heads x tokens x numbers",
                          to_text(shape)));
  const auto half = [&](std::int64_t first) {
    return steps.reshaped(steps.part(node.input(past), 0, first, 1),
                          Shape(shape.begin() + 1, shape.end()));
  };
  heads.keys = steps.joined({half(0), heads.keys}, 2);
  heads.values = steps.joined({half(1), heads.values}, 2);
}

void give_present(Node& node, const Heads& heads) {
  if (!node.wants(1)) return;
  Steps steps(node);
  const auto one = [&](TensorId id) {
    Shape shape = steps.shape(id);
    shape.insert(shape.begin(), 1);
    return steps.reshaped(id, shape);
  };
  node.give(1, steps.joined({one(heads.keys), one(heads.values)}, 0));
}

/// Inputs: tokens, weights of queries, keys and values side by side, bias, mask, past, bias of the
/// scores.
void lower_fused_attention(Node& node) {
  constexpr std::size_t mask = 3, past = 4, score_bias = 5;
  const auto refuse = [&](const char* name, bool has_effect) {
    if (node.attributes().flag(name, false) && has_effect)
      node.fail(fmt::format("the attribute '{}' is not supported", name));
  };
  refuse("do_rotary", true);
  refuse("past_present_share_buffer", node.has(past) || node.wants(1));
  Steps steps(node);
  const std::int64_t count = node.attributes().required_integer("num_heads");
  const TensorId all = with_optional(node, steps.product(node.input(0), node.input(1)), 2);
  const Shape sizes = hidden_sizes(node, steps.shape(all).back());
  if (steps.shape(all).size() != 3) node.fail("the input must be batch x tokens x numbers");
  const auto heads_of = [&](std::int64_t first, std::int64_t size) {
    return by_head(node, steps.part(all, 2, first, size), count);
  };
  Heads heads{heads_of(0, sizes[0]), heads_of(sizes[0], sizes[1]),
              heads_of(sizes[0] + sizes[1], sizes[2])};
  if (node.has(past)) join_both_past(node, past, heads);
  const std::int64_t before = node.has(past) ? node.shape(past)[3] : 0;
  node.give(0, without_heads(node, attend_fused(node, heads, {mask, score_bias}, before).result));
  give_present(node, heads);
}

/// Queries, keys and values, which may lie in one tensor: batch x tokens x heads x parts x numbers.
class SeparateHeads {
 public:
  explicit SeparateHeads(Node& node)
      : node_(node), steps_(node), count_(node.attributes().required_integer("num_heads")) {}

  Heads heads() {
    if (node_.rank(0) == 5) return packed(0, 3);
    Heads found{of_input(0, true), {}, {}};
    if (!node_.has(1)) node_.fail("the input 'key' is missing");
    if (node_.rank(1) == 5) {
      const Heads rest = packed(1, 2);
      found.keys = rest.queries;
      found.values = rest.keys;
      return found;
    }
    found.keys = of_input(1, node_.rank(1) == 3);
    found.values = of_input(2, node_.rank(2) == 3);
    return found;
  }

 private:
  Heads packed(std::size_t input, std::int64_t parts) {
    const Shape shape = node_.shape(input);
    if (shape[3] != parts || node_.has(3))
      node_.fail(fmt::format("the input '{}' has shape {}, expected {} parts and no bias",
                             node_.tensor(input).name, to_text(shape), parts));
    std::vector<TensorId> found;
    for (std::int64_t i = 0; i < parts; ++i) {
      const TensorId one = steps_.part(node_.input(input), 3, i, 1);
      found.push_back(steps_.transposed(
          steps_.reshaped(one, {shape[0], shape[1], shape[2], shape[4]}), {0, 2, 1, 3}));
    }
    return {found[0], found[1], found.back()};
  }

  /// With its part of the bias, where it is not by head yet.
  TensorId of_input(std::size_t input, bool is_flat) {
    TensorId id = node_.input(input);
    if (!is_flat && node_.rank(input) == 4) return id;
    if (node_.rank(input) != 3)
      node_.fail(fmt::format("the input '{}' has shape {}, expected batch x tokens x numbers",
                             node_.tensor(input).name, to_text(node_.shape(input))));
    const std::int64_t size = node_.shape(input)[2];
    if (node_.has(3)) {
      if (node_.rank(3) != 1 || bias_ + size > node_.shape(3)[0])
        node_.fail(
            fmt::format("the bias has shape {}, which is too small", to_text(node_.shape(3))));
      id = steps_.sum(id, steps_.part(node_.input(3), 0, bias_, size));
    }
    bias_ += size;
    return by_head(node_, id, count_);
  }

  Node& node_;
  Steps steps_;
  std::int64_t count_, bias_ = 0;
};

/// Inputs: query, key, value, bias, mask of keys, bias of the scores, past keys, past values.
void lower_multi_head_attention(Node& node) {
  constexpr std::size_t mask = 4, score_bias = 5, past = 6;
  Steps steps(node);
  Heads heads = SeparateHeads(node).heads();
  const std::int64_t before = join_past(node, past, heads);
  const Attended made = attend_fused(node, heads, {mask, score_bias}, before);
  node.give(0, without_heads(node, made.result));
  node.give(1, heads.keys);
  node.give(2, heads.values);
  node.give(3, made.product);
}

// Normalisation of sums

TensorId normalized_rows(Node& node, TensorId sum, const std::vector<TensorId>& scale_and_bias,
                         float epsilon) {
  Normalization op;
  op.axis = std::ssize(node.tensor(sum).shape) - 1;
  op.epsilon = node.attributes().number("epsilon", epsilon);
  op.centred = scale_and_bias.size() != 1;
  const Shape row{node.tensor(sum).shape.back()};
  std::vector<TensorId> inputs{sum};
  for (const TensorId id : scale_and_bias) {
    if (node.tensor(id).shape != row || node.tensor(id).type != node.tensor(sum).type)
      node.fail(fmt::format("'{}' is {} {}, expected {} {}", node.tensor(id).name,
                            to_text(node.tensor(id).type), to_text(node.tensor(id).shape),
                            to_text(node.tensor(sum).type), to_text(row)));
    inputs.push_back(id);
  }
  return node.add(op, inputs, {node.tensor(sum).type, node.tensor(sum).shape});
}

void no_moments(const Node& node) {
  if (node.wants(1) || node.wants(2))
    node.fail("something reads the mean or the deviation, which only training needs");
}

TensorId sum_of_skip(Node& node, std::size_t bias) {
  if (node.rank(0) < 1) node.fail("the input is a scalar");
  const TensorId sum = Steps(node).sum(node.input(0), node.input(1));
  if (node.tensor(sum).shape != node.shape(0))
    node.fail(fmt::format("'{}' of shape {} does not spread over {}", node.tensor(1).name,
                          to_text(node.shape(1)), to_text(node.shape(0))));
  return with_optional(node, sum, bias);
}

TensorId zeros(Node& node, std::int64_t count) {
  take_memory(node, {count * std::int64_t{sizeof(float)}});
  const std::vector<float> values(static_cast<std::size_t>(count), 0);
  return Steps(node).numbers({count}, values, node.type(0));
}

/// Inputs: input, skip, gamma, beta, bias. Output 3: the sum.
void lower_skip_layer_normalization(Node& node) {
  no_moments(node);
  const TensorId sum = sum_of_skip(node, 4);
  Steps steps(node);
  const TensorId beta = node.has(3) ? node.input(3) : zeros(node, steps.shape(sum).back());
  node.give(0, normalized_rows(node, sum, {node.input(2), beta}, 1e-12f));
  node.give(3, sum);
}

/// Inputs: input, skip, gamma, bias.
void lower_skip_rms_normalization(Node& node) {
  no_moments(node);
  const TensorId sum = sum_of_skip(node, 3);
  node.give(0, normalized_rows(node, sum, {node.input(2)}, 1e-12f));
  node.give(3, sum);
}

/// Inputs: numbers of words, of segments, tables of words, positions, segments, gamma, beta, mask,
/// positions. Outputs: normalised sums, how many words the mask has, sums.
void lower_embed_layer_normalization(Node& node) {
  Steps steps(node);
  if (node.rank(0) != 2 || node.rank(3) != 2)
    node.fail(fmt::format("the words are {} and the positions' table {}, expected two dimensions",
                          to_text(node.shape(0)), to_text(node.shape(3))));
  const std::int64_t batch = node.shape(0)[0], tokens = node.shape(0)[1];
  if (node.shape(3)[0] < tokens)
    node.fail(fmt::format("there are {} tokens, but {} positions", tokens, node.shape(3)[0]));
  TensorId sum = steps.gathered(node.input(2), node.input(0));
  sum = steps.sum(sum, node.has(8) ? steps.gathered(node.input(3), node.input(8))
                                   : steps.part(node.input(3), 0, 0, tokens));
  if (node.has(1) && node.has(4))
    sum = steps.sum(sum, steps.gathered(node.input(4), node.input(1)));
  node.give(0, normalized_rows(node, sum, {node.input(5), node.input(6)}, 1e-12f));
  if (node.has(7) && (node.shape(7) != node.shape(0) || node.type(7) != DataType::int32))
    node.fail(fmt::format("the mask '{}' is {} {}, expected int32 {}", node.tensor(7).name,
                          to_text(node.type(7)), to_text(node.shape(7)), to_text(node.shape(0))));
  if (node.wants(1)) {
    const Shape each{batch};
    take_memory(node, {batch * std::int64_t{sizeof(std::int32_t)}});
    const std::vector<std::int32_t> none(static_cast<std::size_t>(batch), 0);
    node.give(1, node.has(7)
                     ? node.add(Reduce{ReduceKind::sum, {1}}, {node.input(7)}, {node.type(7), each})
                     : node.add_constant(make_array<std::int32_t>(DataType::int32, each, none)));
  }
  node.give(2, sum);
}

// Functions

template <UnaryKind kind>
void lower_biased_function(Node& node) {
  node.give(0, Steps(node).function({kind}, with_optional(node, node.input(0), 1)));
}

void lower_quick_gelu(Node& node) {
  const double alpha = double{node.attributes().number("alpha", 1.702f)};
  node.give(0, Steps(node).function({UnaryKind::swish, alpha}, node.input(0)));
}

void lower_fused_mat_mul(Node& node) {
  for (const char* name : {"transBatchA", "transBatchB"})
    if (node.attributes().flag(name, false))
      node.fail(fmt::format("the attribute '{}' is not supported", name));
  Steps steps(node);
  const auto factor = [&](std::size_t input, const char* name) {
    const std::int64_t rank = node.rank(input);
    if (!node.attributes().flag(name, false) || rank < 2) return node.input(input);
    Shape order;
    for (std::int64_t i = 0; i < rank; ++i) order.push_back(i);
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    return steps.transposed(node.input(input), order);
  };
  const TensorId product = steps.product(factor(0, "transA"), factor(1, "transB"));
  node.give(0, steps.scaled(product, double{node.attributes().number("alpha", 1)}));
}

constexpr std::array table_of_fused{
    OperatorEntry{"com.microsoft.Attention", lower_fused_attention, 2, 7,
                  "do_rotary mask_filter_value num_heads past_present_share_buffer "
                  "qkv_hidden_sizes rotary_embedding_dim scale unidirectional"},
    OperatorEntry{"com.microsoft.BiasGelu", lower_biased_function<UnaryKind::gelu>, 2, 2, ""},
    OperatorEntry{"com.microsoft.EmbedLayerNormalization", lower_embed_layer_normalization, 1, 9,
                  "epsilon mask_index_type"},
    OperatorEntry{"com.microsoft.FastGelu", lower_biased_function<UnaryKind::gelu_tanh>, 1, 2, ""},
    OperatorEntry{"com.microsoft.FusedMatMul", lower_fused_mat_mul, 2, 2,
                  "alpha transA transB transBatchA transBatchB"},
    OperatorEntry{"com.microsoft.MultiHeadAttention", lower_multi_head_attention, 1, 8,
                  "mask_filter_value num_heads scale unidirectional"},
    OperatorEntry{"com.microsoft.QuickGelu", lower_quick_gelu, 1, 1, "alpha"},
    OperatorEntry{"com.microsoft.SkipLayerNormalization", lower_skip_layer_normalization, 3, 5,
                  "epsilon"},
    OperatorEntry{"com.microsoft.SkipSimplifiedLayerNormalization", lower_skip_rms_normalization, 3,
                  4, "epsilon"},
};

}  // namespace

std::span<const OperatorEntry> fused_operators() { return table_of_fused; }

}  // namespace millrace::formats::onnx
