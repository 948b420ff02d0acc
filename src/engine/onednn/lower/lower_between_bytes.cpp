// What stands between DequantizeLinear and QuantizeLinear, from 8-bit integers to 8-bit integers:
// numbers between them are never stored.
#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <span>

#include "engine/onednn/lower/lower.h"
#include "engine/onednn/subnet.h"
#include "engine/onednn/threads/team.h"
#include "kernels/plain/byte_numbers.h"

namespace millrace::engine::onednn {
namespace {

using kernels::ByteOperation;
using network::BinaryKind;
using network::DataType;
using network::Layer;
using network::UnaryKind;

constexpr std::size_t most_functions = 4;  // one after the other

/// One scale and zero point, known before any frame.
bool has_known_scale(const Builder& builder, const Layer& layer) {
  const auto is_known = [&](std::size_t input) {
    if (input >= layer.inputs.size() || !layer.inputs[input].valid()) return true;
    const network::Tensor& tensor = builder.tensor(layer.inputs[input]);
    return tensor.constant.has_value() && network::element_count(tensor.shape) == 1;
  };
  return is_known(1) && is_known(2) && builder.tensor(layer.inputs[1]).type == DataType::float32;
}

kernels::ByteScale known_scale(const Builder& builder, const Layer& layer, DataType type) {
  const auto view = [&](std::size_t input) {
    return network::constant_view(builder.tensor(layer.inputs[input]));
  };
  const bool is_signed = type == DataType::int8;
  std::int32_t zero = 0;
  if (layer.inputs.size() > 2 && layer.inputs[2].valid())
    zero = is_signed ? std::int32_t{view(2).as<std::int8_t>()[0]}
                     : std::int32_t{view(2).as<std::uint8_t>()[0]};
  return {view(1).as<float>()[0], zero, is_signed};
}

/// How numbers come from bytes: those of one tensor through functions, or of two through an
/// operation and perhaps Relu.
struct ByteFunction {
  std::vector<const Layer*> sources;  // DequantizeLinear
  ByteOperation operation = ByteOperation::add;
  std::vector<const Layer*> functions;  // in the order in which they are computed

  bool is_plain() const { return sources.size() == 1 && functions.empty(); }
};

std::optional<ByteOperation> operation_of(BinaryKind kind) {
  if (kind == BinaryKind::add) return ByteOperation::add;
  if (kind == BinaryKind::sub) return ByteOperation::subtract;
  if (kind == BinaryKind::mul) return ByteOperation::multiply;
  return std::nullopt;
}

/// Finds out how the subnet's layers make numbers.
class Finder {
 public:
  explicit Finder(const Builder& builder) : builder_(builder) {}

  std::optional<ByteFunction> function_of(TensorId numbers, std::size_t depth = 0) const {
    const auto made = builder_.topology().producer[numbers.index];
    if (!made || !builder_.has(*made) || depth > most_functions ||
        builder_.tensor(numbers).type != DataType::float32)
      return std::nullopt;
    const Layer& layer = builder_.layer(*made);
    if (std::holds_alternative<network::DequantizeLinear>(layer.op))
      return holds_some_bytes(layer.inputs[0]) && has_known_scale(builder_, layer)
                 ? std::optional(ByteFunction{{&layer}, {}, {}})
                 : std::nullopt;
    if (const auto* binary = std::get_if<network::Binary>(&layer.op))
      return of_two(layer, binary->kind);
    const auto* unary = std::get_if<network::Unary>(&layer.op);
    if (unary == nullptr) return std::nullopt;
    auto function = function_of(layer.inputs[0], depth + 1);
    const bool fits = function && (function->sources.size() == 1 ||
                                   (unary->kind == UnaryKind::relu && function->functions.empty()));
    if (!fits) return std::nullopt;
    function->functions.push_back(&layer);
    return function;
  }

  /// Whether all that reads the layer's numbers makes bytes of them again, alone or after such
  /// layers.
  bool vanishes(LayerId id) const {
    const TensorId numbers = builder_.layer(id).outputs[0];
    if (builder_.is_output(numbers) || !function_of(numbers)) return false;
    const auto makes_bytes = [&](LayerId reader) {
      if (!builder_.has(reader)) return false;
      const Layer& other = builder_.layer(reader);
      if (std::holds_alternative<network::QuantizeLinear>(other.op))
        return other.inputs[0] == numbers && makes_known_bytes(other);
      const bool goes_on = std::holds_alternative<network::Unary>(other.op) ||
                           std::holds_alternative<network::Binary>(other.op);
      return goes_on && vanishes(reader);
    };
    return std::ranges::all_of(builder_.topology().consumers[numbers.index], makes_bytes);
  }

  bool makes_known_bytes(const Layer& quantize) const {
    return has_known_scale(builder_, quantize) &&
           is_byte(builder_.tensor(quantize.outputs[0]).type);
  }

 private:
  bool holds_some_bytes(TensorId id) const {
    const network::Tensor& tensor = builder_.tensor(id);
    return is_byte(tensor.type) && !tensor.constant && !tensor.shape.empty() &&
           tensor.shape.size() <= 6 && network::element_count(tensor.shape) > 0;
  }

  std::optional<ByteFunction> of_two(const Layer& layer, BinaryKind kind) const {
    const auto operation = operation_of(kind);
    if (!operation) return std::nullopt;
    ByteFunction function{{}, *operation, {}};
    for (const TensorId input : layer.inputs) {
      if (builder_.tensor(input).shape != builder_.tensor(layer.outputs[0]).shape)
        return std::nullopt;
      const auto source = function_of(input, most_functions);
      if (!source || !source->is_plain()) return std::nullopt;
      function.sources.push_back(source->sources.front());
    }
    return function;
  }

  const Builder& builder_;
};

/// The function of 256 numbers by the kernel that would compute it elsewhere, so that results do
/// not depend on where a subnet ends.
void apply(const Builder& builder, const Layer& layer, std::array<float, 256>& numbers) {
  network::Network alone;
  const network::Shape shape{1, 256};
  for (const char* name : {"numbers", "results"})
    alone.tensors.push_back({name, DataType::float32, shape, {}});
  alone.inputs = {TensorId(0)};
  alone.outputs = {TensorId(1)};
  alone.layers = {{layer.name, layer.op, alone.inputs, alone.outputs}};
  const SubnetRequest request = whole_network(alone, {"core", board::ProcessorKind::cpu, {0}});
  const std::vector<int>& cores = request.processor.cores;
  std::array<float, 256> results;
  run_on(cores, [&] {  // made by as many threads as it runs on
    Builder own({builder.engine(), nullptr}, request);
    lower(own, {LayerId(0), {}});
    auto [program, outputs] = own.finish();
    const auto subnet =
        make_subnet(builder.engine(), {&alone, cores, request.inputs, outputs, program});
    const auto in = std::as_bytes(std::span(numbers)).data();
    const auto out = std::as_writable_bytes(std::span(results)).data();
    subnet->run({&in, 1}, {&out, 1});
  });
  numbers = results;
}

/// What becomes of each byte.
kernels::ByteTable table_of(const Builder& builder, const ByteFunction& function,
                            const kernels::ByteScale& to) {
  kernels::ByteTable bytes;
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  std::array<float, 256> numbers;
  const Layer& source = *function.sources.front();
  kernels::dequantize_bytes(
      bytes, known_scale(builder, source, builder.tensor(source.inputs[0]).type), numbers.data());
  for (const Layer* layer : function.functions) apply(builder, *layer, numbers);
  kernels::quantize_numbers(numbers, to, bytes.data());
  return bytes;
}

/// The pass over the bytes from one place, or two, to another.
class Pass {
 public:
  Pass(Builder& builder, const ByteFunction& function) : builder_(builder), function_(function) {
    for (const Layer* source : function.sources)
      channels_last_ = channels_last_ || builder.is_channels_last(source->inputs[0]);
  }

  void run(const Layer& quantize) const {
    const TensorId output = quantize.outputs[0];
    const network::Tensor& its = builder_.tensor(output);
    const kernels::ByteScale to = known_scale(builder_, quantize, its.type);
    const auto count = static_cast<std::size_t>(network::element_count(its.shape));
    OwnWork work{place(0), builder_.make(output, layout_of(its)), {}};
    if (function_.sources.size() == 1) {
      work.run = [count, table = table_of(builder_, function_, to)](const OwnPlaces& at) {
        kernels::look_up_bytes({bytes(at.from), count}, table, bytes(at.to));
      };
      return builder_.program().run(work, function_.is_plain() ? "requantize" : "byte_table");
    }
    work.others = {place(1)};
    const kernels::ByteCombination combination{function_.operation, !function_.functions.empty(),
                                               to};
    work.run = [count, combination, a = scale(0), b = scale(1)](const OwnPlaces& at) {
      kernels::combine_bytes({{bytes(at.from), count}, a}, {{bytes(at.others[0]), count}, b},
                             combination, bytes(at.to));
    };
    builder_.program().run(work, "byte_combination");
  }

 private:
  static const std::uint8_t* bytes(const std::byte* at) {
    return reinterpret_cast<const std::uint8_t*>(at);
  }
  static std::uint8_t* bytes(std::byte* at) { return reinterpret_cast<std::uint8_t*>(at); }

  Desc layout_of(const network::Tensor& its) const {
    const Type type = its.type == DataType::int8 ? Type::s8 : Type::u8;
    return channels_last_ ? channels_last_desc(its.shape, type) : row_major_desc(its.shape, type);
  }
  Value place(std::size_t source) const {
    const TensorId id = function_.sources[source]->inputs[0];
    Value value = channels_last_ ? builder_.channels_last(id) : builder_.plain(id);
    value.desc = layout_of(builder_.tensor(id));
    return value;
  }
  kernels::ByteScale scale(std::size_t source) const {
    const Layer& layer = *function_.sources[source];
    return known_scale(builder_, layer, builder_.tensor(layer.inputs[0]).type);
  }

  Builder& builder_;
  const ByteFunction& function_;
  bool channels_last_ = false;
};

}  // namespace

bool vanishes_between_bytes(const Builder& builder, LayerId id) {
  return Finder(builder).vanishes(id);
}

bool lower_between_bytes(Builder& builder, LayerId id) {
  const Layer& layer = builder.layer(id);
  const Finder finder(builder);
  const auto function = finder.function_of(layer.inputs[0]);
  if (!function || !finder.makes_known_bytes(layer)) return false;
  Pass(builder, *function).run(layer);
  return true;
}

}  // namespace millrace::engine::onednn
