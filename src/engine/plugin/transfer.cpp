#include "engine/plugin/transfer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "engine/request.h"
#include "formats/onnx/types.h"

namespace millrace::engine::plugin {

const PluginDevice& device_with(const Instance& instance, const std::string& space) {
  const auto found = std::ranges::find(instance.devices(), space, &PluginDevice::own_space);
  if (space.empty() || found == instance.devices().end())
    throw NoSuchSpace(
        fmt::format("the plug-in {} has no memory '{}'", instance.library().name, space));
  return *found;
}

std::shared_ptr<std::byte> allocate_in(std::shared_ptr<const Instance> instance,
                                       const Layout& layout) {
  const PluginDevice& device = device_with(*instance, layout.space);
  MillraceBuffer buffer{nullptr, static_cast<std::size_t>(layout.size.count),
                        device.spaces.front().c_str(), device.index, -1};
  if (instance->table().allocate(instance->handle(), &buffer) != 0 || buffer.handle == nullptr)
    throw EngineError(fmt::format("{}: {} bytes of its memory {} cannot be had",
                                  instance->place("allocate", device.name), buffer.bytes,
                                  layout.space));
  return {static_cast<std::byte*>(buffer.handle), [instance, buffer](std::byte*) mutable {
            instance->table().release(instance->handle(), &buffer);
          }};
}

MovedTensor::MovedTensor(const network::Tensor& tensor) : name(tensor.name), shape(tensor.shape) {
  shown.name = name.c_str();
  shown.type = formats::onnx::number_of(tensor.type);
  shown.rank = static_cast<std::int32_t>(shape.size());
  shown.shape = shape.data();
  shown.bytes = static_cast<std::size_t>(tensor.size().count);
}

PluginTransfer::PluginTransfer(std::shared_ptr<const Instance> instance,
                               const SubnetRequest& request)
    : instance_(std::move(instance)),
      ports_(request.inputs[0], plain_outputs(request)[0]),
      tensor_(std::make_shared<MovedTensor>((*request.network)[request.inputs[0].tensor])),
      device_(device_with(*instance_, request.spaces[0].empty() ? request.inputs[0].layout.space
                                                                : request.spaces[0])),
      place_(instance_->place("transfer", device_.name)) {}

MillraceBuffer PluginTransfer::buffer(const Port& port, std::byte* handle) const {
  const bool is_host = port.layout.space.empty();
  return {handle, static_cast<std::size_t>(port.layout.size.count),
          is_host ? "host" : device_.spaces.front().c_str(), device_.index, -1};
}

void PluginTransfer::run(std::span<const std::byte* const> in, std::span<std::byte* const> out) {
  const MillraceBuffer from = buffer(ports_.first, const_cast<std::byte*>(in[0]));
  const MillraceBuffer to = buffer(ports_.second, out[0]);
  if (moves(instance_->table())) return move(from, to);
  const std::int32_t failed =
      worker_.call(place_, instance_->limit(), [instance = instance_, from, to] {
        return instance->table().transfer(instance->handle(), &from, &to);
      });
  if (failed != 0) throw EngineError(place_ + ": it failed");
}

void PluginTransfer::move(const MillraceBuffer& from, const MillraceBuffer& to) {
  const auto asked = std::make_shared<MillraceMove>();  // sharers: calls that hang
  const std::int32_t failed = worker_.call(
      place_, instance_->limit(), [instance = instance_, from, to, tensor = tensor_, asked] {
        *asked = {sizeof(MillraceMove), &from, &to, &tensor->shown, {}};
        return instance->table().move(instance->handle(), asked.get());
      });
  if (failed != 0) throw EngineError(fmt::format("{}: {}", place_, text_of(asked->text)));
}

std::vector<GroupTime> PluginTransfer::run_timed(std::span<const std::byte* const> in,
                                                 std::span<std::byte* const> out) {
  const auto start = std::chrono::steady_clock::now();
  run(in, out);
  return {{{}, "copy", std::chrono::steady_clock::now() - start}};
}

}  // namespace millrace::engine::plugin
