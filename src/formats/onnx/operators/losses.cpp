// Losses of classifiers, which some models bring to their end.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "formats/onnx/node/node.h"
#include "formats/onnx/operators/tables.h"

namespace millrace::formats::onnx {
namespace {

template <class T>
TensorId scalar(Node& node, DataType type, T value) {
  const std::vector<T> values{value};
  return node.add_constant(make_array<T>(type, {}, values));
}

/// What a loss is made of: the target's shape is that of all its parts.
class Loss {
 public:
  Loss(Node& node, TensorId log_probabilities) : node_(node), scores_(log_probabilities) {
    const Shape& scores = node.tensor(scores_).shape;
    shape_ = node.shape(1);
    Shape expected = scores;
    if (scores.size() > 1) expected.erase(expected.begin() + 1);
    const DataType type = node.type(1);
    if (scores.size() < 2 || shape_ != expected || node.type(0) != DataType::float32 ||
        (type != DataType::int64 && type != DataType::int32))
      node.fail(
          fmt::format("the scores are {} {} and the classes {} {}, expected float32 scores "
                      "for every class, and int64 classes without that dimension",
                      to_text(node.type(0)), to_text(scores), to_text(type), to_text(shape_)));
    if (node.has(2) && (node.shape(2) != Shape{scores[1]} || node.type(2) != node.type(0)))
      node.fail(fmt::format("the weights '{}' are {}, expected one for each of the {} classes",
                            node.tensor(2).name, to_text(node.shape(2)), scores[1]));
  }

  TensorId result() {
    const std::string reduction = node_.attributes().text("reduction", "mean");
    if (reduction != "none" && reduction != "sum" && reduction != "mean")
      node_.fail(
          fmt::format("the attribute 'reduction' is '{}', expected none, sum or mean", reduction));
    find_classes();
    const TensorId loss = losses();
    if (reduction == "none") return loss;
    if (reduction == "sum") return reduced(ReduceKind::sum, loss);
    if (!weights_) return reduced(ReduceKind::mean, loss);
    return node_.add(Binary{BinaryKind::div},
                     {reduced(ReduceKind::sum, loss), reduced(ReduceKind::sum, *weights_)},
                     {DataType::float32, {}});
  }

 private:
  /// Classes that do not count become class 0, with the weight 0.
  void find_classes() {
    classes_ = node_.input(1);
    const DataType type = node_.type(1);
    const bool ignores = node_.attributes().has("ignore_index");
    std::optional<TensorId> ignored;
    if (ignores) {
      const std::int64_t index = node_.attributes().integer("ignore_index", 0);
      const TensorId wide = scalar<std::int64_t>(node_, DataType::int64, index);
      const TensorId like = type == DataType::int64 ? wide : cast(wide, type);
      ignored =
          node_.add(Compare{CompareKind::equal}, {classes_, like}, {DataType::boolean, shape_});
      const TensorId wide_zero = scalar<std::int64_t>(node_, DataType::int64, 0);
      const TensorId zero = type == DataType::int64 ? wide_zero : cast(wide_zero, type);
      classes_ = node_.add(Where{}, {*ignored, zero, classes_}, {type, shape_});
    }
    if (node_.has(2))
      weights_ = node_.add(Gather{0}, {node_.input(2), classes_}, {DataType::float32, shape_});
    if (!ignored) return;
    const TensorId zero = scalar<float>(node_, DataType::float32, 0);
    const TensorId one = scalar<float>(node_, DataType::float32, 1);
    weights_ =
        node_.add(Where{}, {*ignored, zero, weights_.value_or(one)}, {DataType::float32, shape_});
  }

  TensorId losses() {
    Shape column = shape_;
    column.insert(column.begin() + 1, 1);
    const TensorId indices = node_.add(Reshape{}, {classes_}, {node_.type(1), column});
    const TensorId picked =
        node_.add(GatherElements{1}, {scores_, indices}, {DataType::float32, column});
    const TensorId flat = node_.add(Reshape{}, {picked}, {DataType::float32, shape_});
    const TensorId loss = node_.add(Unary{UnaryKind::neg}, {flat}, {DataType::float32, shape_});
    if (!weights_) return loss;
    return node_.add(Binary{BinaryKind::mul}, {loss, *weights_}, {DataType::float32, shape_});
  }

  TensorId cast(TensorId id, DataType type) { return node_.add(Cast{}, {id}, {type, Shape()}); }
  TensorId reduced(ReduceKind kind, TensorId id) {
    Shape axes(shape_.size());
    std::iota(axes.begin(), axes.end(), 0);
    return node_.add(Reduce{kind, axes}, {id}, {DataType::float32, {}});
  }

  Node& node_;
  TensorId scores_, classes_;
  Shape shape_;
  std::optional<TensorId> weights_;
};

void lower_negative_log_likelihood(Node& node) { node.give(0, Loss(node, node.input(0)).result()); }

void lower_soft_max_cross_entropy(Node& node) {
  if (node.rank(0) < 2)
    node.fail(fmt::format("the scores are {}, expected batch and classes", to_text(node.shape(0))));
  const Shape shape = node.shape(0);
  const TensorId logs = node.add(Softmax{1, 2, true}, {node.input(0)}, {node.type(0), shape});
  node.give(0, Loss(node, logs).result());
  node.give(1, logs);
}

constexpr std::array table_of_losses{
    OperatorEntry{"NegativeLogLikelihoodLoss", lower_negative_log_likelihood, 2, 3,
                  "ignore_index reduction"},
    OperatorEntry{"SoftmaxCrossEntropyLoss", lower_soft_max_cross_entropy, 2, 3,
                  "ignore_index reduction"},
};

}  // namespace

std::span<const OperatorEntry> loss_operators() { return table_of_losses; }

}  // namespace millrace::formats::onnx
