#pragma once
// Networks, and parts of them, as ONNX models for whoever reads ONNX: engines and people.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/verdict.h"
#include "formats/network_names.h"

namespace millrace::formats {

struct OnnxWriting {
  /// False: constants of more than 1 KiB are external initializers, which the reader replaces by
  /// their names; `weights` lists them. The integers of quantised weights stay inside.
  bool weights_inside = true;
  std::int64_t batch = 1;  // reserved
  /// True: QLinearConv becomes DequantizeLinear, Conv, QuantizeLinear, the form that OpenVINO
  /// takes. Who does not join it again rounds its sums to float32.
  bool quantized_in_pairs = false;
  /// True: types and shapes of outputs are left out, as nobody knows them yet.
  bool outputs_unknown = false;
  bool numbered = false;  // names of nodes begin with the place of their layer in the part: "#3#"
  std::string weights_file = "weights";  // beside the model, for who writes the weights there
};

/// A model that computes what the layers compute: the operators and shapes of the network, at the
/// lowest opset from 13 on that has them. What ONNX has no operator for is several nodes.
struct OnnxModel {
  std::string bytes;                         // a serialised ModelProto
  std::vector<std::string> inputs, outputs;  // their names in the graph, in the order asked for
  struct Weight {
    std::string name;
    TensorId tensor;
    std::int64_t offset = 0;  // in the weights' file: the first multiple of 64 that is free
  };
  /// Constants whose values are not inside, in the order in which they lie in the weights' file
  /// that the model names.
  std::vector<Weight> weights;
  std::vector<std::size_t> node_ends;  // by layer of the part: the nodes up to it, and its own
};

/// Whether the layer can be written, or why not.
Verdict can_write(const Network& network, LayerId layer);

/// The part of a network that is written; inputs and outputs as engine::border_of gives them.
struct OnnxPart {
  std::span<const LayerId> layers;
  std::span<const TensorId> inputs, outputs;
};

/// The part as a model. InputError that names the layer if one cannot be written, and if the model
/// takes more than the 2 GiB of a file.
OnnxModel write_onnx(const Network& network, const OnnxPart& part, const OnnxWriting& how = {});

/// The whole network, with its metadata.
OnnxModel write_onnx(const Network& network, const OnnxWriting& how = {});

}  // namespace millrace::formats
