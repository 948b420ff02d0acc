#include "support/onnx_cases.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "formats/onnx/tensor_data.h"
#include "formats/read.h"
#include "network/evaluate/evaluate.h"
#include "support/compare.h"

namespace millrace::test {
namespace {

namespace fs = std::filesystem;
using network::Array;
using network::Network;

/// With spaces around each.
constexpr std::string_view operators =
    " Abs Acos Acosh Add And ArgMax ArgMin Asin Asinh Atan Atanh Attention AveragePool"
    " BatchNormalization Cast CastLike Ceil Celu Clip Compress Concat Constant ConstantOfShape Conv"
    " ConvInteger ConvTranspose Cos Cosh CumSum DFT DepthToSpace DequantizeLinear Div Dropout"
    " DynamicQuantizeLinear Einsum Elu Equal Erf Exp Expand EyeLike Flatten Floor GRU Gather"
    " GatherElements GatherND Gelu Gemm GlobalAveragePool GlobalMaxPool Greater"
    " GreaterOrEqual GridSample GroupNormalization HardSigmoid HardSwish Hardmax Identity If"
    " InstanceNormalization IsInf IsNaN LRN LSTM LayerNormalization LeakyRelu Less"
    " LessOrEqual Log LogSoftmax Loop LpNormalization MatMul MatMulInteger Max MaxPool Mean"
    " MeanVarianceNormalization Min Mish Mod Mul Neg NonMaxSuppression NonZero Not OneHot Or"
    " PRelu Pad Pow QLinearConv QLinearMatMul QuantizeLinear RMSNormalization RNN Range"
    " Reciprocal ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean"
    " ReduceMin ReduceProd ReduceSum ReduceSumSquare Relu Reshape Resize RoiAlign RotaryEmbedding "
    "Round"
    " Scatter ScatterElements ScatterND Selu Shape Shrink Sigmoid Sign Sin Sinh Size Slice"
    " Softmax Softplus Softsign SpaceToDepth Split Sqrt Squeeze Sub Sum Swish Tan Tanh"
    " ThresholdedRelu Tile TopK Transpose Trilu Unsqueeze Upsample Where Xor"
    " BlackmanWindow HammingWindow HannWindow NegativeLogLikelihoodLoss"
    " STFT SoftmaxCrossEntropyLoss ";

::onnx::ModelProto load(const fs::path& folder) {
  ::onnx::ModelProto model;
  if (!model.ParseFromString(read_file(folder / "model.onnx")))
    throw InputError(folder.string(), "the case's model cannot be parsed");
  return model;
}

bool uses_only_our_operators(const ::onnx::ModelProto& model) {
  return std::ranges::all_of(model.graph().node(), [](const ::onnx::NodeProto& node) {
    return node.domain().empty() &&
           operators.find(" " + node.op_type() + " ") != std::string_view::npos;
  });
}

std::int64_t opset_of(const ::onnx::ModelProto& model) {
  for (const auto& opset : model.opset_import())
    if (opset.domain().empty()) return opset.version();
  return 1;
}

std::vector<fs::path> tensor_files(const fs::path& folder, const std::string& kind) {
  std::vector<fs::path> result;
  for (std::size_t i = 0;; ++i) {
    fs::path path = folder / "test_data_set_0" / fmt::format("{}_{}.pb", kind, i);
    if (!fs::exists(path)) return result;
    result.push_back(std::move(path));
  }
}

/// A case with its data; inputs by the name of the graph's inputs.
struct Loaded {
  std::string bytes;
  std::vector<std::pair<std::string, Array>> inputs;
  std::vector<Array> outputs;
};

bool is_bfloat16(const ::onnx::ValueInfoProto& info) {
  return info.type().tensor_type().elem_type() == ::onnx::TensorProto::BFLOAT16;
}

/// Older cases store the halves of bfloat16 numbers as integers; here they are float32 numbers.
Array as_declared(const ::onnx::ValueInfoProto& info, const Array& array) {
  if (!is_bfloat16(info) || array.type != network::DataType::uint16) return array;
  std::vector<float> numbers;
  for (const std::uint16_t half : array.values<std::uint16_t>())
    numbers.push_back(std::bit_cast<float>(std::uint32_t{half} << 16));
  return network::make_array<float>(network::DataType::float32, array.shape, numbers);
}

/// What is expected where bfloat16 numbers are declared, as far as it is rounded from what is
/// found; older cases leave bits off, newer ones round.
Array as_expected(const ::onnx::ValueInfoProto& info, const Array& found, const Array& expected) {
  if (!is_bfloat16(info) || found.type != expected.type || found.shape != expected.shape)
    return found;
  std::vector<float> numbers;
  for (std::size_t i = 0; i < found.values<float>().size(); ++i) {
    const float is = found.values<float>()[i], wanted = expected.values<float>()[i];
    numbers.push_back(std::abs(is - wanted) <= std::ldexp(std::abs(is), -7) ? wanted : is);
  }
  return network::make_array<float>(found.type, found.shape, numbers);
}

Loaded load_case(const OnnxCase& test, const ::onnx::ModelProto& model) {
  Loaded result{model.SerializeAsString(), {}, {}};
  int next = 0;
  for (const fs::path& path : tensor_files(test.folder, "input")) {
    const auto& input = model.graph().input(next++);
    result.inputs.emplace_back(input.name(), as_declared(input, read_tensor_file(path)));
  }
  next = 0;
  for (const fs::path& path : tensor_files(test.folder, "output"))
    result.outputs.push_back(as_declared(model.graph().output(next++), read_tensor_file(path)));
  return result;
}

/// Which inputs are given to the importer as values: none, those that are no data, all but the
/// first, all.
enum class Known { none, not_floating, all_but_first, all };

bool is_known(const Loaded& loaded, std::size_t i, Known known) {
  if (known == Known::none || known == Known::all) return known == Known::all;
  return known == Known::all_but_first ? i > 0
                                       : loaded.inputs[i].second.type !=
                                             network::DataType::float32;
}

Network import(const OnnxCase& test, const Loaded& loaded, Known known) {
  formats::ModelSource options{.foreign = test.foreign};
  for (std::size_t i = 0; i < loaded.inputs.size(); ++i)
    if (is_known(loaded, i, known)) options.constants.insert(loaded.inputs[i]);
  return formats::read_onnx(loaded.bytes, test.name, test.folder, options);
}

/// With as few inputs known as needed; if none will do, the last attempt's error counts.
Network import(const OnnxCase& test, const Loaded& loaded) {
  for (const Known known : {Known::none, Known::not_floating, Known::all_but_first}) {
    try {
      return import(test, loaded, known);
    } catch (const InputError&) {
      continue;
    }
  }
  return import(test, loaded, Known::all);
}

/// What the importer says about a model whose data the importer's own reader refuses.
Outcome refusal(const OnnxCase& test, const std::string& bytes, const InputError& data_error) {
  try {
    formats::read_onnx(bytes, test.name, test.folder);
    return {Outcome::Kind::failed, data_error.what()};
  } catch (const InputError& error) {
    return {Outcome::Kind::refused, error.what()};
  }
}

std::vector<Array> inputs_of(const Network& network, const Loaded& loaded) {
  std::vector<Array> result;
  for (const TensorId id : network.inputs)
    for (const auto& [name, value] : loaded.inputs)
      if (name == network[id].name) result.push_back(value);
  return result;
}

bool is_larger(const network::Shape& found, const network::Shape& expected) {
  if (found.size() != expected.size() || found == expected) return false;
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i] < expected[i]) return false;
  return true;
}

/// The corner of an array that is in use; nothing if anything else than -1 lies outside of it.
template <class T>
std::optional<Array> used_corner(const Array& found, const network::Shape& expected) {
  const network::Shape strides = network::strides_of(found.shape);
  std::vector<T> used;
  for (std::int64_t i = 0; i < network::element_count(found.shape); ++i) {
    bool inside = true;
    for (std::size_t d = 0; d < strides.size(); ++d)
      inside = inside && i / strides[d] % found.shape[d] < expected[d];
    const T value = found.values<T>()[static_cast<std::size_t>(i)];
    if (inside) used.push_back(value);
    if (!inside && value != T{-1}) return std::nullopt;
  }
  return network::make_array<T>(found.type, expected, used);
}

/// Results of varying size have a largest size: what is not in use at their ends holds -1.
Array without_free_values(const Array& found, const network::Shape& expected) {
  if (!is_larger(found.shape, expected)) return found;
  if (found.type == network::DataType::int64)
    return used_corner<std::int64_t>(found, expected).value_or(found);
  if (found.type == network::DataType::float32)
    return used_corner<float>(found, expected).value_or(found);
  return found;
}

Outcome compare(const std::vector<Array>& found, const std::vector<Array>& expected) {
  if (found.size() != expected.size())
    return {Outcome::Kind::failed,
            fmt::format("there are {} outputs, expected {}", found.size(), expected.size())};
  for (std::size_t i = 0; i < found.size(); ++i)
    if (const std::string text =
            difference(without_free_values(found[i], expected[i].shape), expected[i]);
        !text.empty())
      return {Outcome::Kind::failed, fmt::format("output {}: {}", i, text)};
  return {Outcome::Kind::passed, ""};
}

}  // namespace

std::vector<Array> compute_by_loops(const Network& network, std::span<const Array> inputs) {
  for (std::size_t i = 0; i < network.layers.size(); ++i)
    if (const Verdict verdict = network::can_evaluate(network, LayerId(i)); !verdict)
      throw InputError(network.layers[i].name, verdict.reason());
  return network::evaluate(network, inputs);
}

fs::path onnx_cases_folder() {
  const char* const given = std::getenv("MILLRACE_ONNX_CASES");
  return given == nullptr ? "/usr/share/libonnx-testdata/data" : given;
}

std::vector<OnnxCase> onnx_cases(const std::string& group) {
  std::vector<OnnxCase> result;
  for (const fs::directory_entry& entry : fs::directory_iterator(onnx_cases_folder() / group)) {
    if (!fs::exists(entry.path() / "model.onnx")) continue;
    const ::onnx::ModelProto model = load(entry.path());
    if (uses_only_our_operators(model))
      result.push_back(
          {group + "/" + entry.path().filename().string(), entry.path(), opset_of(model)});
  }
  std::ranges::sort(result, {}, &OnnxCase::name);
  return result;
}

Outcome run_case(const OnnxCase& test, const Compute& compute, std::int64_t opset) {
  ::onnx::ModelProto model = load(test.folder);
  if (opset != 0) model.mutable_opset_import(0)->set_version(opset);
  Loaded loaded;
  try {
    loaded = load_case(test, model);
  } catch (const InputError& error) {
    return refusal(test, model.SerializeAsString(), error);
  }
  try {
    const Network network = import(test, loaded);
    network::validate(network);
    std::vector<Array> outputs = compute(network, inputs_of(network, loaded));
    for (std::size_t i = 0; i < std::min(outputs.size(), loaded.outputs.size()); ++i)
      outputs[i] =
          as_expected(model.graph().output(static_cast<int>(i)), outputs[i], loaded.outputs[i]);
    return compare(outputs, loaded.outputs);
  } catch (const InputError& error) {
    return {Outcome::Kind::refused, error.what()};
  } catch (const EngineError& error) {
    return {Outcome::Kind::refused, error.what()};
  }
}

Tally run_cases(std::span<const OnnxCase> cases, const Compute& compute,
                const Exceptions& exceptions, std::int64_t opset) {
  Tally tally;
  for (const OnnxCase& test : cases) {
    const Outcome outcome = run_case(test, compute, opset);
    const auto exception = exceptions.find(test.name);
    const bool expected = exception != exceptions.end();
    ++tally.total;
    if (outcome.kind == Outcome::Kind::passed) ++tally.passed;
    if (outcome.kind == Outcome::Kind::refused) ++tally.refused;
    if (outcome.kind == Outcome::Kind::failed)
      tally.wrong.push_back(test.name + ": " + outcome.text);
    const bool as_expected = expected
                                 ? outcome.kind == Outcome::Kind::refused &&
                                       outcome.text.find(exception->second) != std::string::npos
                                 : outcome.kind == Outcome::Kind::passed;
    if (as_expected) continue;
    tally.surprises.push_back(fmt::format("{}: {}", test.name,
                                          outcome.kind == Outcome::Kind::passed
                                              ? "passes, but is listed as an exception"
                                              : outcome.text));
  }
  fmt::print("{} of {} pass, {} are refused with a reason\n", tally.passed, tally.total,
             tally.refused);
  return tally;
}

Array read_tensor_file(const fs::path& path) {
  ::onnx::TensorProto proto;
  if (!proto.ParseFromString(read_file(path)))
    throw InputError(path.string(), "is not a serialised tensor");
  return formats::onnx::read_tensor(proto, path.parent_path(), path.string());
}

}  // namespace millrace::test
