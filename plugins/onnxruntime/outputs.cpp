#include "outputs.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "failure.h"

namespace millrace_onnxruntime {
namespace {

using Runs = std::vector<std::vector<TypeAndShape>>;  // by run, by output

bool is_asked(const MillraceTensor& tensor) { return tensor.rank < 0 || tensor.type == 0; }

/// A number that differs from one element to the next, between -1 and 1.
double mixed(std::uint64_t i) {
  std::uint64_t bits = (i + 1) * 0x9e3779b97f4a7c15u;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  constexpr double largest = 9007199254740992.0;  // 2^53
  return static_cast<double>((bits ^ (bits >> 27)) >> 11) / largest * 2 - 1;
}

/// Numbers that differ as far as the type allows; integers count, as they may be indices.
void fill(const MillraceTensor& tensor, std::byte* memory) {
  const auto write = [&](auto value_of) {
    using T = decltype(value_of(std::uint64_t{}));
    for (std::size_t i = 0; i < tensor.bytes / sizeof(T); ++i) {
      const T value = value_of(i);
      std::memcpy(memory + i * sizeof(T), &value, sizeof(T));
    }
  };
  switch (tensor.type) {
    case millrace_float32:
      return write([](std::uint64_t i) { return static_cast<float>(mixed(i)); });
    case millrace_float64:
      return write([](std::uint64_t i) { return mixed(i); });
    case millrace_float16:  // counts up from 1
      return write([](std::uint64_t i) { return static_cast<std::uint16_t>(0x3c00 + i % 0x3fff); });
    case millrace_boolean:
      return write([](std::uint64_t i) { return static_cast<std::uint8_t>(i % 2); });
    case millrace_int8:
      return write([](std::uint64_t i) { return static_cast<std::uint8_t>(i % 128); });
    case millrace_uint8:
      return write([](std::uint64_t i) { return static_cast<std::uint8_t>(i); });
    case millrace_int16:
    case millrace_uint16:
      return write([](std::uint64_t i) { return static_cast<std::uint16_t>(i % 32768); });
    case millrace_int32:
    case millrace_uint32:
      return write([](std::uint64_t i) { return static_cast<std::uint32_t>(i); });
    default:
      return write([](std::uint64_t i) { return i; });
  }
}

std::vector<TypeAndShape> run_once(OnnxSession& session, const MillraceSubnet& subnet,
                                   bool on_zeros) {
  std::vector<std::vector<double>> memory;
  std::vector<MillraceBuffer> in(subnet.input_count);
  for (std::size_t i = 0; i < subnet.input_count; ++i) {
    const MillraceTensor& tensor = subnet.tensors[subnet.inputs[i]];
    in[i].bytes = tensor.bytes;
    in[i].handle = memory.emplace_back(tensor.bytes / sizeof(double) + 1).data();
    if (!on_zeros) fill(tensor, static_cast<std::byte*>(in[i].handle));
  }
  return session.made_by(in.data());
}

/// Those that succeed.
Runs try_runs(OnnxSession& session, const MillraceSubnet& subnet) {
  Runs runs;
  std::string reason;
  for (const bool on_zeros : {true, false}) try {
      runs.push_back(run_once(session, subnet, on_zeros));
    } catch (const LibraryFailure& failure) {
      if (reason.empty()) reason = failure.what();
    }
  if (runs.empty()) throw LibraryFailure(reason);
  return runs;
}

/// The largest size of each dimension.
TypeAndShape joined(const Runs& runs, std::size_t output, std::int32_t& size) {
  TypeAndShape result = runs.front()[output];
  size = millrace_size_tried;
  for (const std::vector<TypeAndShape>& run : runs) {
    const std::vector<std::int64_t>& shape = run[output].shape;
    if (shape == result.shape) continue;
    if (shape.size() != result.shape.size())
      throw LibraryFailure("the number of dimensions of an output depends on values");
    size = millrace_size_varies;
    for (std::size_t d = 0; d < shape.size(); ++d)
      result.shape[d] = std::max(result.shape[d], shape[d]);
  }
  return result;
}

/// Whether the library inferred it. It does not tell a scalar from what it knows nothing of.
bool is_certain(const TypeAndShape& stated) {
  return !stated.shape.empty() &&
         std::ranges::all_of(stated.shape, [](std::int64_t size) { return size >= 0; });
}

std::size_t size_of(std::int32_t type) {
  switch (type) {
    case millrace_int8: case millrace_uint8: case millrace_boolean: return 1;
    case millrace_int16: case millrace_uint16: case millrace_float16: return 2;
    case millrace_float32: case millrace_int32: case millrace_uint32: return 4;
    default: return 8;
  }
}

void put(FoundOutputs& found, TypeAndShape value, std::int32_t size) {
  MillraceTensor& tensor = found.tensors.emplace_back();
  const auto& shape = found.shapes.emplace_back(std::move(value.shape));
  tensor.type = value.type;
  tensor.rank = static_cast<std::int32_t>(shape.size());
  tensor.shape = shape.data();
  tensor.bytes = size_of(value.type);
  for (const std::int64_t each : shape) tensor.bytes *= static_cast<std::size_t>(each);
  found.sizes.push_back(size);
}

}  // namespace

bool asks_for_outputs(const MillraceSubnet& subnet) {
  return std::any_of(subnet.outputs, subnet.outputs + subnet.output_count,
                     [&](std::int32_t id) { return is_asked(subnet.tensors[id]); });
}

FoundOutputs find_outputs(OnnxSession& session, const MillraceSubnet& subnet) {
  FoundOutputs found;
  std::optional<Runs> runs;
  for (std::size_t i = 0; i < subnet.output_count; ++i) {
    const MillraceTensor& tensor = subnet.tensors[subnet.outputs[i]];
    if (!is_asked(tensor)) {
      found.tensors.push_back(tensor);
      found.sizes.push_back(millrace_size_stated);
      continue;
    }
    TypeAndShape stated = session.stated(i);
    std::int32_t size = millrace_size_stated;
    if (!is_certain(stated)) {
      if (!runs) runs = try_runs(session, subnet);
      stated = joined(*runs, i, size);
    }
    put(found, std::move(stated), size);
    found.tensors.back().name = tensor.name;
  }
  return found;
}

}  // namespace millrace_onnxruntime
