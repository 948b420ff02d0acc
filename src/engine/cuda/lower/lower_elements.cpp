// Element by element.
#include <cmath>

#include "engine/cuda/lower/element_start.h"
#include "engine/cuda/lower/lower.h"
#include "engine/cuda/lower/places.h"

namespace millrace::engine::cuda {
namespace {

/// The input that the first function is given; of two, one that fills the result if there is one.
TensorId first_input(const Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const network::Shape& shape = builder.tensor(layer.outputs[0]).shape;
  const auto fills = [&](std::size_t i) { return builder.tensor(layer.inputs[i]).shape == shape; };
  const bool second = std::holds_alternative<network::Binary>(layer.op) && !fills(0) && fills(1);
  return layer.inputs[second ? 1 : 0];
}

/// (x - mean) * scale / sqrt(variance + epsilon) + bias. All but x are constants.
void add_normalization(Builder& builder, Tail& tail, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const auto& op = std::get<network::BatchNormalization>(layer.op);
  const auto numbers = [&](std::size_t i) {
    return builder.tensor(layer.inputs[i]).constant->values<float>();
  };
  const auto scale = numbers(1), variance = numbers(4);
  std::vector<float> factors(scale.size());
  for (std::size_t c = 0; c < factors.size(); ++c)
    factors[c] = scale[c] / std::sqrt(variance[c] + op.epsilon);
  tail.add_by_channel(function_sub, builder.value(layer.inputs[3]));
  tail.add_by_channel(function_mul, builder.constant(factors));
  tail.add_by_channel(function_add, builder.value(layer.inputs[2]));
}

Launch launch_of(const std::string& kernel, const network::Shape& shape) {
  return for_each_element(kernel, network::element_count(shape));
}

template <class Work>
void set_shape(Work& work, const JointShape& all) {
  work.dimensions = static_cast<int>(all.shape.size());
  set(work.shape, all.shape);
  work.count = static_cast<unsigned>(network::element_count(all.shape));
}

/// The inputs spread over the output, all plain.
JointShape spread_inputs(const Builder& builder, const network::Layer& layer) {
  const network::Shape& shape = builder.tensor(layer.outputs[0]).shape;
  JointShape all{shape, {network::strides_of(shape)}};
  for (const TensorId input : layer.inputs)
    all.strides.push_back(spread_strides(builder.tensor(input), Form::plain, shape));
  return joined(all);
}

}  // namespace

void lower_elements(Builder& builder, const Group& group) {
  const network::Layer& head = builder.layer(group.head);
  const TensorId from = first_input(builder, group.head);
  const TensorId to = result_of(builder.network(), group);
  const network::Tensor& result = builder.tensor(to);
  const Value in = builder.value(from);
  Tail tail(builder, result.shape, all_dimensions_of(result.shape));
  if (std::holds_alternative<network::BatchNormalization>(head.op))
    add_normalization(builder, tail, group.head);
  else
    tail.add_layer(group.head, from);
  tail.add(group);

  const Value out =
      builder.make(to, builder.tensor(from).shape == result.shape ? in.form : Form::plain);
  Touched touched{tail.operands(), {out}};
  touched.reads.push_back(in);
  builder.name_kernel("millrace_elements");
  builder.step(touched, element_start(builder, {from, in}, {to, out}, tail));
}

void lower_cast(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const Value in = builder.plain(layer.inputs[0]), out = builder.make(layer.outputs[0]);
  const network::Shape& shape = builder.tensor(layer.outputs[0]).shape;
  CastWork work{};
  work.count = static_cast<unsigned>(network::element_count(shape));
  work.in.element = element_of(builder.tensor(layer.inputs[0]).type);
  work.out.element = element_of(builder.tensor(layer.outputs[0]).type);
  builder.launch(launch_of("millrace_cast", shape), {{in}, {out}}, [=](const Execution& execution) {
    CastWork placed = work;
    placed.in.data = execution.pointer(in);
    placed.out.data = execution.pointer(out);
    return placed;
  });
}

namespace {

Comparison comparison_of(network::CompareKind kind) {
  switch (kind) {
    case network::CompareKind::equal:
      return compare_equal;
    case network::CompareKind::less:
      return compare_less;
    case network::CompareKind::less_or_equal:
      return compare_less_equal;
    case network::CompareKind::greater:
      return compare_greater;
    default:
      return compare_greater_equal;
  }
}

}  // namespace

void lower_compare(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const JointShape all = spread_inputs(builder, layer);
  const Value a = builder.plain(layer.inputs[0]), b = builder.plain(layer.inputs[1]);
  const Value out = builder.make(layer.outputs[0]);
  const Element element = element_of(builder.tensor(layer.inputs[0]).type);
  CompareWork work{};
  set_shape(work, all);
  work.comparison = comparison_of(std::get<network::Compare>(layer.op).kind);
  work.out = place_with(element_boolean, all.strides[0]);
  work.a = place_with(element, all.strides[1]);
  work.b = place_with(element, all.strides[2]);
  builder.launch(launch_of("millrace_compare", all.shape), {{a, b}, {out}},
                 [=](const Execution& execution) {
                   CompareWork placed = work;
                   placed.a.data = execution.pointer(a);
                   placed.b.data = execution.pointer(b);
                   placed.out.data = execution.pointer(out);
                   return placed;
                 });
}

void lower_where(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const JointShape all = spread_inputs(builder, layer);
  const Value condition = builder.plain(layer.inputs[0]);
  const Value a = builder.plain(layer.inputs[1]), b = builder.plain(layer.inputs[2]);
  const Value out = builder.make(layer.outputs[0]);
  const network::DataType type = builder.tensor(layer.outputs[0]).type;
  SelectWork work{};
  set_shape(work, all);
  work.bytes = static_cast<int>(network::size_of(type).count);
  work.out = place_with(element_of(type), all.strides[0]);
  work.condition = place_with(element_boolean, all.strides[1]);
  work.a = place_with(element_of(type), all.strides[2]);
  work.b = place_with(element_of(type), all.strides[3]);
  builder.launch(launch_of("millrace_select", all.shape), {{condition, a, b}, {out}},
                 [=](const Execution& execution) {
                   SelectWork placed = work;
                   placed.condition.data = execution.pointer(condition);
                   placed.a.data = execution.pointer(a);
                   placed.b.data = execution.pointer(b);
                   placed.out.data = execution.pointer(out);
                   return placed;
                 });
}

}  // namespace millrace::engine::cuda
