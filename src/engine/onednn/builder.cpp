#include "engine/onednn/builder.h"

#include <algorithm>

#include "base/error.h"
#include "engine/onednn/ways.h"
#include "network/operator_kinds.h"

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

/// The same numbers by bytes with a sign, where our own kernels multiply such.
Quantization as_units_count(Quantization given) {
  const auto unit = byte_unit();
  if (has_exact_bytes() || !unit || !kernels::shape_of(*unit).is_signed || given.type == Type::s8)
    return given;
  return {Type::s8, {given.encoding.scale, given.encoding.zero - 128}};
}

bool adds(const network::Operator& op) {
  const auto* binary = std::get_if<network::Binary>(&op);
  return binary != nullptr && binary->kind == network::BinaryKind::add;
}

}  // namespace

Builder::Builder(const Device& device, const SubnetRequest& request)
    : device_(device), request_(request), topology_(network::topology(*request.network)) {
  for (std::size_t i = 0; i < request.inputs.size(); ++i) {
    const Port& port = request.inputs[i];
    Storage storage{Storage::Place::input, i, port.layout.size, nullptr, nullptr};
    const Form form = form_of(port, tensor(port.tensor));
    values_[port.tensor] = {new_storage(storage), {}, form.desc, form.encoding};
  }
  const auto int8 = [](const board::Variant& v) { return v.precision == board::Precision::int8; };
  const bool any = std::any_of(request.variants.begin(), request.variants.end(), int8);
  if (any && !request.layers.empty()) find_readers();
}

/// From the last layer to the first, so that a tensor's readers come before it.
void Builder::find_readers() {
  read_in_8_bits_.assign(network().tensors.size(), false);
  const auto reads = [&](LayerId reader) {
    const network::Layer& its = layer(reader);
    if (is_int8(reader) || adds(its.op)) return true;
    return passes_8_bits_on(its.op) &&
           std::all_of(its.outputs.begin(), its.outputs.end(), [&](TensorId output) {
             return !output.valid() || read_in_8_bits_[output.index];
           });
  };
  for (std::size_t i = network().layers.size(); i-- > 0;)
    for (const TensorId output : network().layers[i].outputs) {
      if (!output.valid() || topology_.is_output[output.index]) continue;
      const auto& readers = topology_.consumers[output.index];
      read_in_8_bits_[output.index] =
          !readers.empty() && std::all_of(readers.begin(), readers.end(), reads);
    }
}

board::Variant Builder::variant(LayerId id) const {
  return request_.variants.empty() ? board::Variant{} : request_.variants[id.index];
}

Type Builder::type(LayerId id) const {
  const board::Precision precision = variant(id).precision;
  if (precision == board::Precision::f16) return Type::f16;
  return precision == board::Precision::bf16 ? Type::bf16 : Type::f32;
}

bool Builder::takes_zero(LayerId id) const {
  const std::string algorithm = variant(id).algorithm;
  if (is_int8(id) && !has_exact_bytes()) return true;  // ours
  return is_int8(id) && std::holds_alternative<network::Conv>(layer(id).op) &&
         algorithm != on_tiles && algorithm != winograd_2x2 && algorithm != winograd_4x4;
}

Quantization Builder::quantization(TensorId id) const {
  bool takes_zeros = true;
  for (const LayerId reader : topology_.consumers[id.index]) {
    const bool concatenates = std::holds_alternative<network::Concat>(layer(reader).op);
    if (concatenates && is_read_in_8_bits(layer(reader).outputs[0]))
      return quantization(layer(reader).outputs[0]);
    takes_zeros = takes_zeros && (!is_int8(reader) || takes_zero(reader));
  }
  return as_units_count(takes_zeros ? whole_quantization(range(id))
                                    : symmetric_quantization(range(id)));
}

Quantization Builder::quantization(TensorId id, LayerId reader) const {
  const Quantization stored = quantization(id);
  if (stored.encoding.zero == 0 || takes_zero(reader)) return stored;
  return as_units_count(symmetric_quantization(range(id)));
}

std::span<const float> Builder::means(TensorId id) const {
  if (request_.calibration == nullptr) return {};
  const auto found = request_.calibration->means.find(tensor(id).name);
  return found == request_.calibration->means.end() ? std::span<const float>() : found->second;
}

const network::Range& Builder::range(TensorId id) const {
  const std::string& name = tensor(id).name;
  if (request_.calibration != nullptr)
    if (const auto found = request_.calibration->ranges.find(name);
        found != request_.calibration->ranges.end())
      return found->second;
  throw InputError(name,
                   "a layer that reads or makes it is to run in int8, but the calibration has "
                   "no range for it; calibrate this network with 'millrace calibrate'");
}

bool Builder::has(LayerId id) const {
  return std::binary_search(request_.layers.begin(), request_.layers.end(), id);
}

bool Builder::is_output(TensorId id) const {
  return std::find(request_.outputs.begin(), request_.outputs.end(), id) != request_.outputs.end();
}

void Builder::begin_group(std::vector<LayerId> layers) {
  program_.groups.push_back({std::move(layers), ""});
}

void Builder::end_group() {
  for (const LayerId id : program_.groups.back().layers)
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
  return {new_storage(storage), {}, is_float(tensor(id)) ? plain_desc(tensor(id).shape) : Desc()};
}

Value Builder::plain(TensorId id) {
  if (!is_float(tensor(id))) return value(id);
  return in_layout(id, plain_desc(tensor(id).shape));
}

Value Builder::row_major(TensorId id) {
  const Value now = value(id);
  if (now.desc.is_zero()) return now;
  return in_layout(id, row_major_desc(tensor(id).shape, type_of(now.desc)), now.encoding);
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
  return {new_storage(storage), {}, packing.to};
}

const std::byte* Builder::constant_data(const Value& value) const {
  return program_.storages[value.storage].constant + value.offset.count;
}

Value Builder::make(TensorId id, const Desc& layout, const Encoding& encoding) {
  Value made = make_temporary(layout);
  made.encoding = encoding;
  define(id, made);
  return made;
}

Value Builder::make_plain(TensorId id) {
  if (is_float(tensor(id))) return make(id, plain_desc(tensor(id).shape));
  Storage storage;
  storage.size = tensor(id).size();
  const Value made{new_storage(storage), {}, {}};
  define(id, made);
  return made;
}

Value Builder::make_temporary(const Desc& layout) {
  Storage storage;
  storage.size = onednn::size_of(layout);
  return {new_storage(storage), {}, layout};
}

void Builder::define(TensorId id, const Value& value) { values_[id] = value; }

void Builder::run(const Kernel& kernel, std::vector<Operand> reads, std::vector<Operand> writes) {
  add(primitive_step(kernel, std::move(reads), std::move(writes)), kernel.name);
}

void Builder::run_in_place(const Kernel& kernel, std::vector<Operand> reads,
                           std::vector<Operand> writes) {
  const InPlace wish{reads.front().value.storage, writes.front().value.storage};
  const bool whole = reads.front().value.offset == Bytes{};
  Step& step = add(primitive_step(kernel, std::move(reads), std::move(writes)), kernel.name);
  if (whole) step.in_place = wish;
}

void Builder::normalize(const NormalizeWork& work) {
  Step step;
  for (const Value* read : {&work.from, &work.scale, &work.shift, &work.mean, &work.variance})
    step.reads.push_back(read->storage);
  step.writes = {work.to.storage};
  step.work = work;
  add(std::move(step), "normalize");
}

void Builder::run(const OwnWork& work, const std::string& kernel) {
  Step step;
  step.reads = {work.from.storage};
  step.writes = {work.to.storage};
  for (const Value& constant : work.constants) step.reads.push_back(constant.storage);
  for (const Value& other : work.others) step.reads.push_back(other.storage);
  if (work.working) step.writes.push_back(work.working->storage);
  step.work = work;
  add(std::move(step), kernel);
}

void Builder::run_in_place(const OwnWork& work, const std::string& kernel) {
  run(work, kernel);
  if (work.from.offset == Bytes{})
    program_.steps.back().in_place = InPlace{work.from.storage, work.to.storage};
}

void Builder::copy(const CopyWork& work) {
  Step step;
  step.reads = {work.from.storage};
  step.writes = {work.to.storage};
  step.work = work;
  add(std::move(step), "copy");
}

void Builder::copy_in_place(const Value& from, const Value& to) {
  const auto bytes = static_cast<std::size_t>(onednn::size_of(to.desc).count);
  copy({from, to, 1, bytes, 0, 0});
  if (from.offset != Bytes{}) return;
  program_.steps.back().in_place = InPlace{from.storage, to.storage};
  program_.steps.back().needless_in_place = true;
}

void Builder::copy_part(const Value& from, const Value& to) {
  const auto bytes = static_cast<std::size_t>(onednn::size_of(from.desc).count);
  copy({from, to, 1, bytes, 0, 0});
  if (from.offset != Bytes{}) return;
  Step& step = program_.steps.back();
  step.in_place = InPlace{from.storage, to.storage, to.offset};
  step.needless_in_place = step.is_part = true;
}

Builder::Result Builder::finish() {
  Result result;
  for (std::size_t i = 0; i < request_.outputs.size(); ++i)
    result.outputs.push_back(bind_output(i));
  for (StepGroup& group : program_.groups)
    if (group.kernel.empty()) group.kernel = "none";
  result.program = std::move(program_);
  return result;
}

std::size_t Builder::new_storage(Storage storage) {
  program_.storages.push_back(std::move(storage));
  return program_.storages.size() - 1;
}

Value Builder::keep(std::span<const std::byte> numbers, const Desc& desc) {
  auto packed = std::make_shared<Packed>();
  packed->memory = network::Buffer::uninitialized(onednn::size_of(desc));
  packed->layout = desc;
  std::copy(numbers.begin(), numbers.end(), packed->memory.data());
  Storage storage{Storage::Place::constant, 0, onednn::size_of(desc), packed->data(), packed};
  return {new_storage(storage), {}, desc};
}

Value Builder::keep(const std::vector<float>& numbers) {
  return keep(std::as_bytes(std::span(numbers)),
              plain_desc({static_cast<std::int64_t>(numbers.size())}));
}

Step& Builder::add(Step step, const std::string& kernel) {
  step.group = program_.groups.size() - 1;
  std::string& name = program_.groups.back().kernel;
  const auto is_main = [](const std::string& each) { return each != "reorder" && each != "copy"; };
  if (name.empty() || (is_main(kernel) && !is_main(name))) name = kernel;
  program_.steps.push_back(std::move(step));
  return program_.steps.back();
}

Step Builder::primitive_step(const Kernel& kernel, std::vector<Operand> reads,
                             std::vector<Operand> writes) {
  if (kernel.scratchpad().get_size() > 0)
    writes.push_back({DNNL_ARG_SCRATCHPAD, make_temporary(kernel.scratchpad())});
  if (kernel.given_scales)
    reads.push_back({kernel.given_scales->argument, keep(kernel.given_scales->factors)});
  for (const GivenZero& given : kernel.given_zeros)
    reads.push_back({given.argument, keep(std::as_bytes(std::span(&given.zero, 1)),
                                          row_major_desc({1}, Type::s32))});
  Step step;
  for (const Operand& operand : reads) step.reads.push_back(operand.value.storage);
  for (const Operand& operand : writes) step.writes.push_back(operand.value.storage);
  step.work = PrimitiveWork{kernel, std::move(reads), std::move(writes)};
  return step;
}

Port Builder::bind_output(std::size_t port) {
  const TensorId id = request_.outputs[port];
  const Value now = value(id);
  const Bytes size = size_of_value(now, tensor(id));
  Storage& storage = program_.storages[now.storage];
  const std::string format = now.desc.is_zero() ? "plain" : format_of({now.desc, now.encoding});
  if (storage.place == Storage::Place::arena && storage.size == size) {
    storage.place = Storage::Place::output;
    storage.port = port;
  } else {
    const Value copied{new_storage({Storage::Place::output, port, size, nullptr, nullptr}), {}, {}};
    copy({now, copied, 1, static_cast<std::size_t>(size.count), 0, 0});
  }
  return {id, {format, size}};
}

}  // namespace millrace::engine::onednn
