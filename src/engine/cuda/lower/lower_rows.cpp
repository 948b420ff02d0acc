// Over all elements of a row: Reduce, Softmax, Normalization and ArgMax.
#include <algorithm>
#include <array>

#include "engine/cuda/lower/lower.h"
#include "engine/cuda/lower/places.h"

namespace millrace::engine::cuda {
namespace {

using network::ReduceKind;

// In the order of network::ReduceKind.
constexpr std::array reductions{
    reduction_mean, reduction_min, reduction_max,     reduction_sum,         reduction_prod,
    reduction_l1,   reduction_l2,  reduction_log_sum, reduction_log_sum_exp, reduction_sum_square};
static_assert(reductions.size() == static_cast<std::size_t>(ReduceKind::sum_square) + 1);

/// Some dimensions of a tensor, as a kernel numbers them.
struct Part {
  network::Shape shape, strides;
};
Part part_of(const Part& all, const std::vector<bool>& chosen) {
  JointShape part{{}, {{}}};
  const auto& [shape, strides] = all;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (!chosen[d]) continue;
    part.shape.push_back(shape[d]);
    part.strides[0].push_back(strides[d]);
  }
  const JointShape few = joined(part);
  return {few.shape, few.strides[0]};
}

ReduceWork work_of(const network::Reduce& op, const network::Shape& shape, Form form) {
  const Part all{shape, strides_of(form, shape)};
  std::vector<bool> is_reduced(shape.size()), is_kept(shape.size(), true);
  for (const std::int64_t axis : op.axes) {
    is_reduced[static_cast<std::size_t>(axis)] = true;
    is_kept[static_cast<std::size_t>(axis)] = false;
  }
  const Part kept = part_of(all, is_kept), reduced = part_of(all, is_reduced);
  ReduceWork work{};
  work.reduction = reductions[static_cast<std::size_t>(op.kind)];
  work.kept_dimensions = static_cast<int>(kept.shape.size());
  work.reduced_dimensions = static_cast<int>(reduced.shape.size());
  set(work.kept, kept.shape);
  set(work.kept_strides, kept.strides);
  set(work.reduced, reduced.shape);
  set(work.reduced_strides, reduced.strides);
  work.outputs = static_cast<unsigned>(network::element_count(kept.shape));
  work.size = static_cast<unsigned>(network::element_count(reduced.shape));
  work.x.element = is_half(form) ? element_float16 : element_float32;
  work.y.element = element_float32;
  return work;
}

/// [outer, length, inner] around the dimensions [begin, end).
RowWork rows_of(const network::Shape& shape, std::int64_t begin, std::int64_t end) {
  const auto product = [&](std::int64_t from, std::int64_t to) {
    return static_cast<int>(network::element_count({shape.begin() + from, shape.begin() + to}));
  };
  RowWork work{};
  work.outer = product(0, begin);
  work.length = product(begin, end);
  work.inner = product(end, static_cast<std::int64_t>(shape.size()));
  work.x.element = work.y.element = element_float32;
  return work;
}

/// A block for each row.
Launch for_each_row(const std::string& kernel, const RowWork& work) {
  return {kernel, static_cast<unsigned>(work.outer) * static_cast<unsigned>(work.inner)};
}

std::optional<Value> optional_input(Builder& builder, const network::Layer& layer, std::size_t i) {
  if (i >= layer.inputs.size() || !layer.inputs[i].valid()) return std::nullopt;
  return builder.plain(layer.inputs[i]);
}
std::optional<Value> optional_output(Builder& builder, const network::Layer& layer, std::size_t i) {
  if (i >= layer.outputs.size() || !layer.outputs[i].valid()) return std::nullopt;
  return builder.make(layer.outputs[i]);
}
void* pointer(const Execution& execution, const std::optional<Value>& value) {
  return value ? execution.pointer(*value) : nullptr;
}

}  // namespace

void reduce(Builder& builder, const network::Layer& layer, const network::Reduce& op) {
  const Value in = builder.value(layer.inputs[0]), out = builder.make(layer.outputs[0]);
  const ReduceWork work = work_of(op, builder.tensor(layer.inputs[0]).shape, in.form);
  const bool is_few = work.size <= 32 && work.outputs >= 1024;
  const Launch launch = is_few ? for_each_element("millrace_reduce_few", work.outputs)
                               : Launch{"millrace_reduce", work.outputs};
  builder.launch(launch, {{in}, {out}}, [=](const Execution& execution) {
    ReduceWork placed = work;
    placed.x.data = execution.pointer(in);
    placed.y.data = execution.pointer(out);
    return placed;
  });
}

void lower_reduce(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  reduce(builder, layer, std::get<network::Reduce>(layer.op));
}

void lower_softmax(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const auto& op = std::get<network::Softmax>(layer.op);
  RowWork work = rows_of(builder.tensor(layer.inputs[0]).shape, op.axis, op.end);
  work.logarithm = op.log ? 1 : 0;
  const Value in = builder.plain(layer.inputs[0]), out = builder.make(layer.outputs[0]);
  builder.launch(for_each_row("millrace_softmax", work), {{in}, {out}},
                 [=](const Execution& execution) {
                   RowWork placed = work;
                   placed.x.data = execution.pointer(in);
                   placed.y.data = execution.pointer(out);
                   return placed;
                 });
}

void lower_normalization(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const auto& op = std::get<network::Normalization>(layer.op);
  const network::Shape& shape = builder.tensor(layer.inputs[0]).shape;
  RowWork work = rows_of(shape, op.axis, static_cast<std::int64_t>(shape.size()));
  work.centred = op.centred ? 1 : 0;
  work.epsilon = op.epsilon;
  work.scale = place_with(element_float32, {1, 0});
  work.shift = work.scale;
  const Value in = builder.plain(layer.inputs[0]), out = builder.make(layer.outputs[0]);
  const auto scale = optional_input(builder, layer, 1), shift = optional_input(builder, layer, 2);
  const auto mean = optional_output(builder, layer, 1);
  const auto deviation = optional_output(builder, layer, 2);
  Touched touched{{in}, {out}};
  for (const auto& value : {scale, shift})
    if (value) touched.reads.push_back(*value);
  for (const auto& value : {mean, deviation})
    if (value) touched.writes.push_back(*value);
  builder.launch(for_each_row("millrace_normalize", work), touched,
                 [=](const Execution& execution) {
                   RowWork placed = work;
                   placed.x.data = execution.pointer(in);
                   placed.y.data = execution.pointer(out);
                   placed.scale.data = pointer(execution, scale);
                   placed.shift.data = pointer(execution, shift);
                   placed.mean = static_cast<float*>(pointer(execution, mean));
                   placed.deviation = static_cast<float*>(pointer(execution, deviation));
                   return placed;
                 });
}

void lower_arg_max(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const auto& op = std::get<network::ArgMax>(layer.op);
  const RowWork rows = rows_of(builder.tensor(layer.inputs[0]).shape, op.axis, op.axis + 1);
  ArgWork work{};
  work.outer = rows.outer;
  work.length = rows.length;
  work.inner = rows.inner;
  work.select_last = op.select_last ? 1 : 0;
  work.smallest = op.smallest ? 1 : 0;
  work.count = static_cast<unsigned>(rows.outer) * static_cast<unsigned>(rows.inner);
  work.x.element = element_float32;
  const Value in = builder.plain(layer.inputs[0]), out = builder.make(layer.outputs[0]);
  builder.launch(for_each_element("millrace_arg", work.count), {{in}, {out}},
                 [=](const Execution& execution) {
                   ArgWork placed = work;
                   placed.x.data = execution.pointer(in);
                   placed.y = static_cast<long long*>(execution.pointer(out));
                   return placed;
                 });
}

}  // namespace millrace::engine::cuda
