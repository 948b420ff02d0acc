#pragma once
// A trained model: a directed acyclic graph of layers with static shapes.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "network/operators.h"
#include "network/tensor.h"

namespace millrace::network {

struct Layer {
  std::string name;  // unique in the network, never empty
  Operator op;
  std::vector<TensorId> inputs;   // an invalid id is an optional input left out
  std::vector<TensorId> outputs;  // an invalid id is an output nobody wants
};

/// CNN(L, E) of the papers. Layers are in topological order. Every tensor is a network input,
/// a constant, or the output of exactly one layer. An output of the network may be any of these.
struct Network {
  std::string name;
  std::vector<Tensor> tensors;
  std::vector<Layer> layers;
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
  // What the exporter wrote into the file by name, such as the classes; no part of the hash.
  std::map<std::string, std::string> metadata = {};

  const Tensor& operator[](TensorId id) const { return tensors[id.index]; }
  const Layer& operator[](LayerId id) const { return layers[id.index]; }
};

/// Who makes and who reads each tensor.
struct Topology {
  std::vector<std::optional<LayerId>> producer;      // by tensor; none: an input or a constant
  std::vector<std::vector<LayerId>> consumers;       // by tensor, ascending, each layer once
  std::vector<std::vector<LayerId>> predecessors;    // by layer, ascending, each once
  std::vector<bool> is_output;                       // by tensor
};
Topology topology(const Network& network);

/// The inputs of a layer that are not constants and not left out, each once.
std::vector<TensorId> data_inputs(const Network& network, LayerId layer);

/// Assertion-like check used by tests and after each pass: order, ids, shapes, dimensions that
/// operators name. InputError with the layer's name on the first violation.
void validate(const Network& network);

/// 32 digits over structure, shapes, attributes and constants (not over names of tensors).
std::string hash_of(const Network& network);

/// What one layer costs at its shapes.
struct Cost {
  std::int64_t macs = 0;  // multiply-accumulates of convolutions and matrix products
  /// Two per multiply-accumulate; of a pool one per element of its window, of other arithmetic one
  /// per element of the input or output, whichever are more; none where values only move.
  std::int64_t operations = 0;
  std::int64_t parameters = 0;  // elements of constant floating-point inputs and integer factors
  Bytes read, written;          // dense sizes of all inputs (with constants) and outputs
};
Cost cost_of(const Network& network, LayerId layer);
/// A constant that several layers share counts once in `parameters`.
Cost cost_of(const Network& network);
/// Of the constants that the layer reads, as they are in the network.
Bytes weights_of(const Network& network, LayerId layer);
/// Of all layers; each counts its own.
Bytes weights_of(const Network& network);

}  // namespace millrace::network
