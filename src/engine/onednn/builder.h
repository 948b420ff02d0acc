#pragma once
// A subnet while its layers are lowered to the steps of a program.
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/engine.h"
#include "engine/onednn/eight_bits.h"
#include "engine/onednn/memory/weights.h"
#include "engine/onednn/program_writer.h"

namespace millrace::engine::onednn {

/// What subnets of one engine share.
struct Device {
  dnnl::engine engine;
  WeightCache* weights = nullptr;  // borrowed from the engine object
};

/// Keeps track of where every tensor of a subnet lies while its layers are lowered.
class Builder {
 public:
  /// InputError if a port's layout is not one of this engine's.
  Builder(const Device& device, const SubnetRequest& request);
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  const network::Network& network() const { return *request_.network; }
  const network::Layer& layer(LayerId id) const { return network()[id]; }
  const network::Tensor& tensor(TensorId id) const { return network()[id]; }
  /// Topology of the whole network.
  const network::Topology& topology() const { return topology_; }
  /// How the layer is to run.
  board::Variant variant(LayerId id) const;
  const EightBits& eight_bits() const { return eight_bits_; }
  const dnnl::engine& engine() const { return device_.engine; }
  std::size_t cores() const { return request_.processor.cores.size(); }
  /// Whether the layer is one of the subnet's, and whether others need the tensor outside.
  bool has(LayerId id) const;
  bool is_output(TensorId id) const;

  ProgramWriter& program() { return program_; }
  /// Brings the outputs of the group into the form in which others want them.
  void end_group();

  /// As it lies now; integers of the network: plain.
  Value value(TensorId id);
  Value plain(TensorId id);
  /// 8-bit integers of the network or float32, converted if need be.
  Value channels_last(TensorId id);
  /// Whether it lies so, and not row-major at the same time.
  bool is_channels_last(TensorId id) const;
  /// In this layout, converted if need be; constants are packed. Not for integers.
  Value in_layout(TensorId id, const Desc& layout, const Encoding& encoding = {});
  /// The same, with the tensor's plain memory read in another way (transposed, grouped) and
  /// scaled first.
  Value in_layout(TensorId id, const Packing& packing);
  /// A place for a tensor that a step will write.
  Value make(TensorId id, const Desc& layout, const Encoding& encoding = {});
  /// Says where a tensor is, when no step is needed to make it.
  void define(TensorId id, const Value& value);

  struct Result {
    Program program;
    std::vector<Port> outputs;
  };
  Result finish();

 private:
  bool must_be_plain(TensorId id) const;
  Value constant(TensorId id);
  Value plain_integers(TensorId id);
  Value bytes_in_layout(TensorId id, const Desc& layout);
  Value convert(const Value& value, const Packing& packing, const Encoding& encoding = {});
  Value convert_halves(Value value, const Packing& packing, const Encoding& encoding);
  Value convert_apart(Value value, const Packing& packing, const Encoding& encoding);
  std::optional<Value> convert_bytes(const Value& value, const Packing& packing,
                                     const Encoding& encoding);
  Port bind_output(std::size_t port);

  Device device_;
  const SubnetRequest& request_;
  network::Topology topology_;
  EightBits eight_bits_;
  ProgramWriter program_;
  std::unordered_map<TensorId, Value> values_;
  std::unordered_map<TensorId, std::vector<Value>> converted_;  // besides values_
};

inline bool is_int8(const Builder& builder, LayerId id) {
  return builder.variant(id).precision == board::Precision::int8;
}
/// Type of the numbers that the layer reads, if it does not read 8 bits.
Type type_of(const Builder& builder, LayerId id);
/// A place for a tensor of any type.
Value make_plain(Builder& builder, TensorId id);
/// network::evaluate runs the layer.
void loops(Builder& builder, LayerId layer);
/// A loop of ours in its place.
void loops(Builder& builder, LayerId layer, const PlainLoop& own, const std::string& kernel);
/// The same, with its first input and its output in channels_last().
void loops_channels_last(Builder& builder, LayerId layer, const PlainLoop& own,
                         const std::string& kernel);

}  // namespace millrace::engine::onednn
