// Pools, local response normalisation and resized tensors.
#include <algorithm>

#include "engine/cuda/lower/lower.h"
#include "engine/cuda/lower/windows.h"
#include "network/evaluate/resize/interpolation.h"

namespace millrace::engine::cuda {

namespace {

/// The mean of the whole input.
bool is_global_mean(const network::Pool& op, const network::Tensor& x, const network::Tensor& y) {
  const network::Shape spatial(x.shape.begin() + 2, x.shape.end());
  const auto is_zero = [](std::int64_t pad) { return pad == 0; };
  return op.kind == network::PoolKind::average && op.window.kernel == spatial &&
         std::ranges::all_of(op.window.pads_begin, is_zero) &&
         std::ranges::all_of(op.window.pads_end, is_zero) &&
         network::element_count(y.shape) == y.shape[0] * y.shape[1];
}

/// All threads of a block work on one window then.
void mean_of_all(Builder& builder, const network::Layer& layer) {
  network::Reduce op{network::ReduceKind::mean, {}};
  const auto dimensions = static_cast<std::int64_t>(builder.tensor(layer.inputs[0]).shape.size());
  for (std::int64_t d = 2; d < dimensions; ++d) op.axes.push_back(d);
  reduce(builder, layer, op);
}

}  // namespace

void lower_pool(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const auto& op = std::get<network::Pool>(layer.op);
  const network::Tensor &x = builder.tensor(layer.inputs[0]), &y = builder.tensor(layer.outputs[0]);
  if (is_global_mean(op, x, y)) return mean_of_all(builder, layer);
  const Value in = builder.value(layer.inputs[0]);
  const Value out = builder.make(layer.outputs[0], in.form);
  const network::loops::Sliding sliding = network::loops::sliding(op.window, x.shape, y.shape);
  PoolWork work{};
  work.frames = static_cast<int>(y.shape[0]);
  work.channels = static_cast<int>(y.shape[1]);
  set_window(work, sliding);
  for (std::size_t d = 0; d < 3; ++d) work.pads_end[d] = static_cast<int>(sliding.end[d]);
  work.maximum = op.kind == network::PoolKind::max ? 1 : 0;
  work.count_include_pad = op.count_include_pad ? 1 : 0;
  work.column_major = op.column_major_indices ? 1 : 0;
  work.count = static_cast<unsigned>(network::element_count(y.shape));
  work.x = place_of(x, in.form);
  work.y = place_of(y, out.form);
  Touched touched{{in}, {out}};
  std::optional<Value> indices;
  if (layer.outputs.size() > 1 && layer.outputs[1].valid()) {
    indices = builder.make(layer.outputs[1]);
    touched.writes.push_back(*indices);
  }
  builder.launch(for_each_element("millrace_pool", work.count), touched,
                 [=](const Execution& execution) {
                   PoolWork placed = work;
                   placed.x.data = execution.pointer(in);
                   placed.y.data = execution.pointer(out);
                   if (indices)
                     placed.indices = static_cast<long long*>(execution.pointer(*indices));
                   return placed;
                 });
}

void lower_lrn(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const auto& op = std::get<network::Lrn>(layer.op);
  const network::Shape& shape = builder.tensor(layer.outputs[0]).shape;
  const Value in = builder.plain(layer.inputs[0]), out = builder.make(layer.outputs[0]);
  const std::int64_t count = network::element_count(shape);
  LrnWork work{};
  work.channels = static_cast<int>(shape[1]);
  work.inner = static_cast<int>(count / (shape[0] * shape[1]));
  work.size = static_cast<int>(op.size);
  work.alpha = op.alpha;
  work.beta = op.beta;
  work.bias = op.bias;
  work.count = static_cast<unsigned>(count);
  work.x.element = work.y.element = element_float32;
  builder.launch(for_each_element("millrace_lrn", count), {{in}, {out}},
                 [=](const Execution& execution) {
                   LrnWork placed = work;
                   placed.x.data = execution.pointer(in);
                   placed.y.data = execution.pointer(out);
                   return placed;
                 });
}

namespace {

/// Tables of one axis on the GPU.
struct AxisTables {
  int taps = 0;  // 0: there are none
  Value positions, weights, outside;
};

AxisTables tables_of(Builder& builder, const network::Interpolation& way, Touched& touched) {
  if (way.identity) return {};
  const std::vector<int> positions(way.positions.begin(), way.positions.end());
  // Nearest elements have no weights.
  std::vector<float> weights(way.weights.begin(), way.weights.end());
  if (weights.empty()) weights.assign(positions.size(), 1.0f);
  std::vector<unsigned char> outside;
  for (const bool is_outside : way.outside) outside.push_back(is_outside ? 1 : 0);
  const AxisTables tables{static_cast<int>(way.taps), builder.constant(positions),
                          builder.constant(weights), builder.constant(outside)};
  touched.reads.insert(touched.reads.end(), {tables.positions, tables.weights, tables.outside});
  return tables;
}

}  // namespace

void lower_resize(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const auto& op = std::get<network::Resize>(layer.op);
  const network::Tensor &x = builder.tensor(layer.inputs[0]), &y = builder.tensor(layer.outputs[0]);
  const Value in = builder.value(layer.inputs[0]);
  const Value out = builder.make(layer.outputs[0], in.form);
  Touched touched{{in}, {out}};
  std::vector<AxisTables> axes;
  for (const network::Interpolation& way : network::interpolations(op, x.shape, y.shape))
    axes.push_back(tables_of(builder, way, touched));
  ResizeWork work{};
  work.dimensions = static_cast<int>(y.shape.size());
  set(work.shape, y.shape);
  work.count = static_cast<unsigned>(network::element_count(y.shape));
  work.extrapolation = static_cast<float>(op.extrapolation);
  work.x = place_with(element_of(x, in.form), strides_of(in.form, x.shape));
  work.y = place_with(element_of(y, out.form), strides_of(out.form, y.shape));
  builder.launch(
      for_each_element("millrace_resize", work.count), touched, [=](const Execution& execution) {
        ResizeWork placed = work;
        placed.x.data = execution.pointer(in);
        placed.y.data = execution.pointer(out);
        for (std::size_t d = 0; d < axes.size(); ++d) {
          if (axes[d].taps == 0) continue;
          placed.axes[d] = {axes[d].taps,
                            static_cast<const int*>(execution.pointer(axes[d].positions)),
                            static_cast<const float*>(execution.pointer(axes[d].weights)),
                            static_cast<const unsigned char*>(execution.pointer(axes[d].outside))};
        }
        return placed;
      });
}

}  // namespace millrace::engine::cuda
