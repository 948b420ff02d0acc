#include "network/operators/varying.h"

#include <fmt/format.h>

#include "base/error.h"
#include "network/evaluate/loops.h"

namespace millrace::network::loops {
namespace {

Array copy_of(const ConstView& view, DataType type) {
  const Shape shape(view.shape.begin(), view.shape.end());
  const Bytes size = size_of(view.type) * count(view.shape);
  Buffer memory = Buffer::uninitialized(size);
  std::copy_n(view.data, size.count, memory.data());
  return converted(make_array(view.type, shape, std::move(memory)), type);
}

bool has_free_value(DataType type) {
  return type != DataType::boolean && type != DataType::uint8 && type != DataType::uint16 &&
         type != DataType::uint32 && type != DataType::uint64;
}

/// Into the corner of the output; -1, or 0 where there is no -1, around it.
void put(const std::string& name, const Array& value, const View& out) {
  const Shape largest(out.shape.begin(), out.shape.end());
  Pad pad{PadMode::constant, Shape(largest.size()), {}, has_free_value(out.type) ? -1.0 : 0.0};
  bool fits = value.shape.size() == largest.size();
  for (std::size_t i = 0; fits && i < largest.size(); ++i) {
    pad.end.push_back(largest[i] - value.shape[i]);
    fits = pad.end.back() >= 0;
  }
  if (!fits)
    throw InputError(name, fmt::format("this frame gives {} values, and there is room for {}; "
                                       "export the model with a fixed number of results",
                                       to_text(value.shape), to_text(largest)));
  const ConstView view{value.type, value.shape, value.memory->data()};
  run(pad, {&view, 1}, {&out, 1});
}

}  // namespace

void run(const VaryingPart& op, Inputs in, Outputs out) {
  std::vector<Array> inputs;
  for (std::size_t i = 0; i < in.size(); ++i) inputs.push_back(copy_of(in[i], op.types[i]));
  const std::vector<Array> results = op.compute(op, std::move(inputs));
  for (std::size_t i = 0; i < out.size(); ++i)
    if (out[i].present()) put(op.outputs[i], converted(results[i], out[i].type), out[i]);
}

}  // namespace millrace::network::loops
