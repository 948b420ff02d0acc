// What is done along the last dimensions, row by row: normalisation, softmax, reductions.
#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/onednn/lower/lower.h"
#include "engine/onednn/memory/turning.h"
#include "engine/onednn/ways.h"
#include "kernels/half/half_layers.h"
#include "kernels/plain/planes.h"
#include "kernels/plain/row_norm.h"
#include "kernels/plain/rows.h"
#include "kernels/plain/softmax.h"

namespace millrace::engine::onednn {
namespace {

using network::Shape;

std::size_t count_of(const Shape& shape, std::size_t begin, std::size_t end) {
  std::size_t count = 1;
  for (std::size_t d = begin; d < end; ++d) count *= static_cast<std::size_t>(shape[d]);
  return count;
}

bool is_float32(const network::Tensor& tensor) { return tensor.type == network::DataType::float32; }

const float* floats(const std::byte* data) { return reinterpret_cast<const float*>(data); }
float* floats(std::byte* data) { return reinterpret_cast<float*>(data); }

/// Whether the elements lie in the order of the other dimensions, and then of these.
bool lies_in_rows(const Desc& desc, const Shape& axes) {
  const auto strides = dense_strides(desc);
  if (!strides) return false;
  const Dims shape = dims_of(desc);
  std::vector<std::size_t> order;
  const auto is_axis = [&](std::size_t d) {
    return std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(d)) != axes.end();
  };
  for (const bool wanted : {false, true})
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (is_axis(d) == wanted) order.push_back(d);
  std::int64_t stride = 1;
  for (std::size_t i = order.size(); i-- > 0; stride *= shape[order[i]])
    if (shape[order[i]] != 1 && (*strides)[order[i]] != stride) return false;
  return true;
}

/// The input with these dimensions innermost, in float32, if it lies so or they are the last ones.
std::optional<Value> in_rows(Builder& builder, TensorId id, const Shape& axes) {
  const Value now = builder.value(id);
  if (type_of(now.desc) == Type::f32 && lies_in_rows(now.desc, axes)) return now;
  if (lies_in_rows(plain_desc(builder.tensor(id).shape), axes)) return builder.plain(id);
  return std::nullopt;
}

kernels::DenseRows rows_of(const Shape& shape, const Shape& axes) {
  kernels::DenseRows rows{1, 1};
  for (const std::int64_t axis : axes)
    rows.size *= static_cast<std::size_t>(shape[static_cast<std::size_t>(axis)]);
  rows.count = count_of(shape, 0, shape.size()) / std::max<std::size_t>(rows.size, 1);
  return rows;
}

/// How scales or biases spread over rows: RowNorm's period and parts. Nothing if otherwise.
std::optional<kernels::RowNorm> spread_of(const Shape& values, const Shape& x, std::size_t axis) {
  if (values.size() > x.size()) return std::nullopt;
  Shape whole(x.size() - values.size(), 1);
  whole.insert(whole.end(), values.begin(), values.end());
  kernels::RowNorm spread;
  bool repeats = false;
  for (std::size_t d = axis; d-- > 0;) {  // the last of the dimensions that number the rows
    if (x[d] == 1) continue;
    if (whole[d] != 1 && repeats) return std::nullopt;
    repeats = repeats || whole[d] == 1;
    spread.period *= static_cast<std::size_t>(whole[d]);
  }
  repeats = false;
  for (std::size_t d = axis; d < x.size(); ++d) {
    if (x[d] == 1) continue;
    if (whole[d] != 1 && repeats) return std::nullopt;
    repeats = repeats || whole[d] == 1;
    spread.parts *= static_cast<std::size_t>(whole[d]);
  }
  return spread;
}

std::optional<kernels::RowNorm> norm_of(const Builder& builder, const network::Layer& layer) {
  const auto& op = std::get<network::Normalization>(layer.op);
  const Shape& shape = builder.tensor(layer.inputs[0]).shape;
  const auto axis = static_cast<std::size_t>(op.axis);
  kernels::RowNorm norm;
  bool found = false;
  for (std::size_t i = 1; i < layer.inputs.size(); ++i) {
    if (!layer.inputs[i].valid()) continue;
    const auto spread = spread_of(builder.tensor(layer.inputs[i]).shape, shape, axis);
    if (!spread) return std::nullopt;
    if (found && (spread->parts != norm.parts || spread->period != norm.period))
      return std::nullopt;
    norm = *spread;
    found = true;
  }
  norm.rows = count_of(shape, 0, axis);
  norm.size = count_of(shape, axis, shape.size());
  norm.epsilon = op.epsilon;
  norm.centred = op.centred;
  return norm;
}

std::function<void(const OwnPlaces&)> reduce_loop(const kernels::DenseRows& rows,
                                                  network::ReduceKind kind) {
  using enum network::ReduceKind;
  if (kind == max || kind == min)
    return [=](const OwnPlaces& at) {
      extremes_of_rows(rows, kind == min, floats(at.from), floats(at.to));
    };
  const auto terms = kind == l1                         ? kernels::RowSum::magnitudes
                     : kind == l2 || kind == sum_square ? kernels::RowSum::squares
                                                        : kernels::RowSum::plain;
  return [=](const OwnPlaces& at) {
    float* const to = floats(at.to);
    sum_rows(rows, terms, floats(at.from), to);
    for (std::size_t i = 0; i < rows.count && kind == mean; ++i)
      to[i] /= static_cast<float>(rows.size);
    for (std::size_t i = 0; i < rows.count && kind == l2; ++i) to[i] = std::sqrt(to[i]);
  };
}

bool has_row_reduce(network::ReduceKind kind) {
  using enum network::ReduceKind;
  return kind == mean || kind == sum || kind == l1 || kind == l2 || kind == sum_square ||
         kind == max || kind == min;
}

/// Over one dimension of a dense tensor, which is innermost, or has many numbers inside of it.
bool lower_dense_softmax(Builder& builder, LayerId id) {
  constexpr std::size_t worthwhile = 16;  // columns side by side: a vector
  const network::Layer& layer = builder.layer(id);
  const auto& op = std::get<network::Softmax>(layer.op);
  const Value now = builder.value(layer.inputs[0]);
  const auto strides = dense_strides(now.desc);
  const Shape& shape = builder.tensor(layer.inputs[0]).shape;
  if (shape.empty() || op.end != op.axis + 1 || type_of(now.desc) != Type::f32 || !strides)
    return false;
  const auto axis = static_cast<std::size_t>(op.axis);
  kernels::DenseColumns columns;
  columns.size = static_cast<std::size_t>(shape[axis]);
  columns.inner = static_cast<std::size_t>((*strides)[axis]);
  columns.planes = count_of(shape, 0, shape.size()) / (columns.size * columns.inner);
  const bool in_rows = columns.inner == 1;
  if (columns.size == 1 || (!in_rows && columns.inner < worthwhile)) return false;
  const auto loop = [columns, in_rows, log = op.log](const OwnPlaces& at) {
    if (in_rows)
      kernels::softmax_rows({columns.planes, columns.size}, log, floats(at.from), floats(at.to));
    else
      kernels::softmax_columns(columns, log, floats(at.from), floats(at.to));
  };
  builder.program().run_in_place({now, builder.make(layer.outputs[0], now.desc), loop},
                                 in_rows ? "row_softmax" : "column_softmax");
  return true;
}

/// Softmax of numbers that lie in 16 bits, on 64-bit ARM.
void run_softmax_of_halves(Builder& builder, const network::Layer& layer,
                           const kernels::HalfSoftmax& softmax) {
  const Value result =
      builder.make(layer.outputs[0], plain_desc(builder.tensor(layer.outputs[0]).shape));
  const auto loop = [softmax](const OwnPlaces& at) {
    softmax_of_halves(softmax, reinterpret_cast<const kernels::Half*>(at.from),
                      reinterpret_cast<float*>(at.to));
  };
  builder.program().run({builder.value(layer.inputs[0]), result, loop}, "row_softmax");
}

}  // namespace

bool lower_row_norm(Builder& builder, LayerId id) {
  const auto norm = norm_of(builder, builder.layer(id));
  if (!norm) return false;
  const auto at = [](auto views, std::size_t i) {
    return i < views.size() && views[i].present() ? views[i].template as<float>() : nullptr;
  };
  const PlainLoop loop = [norm = *norm, at](std::span<const network::ConstView> in,
                                            std::span<const network::View> out) {
    normalize_rows(norm, {in[0].as<float>(), out[0].as<float>(), at(in, 1), at(in, 2), at(out, 1),
                          at(out, 2)});
  };
  loops(builder, id, loop, "row_norm");
  return true;
}

bool lower_row_softmax(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const auto& op = std::get<network::Softmax>(layer.op);
  const Shape& shape = builder.tensor(layer.inputs[0]).shape;
  const auto rank = static_cast<std::int64_t>(shape.size());
  const Value source = builder.value(layer.inputs[0]);
  if (op.end != rank || rank == 0 || !is_row_major(source.desc))
    return lower_dense_softmax(builder, id);
  Shape axes;
  for (std::int64_t d = op.axis; d < op.end; ++d) axes.push_back(d);
  const kernels::DenseRows rows = rows_of(shape, axes);
  if (has_own_half(type_of(source.desc))) {
    run_softmax_of_halves(builder, layer, {rows, op.log, stored_number_of(type_of(source.desc))});
    return true;
  }
  const Value result = builder.make(layer.outputs[0], plain_desc(shape));
  const auto loop = [rows, log = op.log](const OwnPlaces& at) {
    softmax_rows(rows, log, floats(at.from), floats(at.to));
  };
  builder.program().run_in_place({builder.plain(layer.inputs[0]), result, loop}, "row_softmax");
  return true;
}

bool lower_row_reduce(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const auto& op = std::get<network::Reduce>(layer.op);
  if (!has_row_reduce(op.kind) || op.axes.empty()) return lower_reduce(builder, id);
  const Desc now = builder.value(layer.inputs[0]).desc;
  const bool suits = type_of(now) == Type::f32 && lies_in_rows(now, op.axes);
  // oneDNN's pooling reads channels that lie innermost without moving them.
  if (!suits && lower_reduce(builder, id)) return true;
  const auto source = in_rows(builder, layer.inputs[0], op.axes);
  if (!source) return false;
  const kernels::DenseRows rows = rows_of(builder.tensor(layer.inputs[0]).shape, op.axes);
  builder.program().run(
      {*source, make_plain(builder, layer.outputs[0]), reduce_loop(rows, op.kind)}, "row_reduce");
  return true;
}

bool lower_arg_max(Builder& builder, LayerId id) {
  const network::Layer& layer = builder.layer(id);
  const auto& op = std::get<network::ArgMax>(layer.op);
  const Shape& shape = builder.tensor(layer.inputs[0]).shape;
  if (!is_float32(builder.tensor(layer.inputs[0])) || count_of(shape, 0, shape.size()) == 0)
    return false;
  const kernels::IndexOfExtreme which{op.smallest, op.select_last};
  const auto to = [](const OwnPlaces& at) { return reinterpret_cast<std::int64_t*>(at.to); };
  const auto axis = static_cast<std::size_t>(op.axis);
  if (const auto source = in_rows(builder, layer.inputs[0], {op.axis})) {
    const auto loop = [=, rows = rows_of(shape, {op.axis})](const OwnPlaces& at) {
      indices_of_extremes(rows, which, floats(at.from), to(at));
    };
    builder.program().run({*source, make_plain(builder, layer.outputs[0]), loop}, "arg_max");
    return true;
  }
  const kernels::DenseColumns columns{count_of(shape, 0, axis),
                                      static_cast<std::size_t>(shape[axis]),
                                      count_of(shape, axis + 1, shape.size())};
  const auto loop = [=](const OwnPlaces& at) {
    indices_of_extremes(columns, which, floats(at.from), to(at));
  };
  builder.program().run(
      {builder.plain(layer.inputs[0]), make_plain(builder, layer.outputs[0]), loop}, "arg_max");
  return true;
}

bool lower_planes(Builder& builder, const Group& group) {
  const network::Layer& layer = builder.layer(group.head);
  const Shape& shape = builder.tensor(layer.inputs[0]).shape;
  const Desc now = builder.value(layer.inputs[0]).desc;
  const auto constant = [&](TensorId id) { return builder.tensor(id).constant.has_value(); };
  if (shape.size() < 3 || type_of(now) != Type::f32 || !is_row_major(now) ||
      same_memory(now, channels_last_desc(shape)) ||
      !std::all_of(layer.inputs.begin() + 1, layer.inputs.end(), constant))
    return false;
  const auto values = [&](std::size_t input) {
    return builder.tensor(layer.inputs[input]).constant->values<float>();
  };
  const float epsilon = std::get<network::BatchNormalization>(layer.op).epsilon;
  kernels::PlaneMap map;
  map.planes = count_of(shape, 0, 2);
  map.size = count_of(shape, 2, shape.size());
  map.relu = !group.tail.empty();
  map.shift.assign(values(2).begin(), values(2).end());
  map.mean.assign(values(3).begin(), values(3).end());
  map.factor = kernels::factors_of(values(1), values(4), epsilon);
  const Value result = builder.make(result_of(builder.network(), group), plain_desc(shape));
  const auto loop = [map = std::move(map)](const OwnPlaces& at) {
    write_planes(map, floats(at.from), floats(at.to));
  };
  builder.program().run_in_place({builder.plain(layer.inputs[0]), result, loop}, "planes");
  return true;
}

}  // namespace millrace::engine::onednn
