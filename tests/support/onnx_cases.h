#pragma once
// ONNX's own cases (Debian's libonnx-testdata): models with inputs and expected outputs.
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/model_source.h"
#include "network/network.h"

namespace millrace::test {

/// How to compute the outputs, in the order of Network::outputs, from the inputs, in the order of
/// Network::inputs. Throws InputError or EngineError, with the reason, if it cannot.
using Compute = std::function<std::vector<network::Array>(const network::Network&,
                                                          std::span<const network::Array>)>;

/// By the plain loops; what they cannot do is an InputError that names operator and type.
std::vector<network::Array> compute_by_loops(const network::Network& network,
                                             std::span<const network::Array> inputs);

struct OnnxCase {
  std::string name;  // "node/test_add"
  std::filesystem::path folder;
  std::int64_t opset = 0;
  formats::Foreign foreign = {};  // who is asked for what the reader does not know
};

/// Where the package puts its data, or MILLRACE_ONNX_CASES; it may be absent.
std::filesystem::path onnx_cases_folder();
/// The cases of "node", "pytorch-converted", "pytorch-operator" or "simple" whose models use only
/// the operators that networks are made of, by name.
std::vector<OnnxCase> onnx_cases(const std::string& group);

/// What became of a case. Refused: with a message that says why.
struct Outcome {
  enum class Kind { passed, refused, failed } kind = Kind::failed;
  std::string text;
};

/// Imports, computes and compares. Inputs that have to be known when the model is read (shapes,
/// scales) are given to the importer with the case's values. `opset`: read the model as one of
/// this opset; 0 is the model's own.
Outcome run_case(const OnnxCase& test, const Compute& compute, std::int64_t opset = 0);

/// Cases that are not expected to pass, each with words of the message that refuses it.
using Exceptions = std::map<std::string, std::string_view>;

struct Tally {
  std::size_t passed = 0, refused = 0, total = 0;
  std::vector<std::string> surprises;  // failures, refusals not listed, listed ones that pass
  std::vector<std::string> wrong;      // failures
};

/// Runs the cases and prints how many pass.
Tally run_cases(std::span<const OnnxCase> cases, const Compute& compute,
                const Exceptions& exceptions, std::int64_t opset = 0);

/// A serialised TensorProto ("input_0.pb").
network::Array read_tensor_file(const std::filesystem::path& path);

}  // namespace millrace::test
