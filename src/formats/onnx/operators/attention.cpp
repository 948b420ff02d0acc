// ONNX's Attention and RotaryEmbedding.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "formats/onnx/operators/attend.h"
#include "formats/onnx/operators/tables.h"
#include "formats/onnx/types.h"

namespace millrace::formats::onnx {
namespace {

constexpr float never = -std::numeric_limits<float>::infinity();

class StandardAttention {
 public:
  explicit StandardAttention(Node& node) : node_(node), steps_(node) {}

  void run() {
    find_heads();
    past_ = join_past(node_, past_key, heads_);
    if (node_.has(past_key) && node_.has(used_keys))
      node_.fail("'nonpad_kv_seqlen' is there together with 'past_key'");
    check_heads(node_, heads_);
    Scores scores;
    const double head_size = static_cast<double>(steps_.shape(heads_.queries).back());
    scores.scale =
        double{node_.attributes().number("scale", static_cast<float>(1 / std::sqrt(head_size)))};
    scores.softcap = double{node_.attributes().number("softcap", 0)};
    find_bias(scores);
    give(attend(node_, heads_, scores));
  }

 private:
  TensorId heads_of(std::size_t input, const char* attribute) {
    is_flat_ = node_.rank(input) == 3;
    if (is_flat_)
      return by_head(node_, node_.input(input), node_.attributes().required_integer(attribute));
    if (node_.rank(input) != 4)
      node_.fail(fmt::format("the input '{}' has shape {}, expected three or four dimensions",
                             node_.tensor(input).name, to_text(node_.shape(input))));
    return node_.input(input);
  }

  void find_heads() {
    heads_ = {heads_of(0, "q_num_heads"), heads_of(1, "kv_num_heads"), heads_of(2, "kv_num_heads")};
    if (node_.rank(0) != node_.rank(1) || node_.rank(0) != node_.rank(2))
      node_.fail("queries, keys and values differ in their number of dimensions");
  }

  void find_bias(Scores& scores) {
    const DataType type = steps_.type(heads_.queries);
    if (node_.has(mask)) add_bias(node_, scores.bias, mask_bias(type));
    const auto window = [&](const char* name) {
      const std::int64_t size = node_.attributes().integer(name, -1);
      if (size < -1)
        node_.fail(fmt::format("the attribute '{}' is {}, expected -1 or more", name, size));
      return size;
    };
    Sight sight{steps_.shape(heads_.queries)[2],
                steps_.shape(heads_.keys)[2],
                past_,
                node_.attributes().flag("is_causal", false),
                window("left_window_size"),
                window("right_window_size")};
    const bool looks = sight.causal || sight.left >= 0 || sight.right >= 0;
    if (node_.has(used_keys))
      add_bias(node_, scores.bias, used_bias(sight, type));
    else if (looks)
      add_bias(node_, scores.bias, sight_bias(node_, sight, never, type));
    scores.may_mask_all = scores.bias && (node_.has(mask) || node_.has(used_keys) ||
                                          sight.left >= 0 || sight.right >= 0);
  }

  /// The bias of a mask of booleans or numbers; keys that it does not reach are masked.
  TensorId mask_bias(DataType type) {
    TensorId result = node_.input(mask);
    if (node_.type(mask) == DataType::boolean)
      result = steps_.chosen(result, steps_.number(0, type), steps_.number(double{never}, type));
    Shape rest = steps_.shape(result);
    const std::int64_t keys = steps_.shape(heads_.keys)[2];
    if (rest.empty()) node_.fail("the mask is a scalar");
    const bool spreads = rest.back() == 1 && node_.opset() < 24;  // later it is a mask of one key
    if (rest.back() == keys || spreads) return result;
    rest.back() = keys - rest.back();
    if (rest.back() < 0)
      node_.fail(fmt::format("the mask has shape {}, but there are {} keys",
                             to_text(steps_.shape(result)), keys));
    take_memory(node_, {element_count(rest) * std::int64_t{sizeof(float)}});
    const std::vector<float> values(static_cast<std::size_t>(element_count(rest)), never);
    return steps_.joined({result, steps_.numbers(rest, values, type)}, rest.size() - 1);
  }

  /// Each image of the batch has keys of its own number; the last query is behind the last of them.
  TensorId used_bias(const Sight& sight, DataType type) {
    const Shape shape = node_.shape(used_keys);
    if (node_.type(used_keys) != DataType::int64 || shape != Shape{steps_.shape(heads_.keys)[0]})
      node_.fail(fmt::format(
          "'nonpad_kv_seqlen' is {} {}, expected int64 and one for each of the {} "
          "in the batch",
          to_text(node_.type(used_keys)), to_text(shape), steps_.shape(heads_.keys)[0]));
    const TensorId used = steps_.reshaped(node_.input(used_keys), {shape[0], 1, 1, 1});
    TensorId allowed = steps_.holds(CompareKind::less, positions(1, sight.keys, 0, 1), used);
    const TensorId before =
        steps_.sum(used, positions(sight.queries, sight.keys, -sight.queries, -1));
    const auto also = [&](CompareKind kind, std::int64_t limit) {
      allowed = steps_.combined(BinaryKind::logical_and, allowed,
                                steps_.holds(kind, before, number(limit)));
    };
    if (sight.causal) also(CompareKind::greater_or_equal, 0);
    if (sight.left >= 0) also(CompareKind::less_or_equal, sight.left);
    if (sight.right >= 0) also(CompareKind::greater_or_equal, -sight.right);
    return steps_.chosen(allowed, steps_.number(0, type), steps_.number(double{never}, type));
  }

  /// i + first + sign * j, of row i and column j.
  TensorId positions(std::int64_t rows, std::int64_t columns, std::int64_t first,
                     std::int64_t sign) {
    take_memory(node_, {element_count({rows, columns}, node_.place()) *
                        std::int64_t{sizeof(std::int64_t)}});
    std::vector<std::int64_t> values;
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) values.push_back(i + first + sign * j);
    return steps_.integers({1, 1, rows, columns}, values, DataType::int64);
  }
  TensorId number(std::int64_t n) { return steps_.integers({}, {n}, DataType::int64); }

  void give(const Attended& made) {
    node_.give(0, is_flat_ ? without_heads(node_, made.result) : made.result);
    node_.give(1, heads_.keys);
    node_.give(2, heads_.values);
    const std::int64_t mode = node_.attributes().integer("qk_matmul_output_mode", 0);
    if (mode < 0 || mode > 3)
      node_.fail(fmt::format("the attribute 'qk_matmul_output_mode' is {}, expected 0 to 3", mode));
    const std::array steps{made.product, made.capped, made.biased, made.probabilities};
    node_.give(3, steps[static_cast<std::size_t>(mode)]);
  }

  static constexpr std::size_t mask = 3, past_key = 4, used_keys = 6;
  Node& node_;
  Steps steps_;
  Heads heads_;
  bool is_flat_ = false;
  std::int64_t past_ = 0;
};

void lower_attention(Node& node) { StandardAttention(node).run(); }

/// Along the last dimension.
TensorId every_second(Node& node, TensorId id, std::int64_t first) {
  Shape result = node.tensor(id).shape;
  Slice op{Shape(result.size(), 0), Shape(result.size(), 1)};
  op.starts.back() = first;
  op.steps.back() = 2;
  result.back() = (result.back() - first + 1) / 2;
  return node.add(op, {id}, {node.tensor(id).type, result});
}

/// Pairs of numbers are turned by angles that depend on the token: in halves, or each with its
/// neighbour.
TensorId turned(Node& node, TensorId x, TensorId cosines, TensorId sines) {
  Steps steps(node);
  const bool interleaved = node.attributes().flag("interleaved", false);
  const std::int64_t half = steps.shape(x).back() / 2;
  const std::size_t last = steps.shape(x).size() - 1;
  const TensorId a = interleaved ? every_second(node, x, 0) : steps.part(x, last, 0, half);
  const TensorId b = interleaved ? every_second(node, x, 1) : steps.part(x, last, half, half);
  const auto mul = [&](TensorId p, TensorId q) { return steps.combined(BinaryKind::mul, p, q); };
  TensorId real = steps.combined(BinaryKind::sub, mul(a, cosines), mul(b, sines));
  TensorId imaginary = steps.sum(mul(a, sines), mul(b, cosines));
  if (!interleaved) return steps.joined({real, imaginary}, last);
  Shape pair = steps.shape(real);
  pair.push_back(1);
  const TensorId pairs =
      steps.joined({steps.reshaped(real, pair), steps.reshaped(imaginary, pair)}, last + 1);
  return steps.reshaped(pairs, steps.shape(x));
}

/// Cosines or sines of the angles of the tokens, as batch x tokens x 1 x half.
TensorId angles(Node& node, std::size_t input, const Shape& x, std::int64_t half) {
  Steps steps(node);
  TensorId found = node.input(input);
  if (node.has(3)) found = steps.gathered(found, node.input(3));
  const Shape shape = steps.shape(found);
  const bool fit = shape.size() == 3 && shape[1] == x[1] && shape[2] == half &&
                   (shape[0] == x[0] || shape[0] == 1);
  if (!fit)
    node.fail(fmt::format("the input '{}' gives angles of shape {}, expected {}x{}x{}",
                          node.tensor(input).name, to_text(shape), x[0], x[1], half));
  return steps.reshaped(found, {shape[0], shape[1], 1, half});
}

void lower_rotary_embedding(Node& node) {
  Steps steps(node);
  const Shape given = node.shape(0);
  TensorId x = node.input(0);
  const std::int64_t heads = node.attributes().integer("num_heads", 0);
  if (given.size() == 4)
    x = steps.transposed(x, {0, 2, 1, 3});
  else if (given.size() == 3 && heads > 0 && given[2] % heads == 0)
    x = steps.reshaped(x, {given[0], given[1], heads, given[2] / heads});
  else
    node.fail(
        fmt::format("the input has shape {} and 'num_heads' is {}, expected batch x heads x "
                    "tokens x numbers, or batch x tokens x numbers for these heads",
                    to_text(given), heads));
  const Shape shape = steps.shape(x);
  std::int64_t width = node.attributes().integer("rotary_embedding_dim", 0);
  if (width == 0) width = shape[3];
  if (width < 0 || width > shape[3] || width % 2 != 0)
    node.fail(
        fmt::format("the attribute 'rotary_embedding_dim' is {}, expected an even number up to "
                    "{}",
                    width, shape[3]));
  const TensorId result =
      turned(node, steps.part(x, 3, 0, width), angles(node, 1, shape, width / 2),
             angles(node, 2, shape, width / 2));
  const TensorId whole = width == shape[3]
                             ? result
                             : steps.joined({result, steps.part(x, 3, width, shape[3] - width)}, 3);
  node.give(
      0, given.size() == 4 ? steps.transposed(whole, {0, 2, 1, 3}) : steps.reshaped(whole, given));
}

constexpr std::array table_of_attention{
    OperatorEntry{"Attention", lower_attention, 3, 7,
                  "is_causal kv_num_heads left_window_size q_num_heads qk_matmul_output_mode "
                  "right_window_size scale softcap softmax_precision"},
    OperatorEntry{"RotaryEmbedding", lower_rotary_embedding, 3, 4,
                  "interleaved num_heads rotary_embedding_dim"},
};

}  // namespace

std::span<const OperatorEntry> attention_operators() { return table_of_attention; }

}  // namespace millrace::formats::onnx
