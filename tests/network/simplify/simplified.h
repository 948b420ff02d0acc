#pragma once
// Networks made by hand, and what the passes make of them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "network/evaluate/evaluate.h"
#include "network/simplify/simplify.h"
#include "support/compare.h"
#include "support/onnx_model.h"

namespace millrace::network {

/// Adds tensors and layers to a network by hand, as no reader has simplified it.
class Maker {
 public:
  TensorId input(Shape shape) {
    network.inputs.push_back(tensor(std::move(shape)));
    return network.inputs.back();
  }
  TensorId constant(const Shape& shape, float low = -1, float high = 1) {
    std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
    for (float& value : values) value = random_.uniform(low, high);
    const TensorId id = tensor(shape);
    network.tensors[id.index].constant = test::floats(shape, values);
    return id;
  }
  TensorId layer(Operator op, std::vector<TensorId> inputs, Shape shape) {
    const TensorId id = tensor(std::move(shape));
    network.layers.push_back(
        {fmt::format("layer{}", network.layers.size()), std::move(op), std::move(inputs), {id}});
    return id;
  }
  TensorId normalization(TensorId data, std::int64_t channels) {
    const Shape shape = network[data].shape;
    return layer(BatchNormalization{1e-3f},
                 {data, constant({channels}), constant({channels}), constant({channels}),
                  constant({channels}, 0.5f, 2)},
                 shape);
  }
  TensorId binary(BinaryKind kind, TensorId a, TensorId b) {
    const Shape shape = *broadcast(network[a].shape, network[b].shape);
    return layer(Binary{kind}, {a, b}, shape);
  }
  Array frame(const Shape& shape) {
    std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
    for (float& value : values) value = random_.uniform(-1, 1);
    return test::floats(shape, values);
  }

  Network network;

 private:
  TensorId tensor(Shape shape) {
    network.tensors.push_back({fmt::format("t{}", network.tensors.size()), DataType::float32,
                               std::move(shape), std::nullopt});
    return TensorId(network.tensors.size() - 1);
  }
  Random random_{7};
};

/// Simplifies, and checks that the outputs stay what they were.
inline Network simplified(Maker& maker) {
  validate(maker.network);
  Network result = maker.network;
  for (auto* pass : {fold_constants, merge_reshapes, fold_padding, cut_unseen_taps,
                     fold_batch_normalization, weigh_before_enlarging, remove_unused}) {
    result = pass(std::move(result));
    validate(result);
  }
  const Array frame = maker.frame(maker.network[maker.network.inputs[0]].shape);
  const std::vector<Array> before = evaluate(maker.network, std::vector{frame});
  const std::vector<Array> after = evaluate(result, std::vector{frame});
  EXPECT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_LT(test::relative_error(after[i], before[i]), 1e-5);
  return result;
}

inline Window window_of_3() { return {{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}; }

}  // namespace millrace::network
