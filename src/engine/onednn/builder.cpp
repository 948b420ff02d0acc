#include "engine/onednn/builder.h"

#include <algorithm>

#include "base/error.h"

namespace millrace::engine::onednn {
namespace {

bool is_float(const network::Tensor& tensor) { return tensor.type == network::DataType::float32; }

Bytes size_of_value(const Value& value, const network::Tensor& tensor) {
  return value.desc.is_zero() ? tensor.size() : onednn::size_of(value.desc);
}

Form form_of(const Port& port, const network::Tensor& tensor) {
  if (!is_float(tensor) && port.layout.format == "plain") return {};
  const auto form = is_float(tensor) ? read_format(port.layout.format, tensor.shape) : std::nullopt;
  if (!form)
    throw InputError(tensor.name, "its layout is '" + port.layout.format +
                                      "', which oneDNN's engine does not read; make it plain");
  if (onednn::size_of(form->desc) > port.layout.size)
    throw InputError(tensor.name,
                     "its memory is smaller than its layout '" + port.layout.format + "' needs");
  return *form;
}

}  // namespace

Builder::Builder(const Device& device, const SubnetRequest& request)
    : device_(device),
      request_(request),
      topology_(network::topology(*request.network)),
      eight_bits_(request, topology_) {
  for (std::size_t i = 0; i < request.inputs.size(); ++i) {
    const Port& port = request.inputs[i];
    Storage storage{Storage::Place::input, i, port.layout.size, nullptr, nullptr};
    const Form form = form_of(port, tensor(port.tensor));
    values_[port.tensor] = {program_.new_storage(storage), {}, form.desc, form.encoding};
  }
}

board::Variant Builder::variant(LayerId id) const {
  return request_.variants.empty() ? board::Variant{} : request_.variants[id.index];
}

Type type_of(const Builder& builder, LayerId id) {
  const board::Precision precision = builder.variant(id).precision;
  if (precision == board::Precision::f16) return Type::f16;
  return precision == board::Precision::bf16 ? Type::bf16 : Type::f32;
}

bool Builder::has(LayerId id) const {
  return std::binary_search(request_.layers.begin(), request_.layers.end(), id);
}

bool Builder::is_output(TensorId id) const {
  return std::find(request_.outputs.begin(), request_.outputs.end(), id) != request_.outputs.end();
}

void Builder::end_group() {
  for (const LayerId id : program_.group())
    for (const TensorId output : layer(id).outputs)
      if (values_.contains(output) && must_be_plain(output)) values_[output] = plain(output);
}

/// Whoever reads the tensor inside the subnet reads what readers outside get, so that the place of
/// a border changes no result. Integers cross borders in one layout only.
bool Builder::must_be_plain(TensorId id) const {
  const auto wanted = std::find(request_.outputs.begin(), request_.outputs.end(), id);
  if (wanted == request_.outputs.end()) return false;
  return !is_float(tensor(id)) ||
         request_.plain[static_cast<std::size_t>(wanted - request_.outputs.begin())];
}

Value Builder::value(TensorId id) {
  if (const auto found = values_.find(id); found != values_.end()) {
    if (is_float(tensor(id)) || found->second.desc.is_zero()) return found->second;
    return plain_integers(id);
  }
  if (!tensor(id).constant)
    throw InputError(tensor(id).name,
                     "a layer of the subnet reads it, but it is neither made in "
                     "the subnet nor one of its inputs");
  return values_[id] = constant(id);
}

Value Builder::constant(TensorId id) {
  const network::Array& array = *tensor(id).constant;
  Storage storage{Storage::Place::constant, 0, array.memory->size(), array.memory->data(), nullptr};
  return {program_.new_storage(storage),
          {},
          is_float(tensor(id)) ? plain_desc(tensor(id).shape) : Desc()};
}

Value Builder::plain(TensorId id) {
  if (!is_float(tensor(id))) return value(id);
  return in_layout(id, plain_desc(tensor(id).shape));
}

Value Builder::in_layout(TensorId id, const Desc& layout, const Encoding& encoding) {
  Value now = value(id);
  const bool same_numbers = type_of(now.desc) == type_of(layout) && now.encoding == encoding;
  const bool same_places =
      same_memory(now.desc, layout) || (is_row_major(now.desc) && is_row_major(layout));
  if (same_numbers && same_places) {
    now.desc = layout;
    return now;
  }
  if (tensor(id).constant) return in_layout(id, Packing{plain_desc(tensor(id).shape), layout});
  for (const Value& other : converted_[id])
    if (same_memory(other.desc, layout) && other.encoding == encoding) return other;
  const Value made = convert(now, {now.desc, layout}, encoding);
  converted_[id].push_back(made);
  return made;
}

Value Builder::in_layout(TensorId id, const Packing& packing) {
  if (!tensor(id).constant) {
    Value view = plain(id);
    view.desc = packing.from;
    const bool as_is = packing.scales.change_nothing() && same_memory(packing.from, packing.to);
    return as_is ? view : convert(view, packing);
  }
  auto packed = device_.weights->get(*tensor(id).constant, packing);
  Storage storage{Storage::Place::constant, 0, onednn::size_of(packing.to), packed->data(), packed};
  return {program_.new_storage(storage), {}, packing.to};
}

Value Builder::make(TensorId id, const Desc& layout, const Encoding& encoding) {
  Value made = program_.make_temporary(layout);
  made.encoding = encoding;
  define(id, made);
  return made;
}

void Builder::define(TensorId id, const Value& value) { values_[id] = value; }

Builder::Result Builder::finish() {
  Result result;
  for (std::size_t i = 0; i < request_.outputs.size(); ++i)
    result.outputs.push_back(bind_output(i));
  result.program = program_.finish();
  return result;
}

Port Builder::bind_output(std::size_t port) {
  const TensorId id = request_.outputs[port];
  const Value now = value(id);
  const Bytes size = size_of_value(now, tensor(id));
  const std::string format = now.desc.is_zero() ? "plain" : format_of({now.desc, now.encoding});
  program_.give_out(now, port, size);
  return {id, {format, size}};
}

}  // namespace millrace::engine::onednn
