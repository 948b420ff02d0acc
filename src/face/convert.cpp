#include "face/convert.h"

#include <array>
#include <utility>

#include "face/access.h"

namespace millrace::face {
namespace {

// In the order of both enumerations.
static_assert(static_cast<int>(DataType::boolean) == static_cast<int>(network::DataType::boolean));
static_assert(static_cast<int>(DataType::float16) == static_cast<int>(network::DataType::float16));
static_assert(static_cast<int>(DataType::int64) == static_cast<int>(network::DataType::int64));

constexpr std::array precision_pairs{
    std::pair{Precision::f32, board::Precision::f32},
    std::pair{Precision::f16, board::Precision::f16},
    std::pair{Precision::bf16, board::Precision::bf16},
    std::pair{Precision::int8, board::Precision::int8},
};

}  // namespace

network::DataType type_of(DataType type) { return static_cast<network::DataType>(type); }
DataType type_of(network::DataType type) { return static_cast<DataType>(type); }

TensorInfo info_of(const network::Tensor& tensor) {
  return {tensor.name, type_of(tensor.type), tensor.shape};
}

Tensor tensor_of(network::Array array) { return Access::make<Tensor>(std::move(array)); }

std::vector<network::Array> arrays_of(const Frame& frame) {
  std::vector<network::Array> arrays;
  for (const Tensor& tensor : frame) arrays.push_back(Access::of(tensor).array);
  return arrays;
}

Frame frame_of(std::vector<network::Array> arrays) {
  Frame frame;
  for (network::Array& array : arrays) frame.push_back(tensor_of(std::move(array)));
  return frame;
}

board::Precision precision_of(Precision precision) {
  for (const auto& [face, room] : precision_pairs)
    if (face == precision) return room;
  return board::Precision::f32;
}

Precision precision_of(board::Precision precision) {
  for (const auto& [face, room] : precision_pairs)
    if (room == precision) return face;
  return Precision::f32;
}

std::vector<board::Precision> precisions_of(const std::vector<Precision>& precisions) {
  std::vector<board::Precision> result;
  for (const Precision precision : precisions) result.push_back(precision_of(precision));
  return result;
}

application::FrameOptions frames_of(const std::vector<Frame>& frames) {
  application::FrameOptions options;
  if (frames.empty()) return options;
  std::vector<std::vector<network::Array>> given;
  for (const Frame& frame : frames) given.push_back(arrays_of(frame));
  options.inputs = {"frames"};
  options.given =
      std::make_shared<const std::vector<std::vector<network::Array>>>(std::move(given));
  return options;
}

std::shared_ptr<product::InMemory> memory_of(const Model& model) {
  auto memory = std::make_shared<product::InMemory>();
  memory->models[Access::of(model).source.file] = Access::of(model).network;
  return memory;
}

std::shared_ptr<product::InMemory> memory_of(const Plan& plan) {
  const auto& parts = Access::of(plan);
  auto memory = memory_of(parts.model);
  memory->models[parts.file->origin.model.file] = Access::of(parts.model).network;
  memory->plans[parts.name] = parts.file;
  return memory;
}

}  // namespace millrace::face
