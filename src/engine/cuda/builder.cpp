#include "engine/cuda/builder.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <numeric>

#include "engine/cuda/lower/places.h"
#include "network/evaluate/evaluate.h"

namespace millrace::engine::cuda {

Launch for_each_element(const std::string& kernel, std::int64_t count) {
  const std::int64_t blocks = (count + threads_per_block - 1) / threads_per_block;
  return {kernel, static_cast<unsigned>(blocks)};
}

Builder::Builder(Gpu& gpu, const SubnetRequest& request) : gpu_(gpu), request_(request) {
  for (const Port& port : request.inputs) {
    const Value value = new_storage(tensor(port.tensor).size(), Form::plain);
    program_.inputs.push_back(value);
    values_[port.tensor] = {value};
  }
}

board::Precision Builder::precision(LayerId id) const {
  return request_.variants.empty() ? board::Precision::f32 : request_.variants[id.index].precision;
}

void Builder::begin_group(std::vector<LayerId> layers) {
  program_.groups.push_back({std::move(layers), {}});
}

void Builder::name_kernel(const std::string& kernel) {
  std::string& name = program_.groups.back().kernel;
  if (name.empty()) name = kernel;
}

Value Builder::new_storage(Bytes size, Form form) {
  program_.storages.push_back({size, nullptr});
  return {program_.storages.size() - 1, form};
}

Value Builder::value(TensorId id) {
  std::vector<Value>& values = values_[id];
  if (values.empty()) {
    const network::Tensor& constant = tensor(id);
    assert(constant.constant);
    values.push_back(new_storage(constant.size(), Form::plain));
    program_.storages[values.front().storage].constant =
        gpu_.constant(constant.constant->digest(), constant.constant->bytes());
  }
  return values.front();
}

Value Builder::in_form(TensorId id, Form form) {
  const Value own = value(id);
  for (const Value& known : values_[id])
    if (known.form == form) return known;
  const Value result = converted(id, own, form);
  values_[id].push_back(result);
  return result;
}

namespace {

/// A float32 constant as float16, in this form.
network::Buffer half_values(const network::Tensor& tensor, Form form) {
  const network::Array halves = network::converted(*tensor.constant, network::DataType::float16);
  network::Buffer result = network::Buffer::uninitialized(halves.memory->size());
  const network::Shape strides = strides_of(form, tensor.shape);
  const auto from = halves.values<std::uint16_t>();
  auto* const to = reinterpret_cast<std::uint16_t*>(result.data());
  network::Shape at(tensor.shape.size());
  for (const std::uint16_t value : from) {
    to[std::inner_product(at.begin(), at.end(), strides.begin(), std::int64_t{0})] = value;
    for (std::size_t d = at.size(); d-- > 0 && ++at[d] == tensor.shape[d];) at[d] = 0;
  }
  return result;
}

}  // namespace

Value Builder::converted(TensorId id, const Value& from, Form form) {
  const network::Shape& shape = tensor(id).shape;
  if (tensor(id).constant && is_half(form)) {
    const Value value = constant(half_values(tensor(id), form).bytes());
    return {value.storage, form};
  }
  const std::int64_t count = network::element_count(shape);
  const Value to = new_storage(is_half(form) ? Bytes{2 * count} : tensor(id).size(), form);
  const ElementWork work = copying_work(shape, from.form, form);
  step({{from}, {to}}, kernel_start(gpu_, for_each_element("millrace_elements", count),
                                    [=](const Execution& execution) {
                                      ElementWork placed = work;
                                      placed.in.data = execution.pointer(from);
                                      placed.out.data = execution.pointer(to);
                                      return placed;
                                    }));
  return to;
}

Value Builder::make(TensorId id, Form form) {
  const Bytes size =
      is_half(form) ? Bytes{2 * network::element_count(tensor(id).shape)} : tensor(id).size();
  const Value value = new_storage(size, form);
  values_[id] = {value};
  return value;
}

void Builder::define(TensorId id, const Value& value) { values_[id] = {value}; }

Value Builder::temporary(Bytes size) { return new_storage(size, Form::plain); }

Value Builder::constant(std::span<const std::byte> bytes) {
  const auto memory = gpu_.constant(digest_of(bytes), bytes);
  const auto known = std::ranges::find(program_.storages, memory, &Storage::constant);
  if (known != program_.storages.end())
    return {static_cast<std::size_t>(known - program_.storages.begin()), Form::plain};
  const Value value = new_storage({static_cast<std::int64_t>(bytes.size())}, Form::plain);
  program_.storages[value.storage].constant = memory;
  return value;
}

Value Builder::fault(const std::string& text) {
  const Value value = new_storage({sizeof(int)}, Form::plain);
  program_.faults.push_back(value);
  program_.fault_texts.push_back(text);
  return value;
}

void Builder::resize(const Value& value, Bytes size) {
  program_.storages[value.storage].size = size;
}

void Builder::step(const Touched& touched, Start start) {
  Step step{program_.groups.size() - 1, {}, {}, std::move(start)};
  for (const Value& value : touched.reads) step.reads.push_back(value.storage);
  for (const Value& value : touched.writes) step.writes.push_back(value.storage);
  program_.steps.push_back(std::move(step));
}

void start_kernel(FunctionObject* kernel, const Launch& launch, void* parameters,
                  const Execution& execution) {
  std::array<void*, 1> pointers{parameters};
  check(*execution.driver,
        execution.driver->launch(kernel, launch.grid_x, launch.grid_y, launch.grid_z, launch.block,
                                 1, 1, 0, execution.stream, pointers.data(), nullptr));
}

Program Builder::finish() {
  for (const TensorId output : request_.outputs) program_.outputs.push_back(plain(output));
  for (StepGroup& group : program_.groups)
    if (group.kernel.empty()) group.kernel = "none";
  return std::move(program_);
}

}  // namespace millrace::engine::cuda
