// Loops of ours, and integers of the network, which only such loops read and write.
#include "engine/onednn/builder.h"
#include "engine/onednn/memory/turning.h"

namespace millrace::engine::onednn {
namespace {

/// In which 8-bit integers of the network lie, and its float32.
Type usual_type(const network::Tensor& tensor) {
  if (tensor.type == network::DataType::float32) return Type::f32;
  return tensor.type == network::DataType::int8 ? Type::s8 : Type::u8;
}

}  // namespace

Value Builder::channels_last(TensorId id) {
  const network::Tensor& its = tensor(id);
  const Desc layout = channels_last_desc(its.shape, usual_type(its));
  return type_of(layout) == Type::f32 ? in_layout(id, layout) : bytes_in_layout(id, layout);
}

bool Builder::is_channels_last(TensorId id) const {
  const auto found = values_.find(id);
  if (found == values_.end() || found->second.desc.is_zero()) return false;
  const Desc& now = found->second.desc;
  return same_memory(now, channels_last_desc(tensor(id).shape, type_of(now))) && !is_row_major(now);
}

Value Builder::bytes_in_layout(TensorId id, const Desc& layout) {
  if (!values_.contains(id)) value(id);
  Value now = values_.at(id);
  if (now.desc.is_zero()) now.desc = row_major_desc(tensor(id).shape, type_of(layout));
  if (same_memory(now.desc, layout) || (is_row_major(now.desc) && is_row_major(layout))) {
    now.desc = layout;
    return now;
  }
  for (const Value& other : converted_[id])
    if (same_memory(other.desc, layout)) return other;
  const Value made = program_.make_temporary(layout);
  program_.run(turn_of_bytes(now, made), "reorder");
  converted_[id].push_back(made);
  return made;
}

Value Builder::plain_integers(TensorId id) {
  Value value = bytes_in_layout(id, row_major_desc(tensor(id).shape, usual_type(tensor(id))));
  value.desc = {};
  return value;
}

Value make_plain(Builder& builder, TensorId id) {
  const network::Tensor& tensor = builder.tensor(id);
  if (tensor.type == network::DataType::float32) return builder.make(id, plain_desc(tensor.shape));
  Storage storage;
  storage.size = tensor.size();
  const Value made{builder.program().new_storage(storage), {}, {}};
  builder.define(id, made);
  return made;
}

/// What an engine of its own computes is named after that.
void loops(Builder& builder, LayerId id) {
  const auto* opaque = std::get_if<network::Opaque>(&builder.layer(id).op);
  loops(builder, id, {}, opaque == nullptr ? "loops" : opaque->owner->name());
}

void loops(Builder& builder, LayerId id, const PlainLoop& own, const std::string& kernel) {
  const network::Layer& layer = builder.layer(id);
  LoopWork work{&layer, {}, {}, own};
  for (const TensorId input : layer.inputs)
    work.reads.push_back(input.valid() ? std::optional(builder.plain(input)) : std::nullopt);
  for (const TensorId output : layer.outputs)
    work.writes.push_back(output.valid() ? std::optional(make_plain(builder, output))
                                         : std::nullopt);
  builder.program().run(std::move(work), kernel);
}

void loops_channels_last(Builder& builder, LayerId id, const PlainLoop& own,
                         const std::string& kernel) {
  const network::Layer& layer = builder.layer(id);
  const std::vector<TensorId>& inputs = layer.inputs;
  LoopWork work{&layer, {builder.channels_last(inputs[0])}, {}, own};
  for (std::size_t i = 1; i < inputs.size(); ++i)
    work.reads.push_back(inputs[i].valid() ? std::optional(builder.plain(inputs[i]))
                                           : std::nullopt);
  const network::Tensor& its = builder.tensor(layer.outputs[0]);
  const Desc layout = channels_last_desc(its.shape, usual_type(its));
  work.writes.push_back(builder.make(layer.outputs[0], layout));
  builder.program().run(std::move(work), kernel);
}

}  // namespace millrace::engine::onednn
