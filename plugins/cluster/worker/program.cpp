#include "program.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/error.h"
#include "engine/registry.h"
#include "formats/read.h"

namespace millrace_cluster {

using namespace millrace;

namespace {

std::size_t place_in(const std::vector<TensorId>& tensors, TensorId tensor) {
  return static_cast<std::size_t>(std::ranges::find(tensors, tensor) - tensors.begin());
}

std::string engine_for(const network::Network& network, const board::Processor& core) {
  std::vector<LayerId> layers;
  for (std::size_t i = 0; i < network.layers.size(); ++i) layers.emplace_back(i);
  return engine::engine_for(network, layers, core);
}

}  // namespace

std::int64_t number_in(std::string_view name) {
  std::int64_t number = -1;
  if (!name.starts_with('#')) return number;
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), number);
  const bool is_one = error == std::errc() && end != name.data() + name.size() && *end == '#';
  return is_one ? number : -1;
}

Program::Program(const Source& source, const board::Processor& core,
                 std::map<std::string, std::unique_ptr<engine::Engine>>& engines)
    : network_(formats::read_onnx(source.onnx, "subnet", source.weights,
                                  {.foreign = engine::foreign_operators({})})) {
  if (network_.layers.empty()) return;
  const std::string name = engine_for(network_, core);
  auto& engine = engines[name];
  if (!engine) engine = engine::make_engine(name);
  subnet_ = engine->prepare(engine::whole_network(network_, core));
  for (const engine::Port& port : subnet_->inputs())
    in_.push_back(place_in(network_.inputs, port.tensor));
  for (const engine::Port& port : subnet_->outputs())
    out_.push_back(network_.inputs.size() + place_in(network_.outputs, port.tensor));
}

std::int64_t Program::weights() const { return subnet_ ? subnet_->memory().weights.count : 0; }

void Program::check(std::span<const Memory> memories) const {
  if (memories.size() != this->memories())
    throw InputError("run", "other tensors came than the subnet has");
  for (std::size_t i = 0; i < memories.size(); ++i) {
    const std::size_t inputs = network_.inputs.size();
    const TensorId tensor = i < inputs ? network_.inputs[i] : network_.outputs[i - inputs];
    if (static_cast<std::int64_t>(memories[i]->size().count) < network_[tensor].size().count)
      throw InputError(network_[tensor].name, "its memory is too small");
  }
}

void Program::run(std::span<const Memory> memories, std::vector<std::int64_t>* times) {
  check(memories);
  std::vector<const std::byte*> in;
  std::vector<std::byte*> out;
  for (const std::size_t place : in_) in.push_back(memories[place]->data());
  for (const std::size_t place : out_) out.push_back(memories[place]->data());
  if (subnet_ && times != nullptr)
    add_times(subnet_->run_timed(in, out), *times);
  else if (subnet_)
    subnet_->run(in, out);
  for (std::size_t i = 0; i < network_.outputs.size(); ++i) {
    const network::Tensor& tensor = network_[network_.outputs[i]];
    if (!tensor.constant) continue;  // known before it ran
    const auto bytes = tensor.constant->bytes();
    std::ranges::copy(bytes, memories[network_.inputs.size() + i]->data());
  }
}

/// What stood before the first layer of a group that has a number belongs to that one.
void Program::add_times(const std::vector<engine::GroupTime>& groups,
                        std::vector<std::int64_t>& times) const {
  for (const engine::GroupTime& group : groups) {
    std::vector<std::int64_t> numbers;
    for (const LayerId layer : group.layers)
      if (const std::int64_t number = number_in(network_[layer].name); number >= 0)
        numbers.push_back(number);
    if (numbers.empty()) continue;
    std::ranges::sort(numbers);
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    for (const std::int64_t number : numbers) {
      const std::int64_t time = number == numbers.front() ? group.time.count() : 0;
      times.insert(times.end(), {number, numbers.front(), time});
    }
  }
}

}  // namespace millrace_cluster
