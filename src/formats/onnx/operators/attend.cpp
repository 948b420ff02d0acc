#include "formats/onnx/operators/attend.h"

#include <fmt/format.h>

#include <limits>

namespace millrace::formats::onnx {
namespace {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

/// Heads of queries that share a head of keys become its rows.
Shape grouped_rows(const Shape& of, std::int64_t key_heads) {
  return {of[0], key_heads, of[1] / key_heads * of[2], of[3]};
}

TensorId zero_where_all_masked(Steps& steps, Node& node, TensorId bias, TensorId id) {
  Shape one = steps.shape(bias);
  const auto last = static_cast<std::int64_t>(one.size()) - 1;
  one.back() = 1;
  const TensorId largest =
      node.add(Reduce{ReduceKind::max, {last}}, {bias}, {steps.type(bias), one});
  const TensorId masked =
      node.add(Test{TestKind::is_inf, true, false}, {largest}, {DataType::boolean, one});
  return steps.chosen(masked, steps.number(0, steps.type(id)), id);
}

}  // namespace

std::int64_t join_past(Node& node, std::size_t past, Heads& heads) {
  if (node.has(past) != node.has(past + 1))
    node.fail("'past_key' and 'past_value' must be there together");
  if (!node.has(past)) return 0;
  if (node.rank(past) != 4 || node.rank(past + 1) != 4)
    node.fail("'past_key' and 'past_value' must have four dimensions");
  Steps steps(node);
  heads.keys = steps.joined({node.input(past), heads.keys}, 2);
  heads.values = steps.joined({node.input(past + 1), heads.values}, 2);
  return node.shape(past)[2];
}

void check_heads(const Node& node, const Heads& heads) {
  for (const TensorId id : {heads.queries, heads.keys, heads.values}) {
    const DataType type = node.tensor(id).type;
    if (type != DataType::float32 && type != DataType::float16 && type != DataType::float64)
      node.fail(fmt::format("'{}' has type {}, expected floating-point numbers",
                            node.tensor(id).name, to_text(type)));
  }
  const Shape &q = node.tensor(heads.queries).shape, &k = node.tensor(heads.keys).shape,
              &v = node.tensor(heads.values).shape;
  const bool fit = q.size() == 4 && k.size() == 4 && v.size() == 4 && q[0] == k[0] &&
                   k[0] == v[0] && k[1] == v[1] && k[2] == v[2] && q[3] == k[3] && k[1] > 0 &&
                   q[1] % k[1] == 0;
  if (!fit)
    node.fail(
        fmt::format("queries {}, keys {} and values {} do not fit: batch x heads x tokens x "
                    "numbers",
                    to_text(q), to_text(k), to_text(v)));
}

Attended attend(Node& node, const Heads& heads, const Scores& scores) {
  Steps steps(node);
  const Shape q = steps.shape(heads.queries), k = steps.shape(heads.keys);
  check_heads(node, heads);
  const TensorId rows =
      steps.reshaped(steps.scaled(heads.queries, scores.scale), grouped_rows(q, k[1]));
  const TensorId products = steps.product(rows, steps.transposed(heads.keys, {0, 1, 3, 2}));
  Attended made;
  made.product = steps.reshaped(products, {q[0], q[1], q[2], k[2]});
  made.capped = made.product;
  if (scores.softcap > 0) {
    const TensorId small = steps.scaled(made.product, 1 / scores.softcap);
    made.capped = steps.scaled(steps.function({UnaryKind::tanh}, small), scores.softcap);
  }
  made.biased = scores.bias ? steps.sum(made.capped, *scores.bias) : made.capped;
  made.probabilities = steps.softmax(made.biased);
  if (scores.bias && scores.may_mask_all)
    made.probabilities = zero_where_all_masked(steps, node, *scores.bias, made.probabilities);
  const Shape shape = steps.shape(made.probabilities);
  const TensorId weights = steps.reshaped(made.probabilities, grouped_rows(shape, k[1]));
  const TensorId sums = steps.product(weights, heads.values);
  made.result = steps.reshaped(sums, {q[0], q[1], q[2], steps.shape(heads.values)[3]});
  return made;
}

TensorId by_head(Node& node, TensorId id, std::int64_t heads) {
  Steps steps(node);
  const Shape shape = steps.shape(id);
  if (shape.size() != 3 || heads < 1 || shape[2] % heads != 0)
    node.fail(fmt::format("'{}' has shape {}, expected batch x tokens x numbers for {} heads",
                          node.tensor(id).name, to_text(shape), heads));
  const TensorId split = steps.reshaped(id, {shape[0], shape[1], heads, shape[2] / heads});
  return steps.transposed(split, {0, 2, 1, 3});
}

TensorId without_heads(Node& node, TensorId id) {
  Steps steps(node);
  const Shape shape = steps.shape(id);
  return steps.reshaped(steps.transposed(id, {0, 2, 1, 3}),
                        {shape[0], shape[2], shape[1] * shape[3]});
}

void add_bias(Node& node, std::optional<TensorId>& bias, TensorId more) {
  bias = bias ? Steps(node).sum(*bias, more) : more;
}

bool Sight::sees(std::int64_t query, std::int64_t key) const {
  const std::int64_t before = query + offset - key;  // how far the key lies to the left
  return (!causal || before >= 0) && (left < 0 || before <= left) &&
         (right < 0 || -before <= right);
}

TensorId sight_bias(Node& node, const Sight& sight, float masked, DataType type) {
  take_memory(node, {element_count({sight.queries, sight.keys}, node.place()) *
                     std::int64_t{sizeof(float)}});
  std::vector<float> values;
  for (std::int64_t i = 0; i < sight.queries; ++i)
    for (std::int64_t j = 0; j < sight.keys; ++j) values.push_back(sight.sees(i, j) ? 0 : masked);
  return Steps(node).numbers({sight.queries, sight.keys}, values, type);
}

}  // namespace millrace::formats::onnx
