// Operators of ai.onnx.ml that scikit-learn's converters write, but for trees and SVMClassifier.
#include <fmt/format.h>

#include <array>
#include <numeric>

#include "formats/onnx/operators/steps.h"
#include "formats/onnx/operators/tables.h"

namespace millrace::formats::onnx {
namespace {

using Numbers = std::vector<float>;

Numbers numbers_of(const Node& node, std::string_view name) {
  return node.attributes().numbers(name).value_or(Numbers{});
}

/// The features, rows of numbers, as float32.
TensorId features_of(Node& node) {
  if (node.rank(0) < 1 || node.rank(0) > 2)
    node.fail(
        fmt::format("the input has shape {}, expected rows of numbers", to_text(node.shape(0))));
  Steps steps(node);
  const TensorId features = steps.as(node.input(0), DataType::float32);
  return node.rank(0) == 2 ? features : steps.reshaped(features, {1, node.shape(0)[0]});
}

/// One for each feature, or one for all.
TensorId by_feature(Node& node, const Numbers& values, std::int64_t features,
                    std::string_view name) {
  const auto count = static_cast<std::int64_t>(values.size());
  if (count != 1 && count != features)
    node.fail(
        fmt::format("the attribute '{}' has {} numbers for {} features", name, count, features));
  return Steps(node).numbers({1, count}, values, DataType::float32);
}

void lower_scaler(Node& node) {
  Steps steps(node);
  TensorId result = features_of(node);
  const std::int64_t features = steps.shape(result).back();
  if (const Numbers offset = numbers_of(node, "offset"); !offset.empty())
    result = steps.combined(BinaryKind::sub, result, by_feature(node, offset, features, "offset"));
  if (const Numbers scale = numbers_of(node, "scale"); !scale.empty())
    result = steps.combined(BinaryKind::mul, result, by_feature(node, scale, features, "scale"));
  node.give(0, steps.reshaped(result, node.shape(0)));
}

/// A row of scores for each row of features.
TensorId linear(Node& node, std::int64_t rows) {
  Steps steps(node);
  const TensorId features = features_of(node);
  const std::int64_t columns = steps.shape(features).back();
  const Numbers coefficients = numbers_of(node, "coefficients");
  if (static_cast<std::int64_t>(coefficients.size()) != rows * columns)
    node.fail(fmt::format("there are {} coefficients, expected {} for {} results of {} features",
                          coefficients.size(), rows * columns, rows, columns));
  const TensorId weights = steps.numbers({rows, columns}, coefficients, DataType::float32);
  const TensorId scores = steps.product(features, steps.transposed(weights, {1, 0}));
  const Numbers intercepts = numbers_of(node, "intercepts");
  if (intercepts.empty()) return scores;
  if (static_cast<std::int64_t>(intercepts.size()) != rows)
    node.fail(fmt::format("there are {} intercepts for {} results", intercepts.size(), rows));
  return steps.sum(scores, steps.numbers({1, rows}, intercepts, DataType::float32));
}

TensorId transformed(Node& node, TensorId scores) {
  const std::string how = node.attributes().text("post_transform", "NONE");
  if (how == "NONE") return scores;
  if (how == "SOFTMAX") return Steps(node).softmax(scores);
  if (how == "LOGISTIC") return Steps(node).function({UnaryKind::sigmoid}, scores);
  node.fail(fmt::format(
      "the attribute 'post_transform' is '{}', expected NONE, SOFTMAX or LOGISTIC", how));
}

void lower_linear_regressor(Node& node) {
  const std::int64_t targets = node.attributes().integer("targets", 1);
  if (targets < 1) node.fail(fmt::format("there are {} targets, expected one at least", targets));
  node.give(0, transformed(node, linear(node, targets)));
}

/// Outputs: the class of the largest score, the scores. Of two classes there may be one score, of
/// the second.
void lower_linear_classifier(Node& node) {
  Shape classes = node.attributes().integers("classlabels_ints").value_or(Shape{});
  if (classes.empty() && node.wants(0))
    node.fail("its classes are texts, which no tensor here holds; leave the first output out");
  if (classes.empty()) classes.resize(node.attributes().texts("classlabels_strings").size());
  const auto count = static_cast<std::int64_t>(classes.size());
  const Numbers intercepts = numbers_of(node, "intercepts");
  if (count < 2 || intercepts.size() == 1)
    node.fail(
        fmt::format("it has {} classes and {} intercepts; expected two classes or more, and "
                    "a score for each",
                    count, intercepts.size()));
  Steps steps(node);
  const TensorId scores = linear(node, count);
  node.give(1, transformed(node, scores));
  if (!node.wants(0)) return;
  const Shape rows{steps.shape(scores).front()};
  const TensorId largest = node.add(ArgMax{1}, {scores}, {DataType::int64, rows});
  node.give(0, steps.gathered(steps.integers({count}, classes, DataType::int64), largest));
}

/// A row of kernel values for each row of features: how near it is to each support vector.
TensorId kernel_values(Node& node, TensorId features, std::int64_t vectors) {
  Steps steps(node);
  const std::int64_t columns = steps.shape(features).back();
  const Numbers support = numbers_of(node, "support_vectors");
  if (static_cast<std::int64_t>(support.size()) != vectors * columns)
    node.fail(fmt::format("the support vectors have {} numbers, expected {} for {} of {} features",
                          support.size(), vectors * columns, vectors, columns));
  const TensorId table = steps.numbers({vectors, columns}, support, DataType::float32);
  const std::string kind = node.attributes().text("kernel_type", "LINEAR");
  const Numbers given = numbers_of(node, "kernel_params");
  if (given.size() != 3 && kind != "LINEAR")
    node.fail(fmt::format("'kernel_params' has {} numbers, expected 3", given.size()));
  if (kind == "RBF") {
    const TensorId rows = steps.reshaped(features, {steps.shape(features)[0], 1, columns});
    const TensorId apart = steps.combined(BinaryKind::sub, rows, table);
    const TensorId squares = steps.combined(BinaryKind::mul, apart, apart);
    const Shape sums{steps.shape(features)[0], vectors};
    const TensorId sum =
        node.add(Reduce{ReduceKind::sum, {2}}, {squares}, {DataType::float32, sums});
    return steps.function({UnaryKind::exp}, steps.scaled(sum, -double{given[0]}));
  }
  const TensorId products = steps.product(features, steps.transposed(table, {1, 0}));
  if (kind == "LINEAR") return products;
  const TensorId scaled = steps.sum(steps.scaled(products, double{given[0]}),
                                    steps.number(double{given[1]}, DataType::float32));
  if (kind == "SIGMOID") return steps.function({UnaryKind::tanh}, scaled);
  if (kind != "POLY")
    node.fail(fmt::format("'kernel_type' is '{}', expected LINEAR, POLY, RBF or SIGMOID", kind));
  return steps.combined(BinaryKind::pow, scaled,
                        steps.number(double{given[2]}, DataType::float32));
}

/// Without support vectors the coefficients are those of the features.
void lower_svm_regressor(Node& node) {
  if (node.attributes().integer("one_class", 0) != 0)
    node.fail("the attribute 'one_class' is 1, expected 0");
  Steps steps(node);
  const Numbers coefficients = numbers_of(node, "coefficients"), rho = numbers_of(node, "rho");
  const std::int64_t vectors = node.attributes().integer("n_supports", 0);
  TensorId values = features_of(node);
  if (vectors > 0) values = kernel_values(node, values, vectors);
  if (std::ssize(coefficients) != steps.shape(values).back() || rho.size() != 1)
    node.fail(fmt::format("there are {} coefficients and {} numbers 'rho', expected {} and 1",
                          coefficients.size(), rho.size(), steps.shape(values).back()));
  const TensorId column = steps.numbers({std::ssize(coefficients), 1}, coefficients,
                                        DataType::float32);
  const TensorId sums = steps.sum(steps.product(values, column),
                                  steps.number(double{rho[0]}, DataType::float32));
  node.give(0, transformed(node, sums));
}

/// Scores stay rows of a tensor: there are no maps from classes to scores.
void lower_zip_map(Node& node) { node.give(0, node.input(0)); }

constexpr std::array table_of_learned{
    OperatorEntry{"ai.onnx.ml.LinearClassifier", lower_linear_classifier, 1, 1,
                  "classlabels_ints classlabels_strings coefficients intercepts multi_class "
                  "post_transform"},
    OperatorEntry{"ai.onnx.ml.LinearRegressor", lower_linear_regressor, 1, 1,
                  "coefficients intercepts post_transform targets"},
    OperatorEntry{"ai.onnx.ml.SVMRegressor", lower_svm_regressor, 1, 1,
                  "coefficients kernel_params kernel_type n_supports one_class post_transform rho "
                  "support_vectors"},
    OperatorEntry{"ai.onnx.ml.Scaler", lower_scaler, 1, 1, "offset scale"},
    OperatorEntry{"ai.onnx.ml.ZipMap", lower_zip_map, 1, 1,
                  "classlabels_int64s classlabels_strings"},
};

}  // namespace

std::span<const OperatorEntry> learned_operators() { return table_of_learned; }

}  // namespace millrace::formats::onnx
