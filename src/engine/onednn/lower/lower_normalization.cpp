// Batch normalisation, local response normalisation, softmax.
#include <array>
#include <optional>

#include "engine/onednn/lower/lower.h"
#include "kernels/lrn.h"

namespace millrace::engine::onednn {
namespace {

using network::Shape;

/// The first of these layouts that a fast kernel takes.
template <class Make>
std::optional<std::pair<Desc, Kernel>> first_fast(const Desc& now, const Make& make) {
  for (const Desc& layout : usual_layouts(now)) {
    Kernel kernel = make(layout);
    if (kernel && !kernel.is_slow()) return std::pair(layout, kernel);
  }
  return std::nullopt;
}

bool is_relu(const Builder& builder, const Group& group) {
  if (group.tail.size() != 1 || group.tail[0].kind != Fused::Kind::unary) return false;
  const auto& unary = std::get<network::Unary>(builder.layer(group.tail[0].layers[0]).op);
  return unary.kind == network::UnaryKind::relu;
}

template <class Number>
std::function<void(const OwnPlaces&)> response_loop(const kernels::ResponseNorm& norm,
                                                    std::size_t count) {
  return [norm, count](const OwnPlaces& places) {
    normalize_response(std::span(reinterpret_cast<const Number*>(places.from), count), norm,
                       reinterpret_cast<Number*>(places.to));
  };
}

/// By our own loop, if the input lies as that wants it.
bool lower_usual_lrn(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const auto& op = std::get<network::Lrn>(layer.op);
  const Value source = builder.value(layer.inputs[0]);
  const Type type = type_of(source.desc);
  const Dims dims = dims_of(source.desc);
  if (op.size != static_cast<std::int64_t>(kernels::response_window) ||
      op.beta != kernels::response_exponent || op.alpha < 0 || op.bias <= 0 ||
      (type != Type::f32 && type != Type::bf16) || dims.size() < 3 ||
      source.desc != channels_last_desc(dims, type))
    return false;
  const kernels::ResponseNorm norm{static_cast<std::size_t>(dims[1]), op.alpha, op.bias};
  const auto count =
      static_cast<std::size_t>(network::element_count(builder.tensor(layer.inputs[0]).shape));
  const Value result = builder.make(layer.outputs[0], source.desc);
  if (type == Type::f32)
    builder.program().run({source, result, response_loop<float>(norm, count)}, "lrn");
  else
    builder.program().run({source, result, response_loop<std::uint16_t>(norm, count)}, "lrn");
  return true;
}

std::int64_t product(const Shape& shape, std::size_t begin, std::size_t end) {
  std::int64_t result = 1;
  for (std::size_t d = begin; d < end; ++d) result *= shape[d];
  return result;
}

/// Normalises a tensor that lies in wider pixels. See reads_slices() in lower_concat.cpp.
void normalize_slice(Builder& builder, const Group& group) {
  const network::Layer& layer = builder.layer(group.head);
  NormalizeWork work;
  work.from = builder.value(layer.inputs[0]);
  work.scale = builder.plain(layer.inputs[1]);
  work.shift = builder.plain(layer.inputs[2]);
  work.mean = builder.plain(layer.inputs[3]);
  work.variance = builder.plain(layer.inputs[4]);
  work.epsilon = std::get<network::BatchNormalization>(layer.op).epsilon;
  work.relu = is_relu(builder, group);
  work.to = builder.make(result_of(builder.network(), group),
                         channels_last_desc(dims_of(work.from.desc)));
  builder.program().run(work);
}

}  // namespace

bool accepts_batch_normalization(Builder& builder, const Group& group) {
  const Shape& shape = builder.tensor(builder.layer(group.head).inputs[0]).shape;
  const auto& op = std::get<network::BatchNormalization>(builder.layer(group.head).op);
  if (!is_relu(builder, group) || shape.size() < 2) return false;
  const Desc layout = channels_last_desc(shape);
  const Kernel kernel = batch_normalization(builder.engine(), {layout, op.epsilon, true});
  return kernel && !kernel.is_slow();
}

bool lower_batch_normalization(Builder& builder, const Group& group) {
  const network::Layer& layer = builder.layer(group.head);
  if (builder.tensor(layer.inputs[0]).shape.size() < 2) return false;
  if (is_slice(builder.value(layer.inputs[0]).desc)) {
    normalize_slice(builder, group);
    return true;
  }
  const float epsilon = std::get<network::BatchNormalization>(layer.op).epsilon;
  const bool relu = is_relu(builder, group);
  const auto choice = first_fast(builder.value(layer.inputs[0]).desc, [&](const Desc& layout) {
    // Where zeros fill up the last block of channels, oneDNN divides them by the root of 0 plus
    // epsilon. The next layer sums these results too.
    if (is_padded(layout) && !(epsilon > 0)) return Kernel();
    return batch_normalization(builder.engine(), {layout, epsilon, relu});
  });
  if (!choice) return false;
  const auto& [layout, kernel] = *choice;
  const Value result = builder.make(result_of(builder.network(), group), layout);
  builder.program().run_in_place(kernel,
                                 {{DNNL_ARG_SRC, builder.in_layout(layer.inputs[0], layout)},
                                  {DNNL_ARG_SCALE, builder.plain(layer.inputs[1])},
                                  {DNNL_ARG_SHIFT, builder.plain(layer.inputs[2])},
                                  {DNNL_ARG_MEAN, builder.plain(layer.inputs[3])},
                                  {DNNL_ARG_VARIANCE, builder.plain(layer.inputs[4])}},
                                 {{DNNL_ARG_DST, result}});
  return true;
}

bool lower_lrn(Builder& builder, LayerId id) {
  if (lower_usual_lrn(builder, id)) return true;
  const network::Layer& layer = builder.layer(id);
  const auto& op = std::get<network::Lrn>(layer.op);
  // With an even size oneDNN takes one channel less than ONNX.
  if (op.size % 2 == 0 || builder.tensor(layer.inputs[0]).shape.size() < 3) return false;
  const auto choice = first_fast(builder.value(layer.inputs[0]).desc, [&](const Desc& layout) {
    return lrn(builder.engine(), {layout, op.size, op.alpha, op.beta, op.bias});
  });
  if (!choice) return false;
  const auto& [layout, kernel] = *choice;
  const Value source = builder.in_layout(layer.inputs[0], layout);
  builder.program().run(
      kernel, {{DNNL_ARG_SRC, source}},
      {{DNNL_ARG_DST, builder.make(layer.outputs[0], kernel.operand(DNNL_ARG_DST))}});
  return true;
}

bool lower_softmax(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const auto& op = std::get<network::Softmax>(layer.op);
  const Shape& shape = builder.tensor(layer.inputs[0]).shape;
  if (shape.empty()) return false;
  const auto axis = static_cast<std::size_t>(op.axis), end = static_cast<std::size_t>(op.end);
  const auto make = [&](const Desc& layout) {
    return softmax(builder.engine(), layout, static_cast<int>(op.axis), op.log);
  };
  // Exponentials of few bits are no probabilities.
  const Desc now = retyped(builder.value(layer.inputs[0]).desc, Type::f32);
  const auto direct = end == axis + 1 ? first_fast(now, make) : std::nullopt;
  if (direct) {
    const Value source = builder.in_layout(layer.inputs[0], direct->first);
    const Value result = builder.make(layer.outputs[0], direct->first);
    builder.program().run_in_place(direct->second, {{DNNL_ARG_SRC, source}},
                                   {{DNNL_ARG_DST, result}});
    return true;
  }
  // Several dimensions at once, with nothing behind them: one dimension of plain memory.
  if (product(shape, end, shape.size()) != 1) return false;
  const Desc view = plain_desc({product(shape, 0, axis), product(shape, axis, end)});
  const Kernel kernel = softmax(builder.engine(), view, 1, op.log);
  if (!kernel || kernel.is_slow()) return false;
  Value source = builder.plain(layer.inputs[0]);
  Value result = builder.make(layer.outputs[0], plain_desc(shape));
  source.desc = result.desc = view;
  builder.program().run_in_place(kernel, {{DNNL_ARG_SRC, source}}, {{DNNL_ARG_DST, result}});
  return true;
}

}  // namespace millrace::engine::onednn
