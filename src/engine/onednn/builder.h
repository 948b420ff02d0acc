#pragma once
// Collects the steps of a subnet while its layers are lowered, and keeps track of where every
// tensor lies.
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/engine.h"
#include "engine/onednn/memory/weights.h"
#include "engine/onednn/primitives/quantize.h"
#include "engine/onednn/program.h"

namespace millrace::engine::onednn {

/// What subnets of one engine share.
struct Device {
  dnnl::engine engine;
  WeightCache* weights = nullptr;  // borrowed from the engine object
};

class Builder {
 public:
  /// InputError if a port's layout is not one of this engine's.
  Builder(const Device& device, const SubnetRequest& request);

  const network::Network& network() const { return *request_.network; }
  const network::Layer& layer(LayerId id) const { return network()[id]; }
  const network::Tensor& tensor(TensorId id) const { return network()[id]; }
  const dnnl::engine& engine() const { return device_.engine; }
  std::size_t cores() const { return request_.processor.cores.size(); }
  /// How the layer is to run.
  board::Variant variant(LayerId id) const;
  /// Of the numbers that such a layer reads: if not 8 bits.
  Type type(LayerId id) const;
  bool is_int8(LayerId id) const { return variant(id).precision == board::Precision::int8; }
  /// Whether its int8 kernel reads integers of which another than 0 stands for 0.
  bool takes_zero(LayerId id) const;
  /// In 8 bits, as the calibration says. Tensors that are concatenated in 8 bits agree on one
  /// encoding. InputError naming the tensor if the calibration lacks it.
  Quantization quantization(TensorId id) const;
  /// For a layer that reads it: the same, or symmetric if its kernel takes no other integer for 0.
  Quantization quantization(TensorId id, LayerId reader) const;
  /// By channel, if the calibration has them.
  std::span<const float> means(TensorId id) const;
  /// Whether all that reads the tensor, in this subnet or not, reads 8 bits.
  bool is_read_in_8_bits(TensorId id) const { return read_in_8_bits_[id.index]; }

  /// Whether the layer is one of the subnet's, and whether others need the tensor outside.
  bool has(LayerId id) const;
  bool is_output(TensorId id) const;
  /// Of the whole network; none: an input or a constant.
  std::optional<LayerId> producer(TensorId id) const { return topology_.producer[id.index]; }
  /// Ascending; of the whole network.
  const std::vector<LayerId>& readers(TensorId id) const { return topology_.consumers[id.index]; }

  /// The steps that follow belong to these layers.
  void begin_group(std::vector<LayerId> layers);
  /// Brings the outputs of the group into the form in which others want them.
  void end_group();

  /// As it lies now; integers of the network: plain.
  Value value(TensorId id);
  Value plain(TensorId id);
  /// 8-bit integers of the network or float32, converted if need be.
  Value channels_last(TensorId id);
  /// Whether it lies so, and not row-major at the same time.
  bool is_channels_last(TensorId id) const;
  /// Row-major, in the type in which it lies.
  Value row_major(TensorId id);
  /// In this layout, converted if need be; constants are packed. Not for integers.
  Value in_layout(TensorId id, const Desc& layout, const Encoding& encoding = {});
  /// The same, with the tensor's plain memory read in another way (transposed, grouped) and
  /// scaled first.
  Value in_layout(TensorId id, const Packing& packing);
  /// Where a packed or given constant lies, as long as the program lives.
  const std::byte* constant_data(const Value& value) const;
  /// A place for a tensor that a step will write.
  Value make(TensorId id, const Desc& layout, const Encoding& encoding = {});
  Value make_plain(TensorId id);  // of any type
  /// A place that belongs to no tensor.
  Value make_temporary(const Desc& layout);
  /// A place with these numbers.
  Value keep(const std::vector<float>& numbers);
  /// Says where a tensor is, when no step is needed to make it.
  void define(TensorId id, const Value& value);

  void run(const Kernel& kernel, std::vector<Operand> reads, std::vector<Operand> writes);
  /// The first operand read may share its place with the first one written.
  void run_in_place(const Kernel& kernel, std::vector<Operand> reads, std::vector<Operand> writes);
  void loops(LayerId layer);
  /// A loop of ours in place of network::evaluate.
  void loops(LayerId layer, const PlainLoop& own, const std::string& kernel);
  /// The same, with its first input and its output in channels_last().
  void loops_channels_last(LayerId layer, const PlainLoop& own, const std::string& kernel);
  void normalize(const NormalizeWork& work);
  void run(const OwnWork& work, const std::string& kernel);
  void run_in_place(const OwnWork& work, const std::string& kernel);
  void copy(const CopyWork& work);
  /// Copies all; nothing to do where the place can be shared because nobody needs `from` any more.
  void copy_in_place(const Value& from, const Value& to);
  /// The same for bytes of something larger, or for all of it, that no other step writes: `from`
  /// may be read further.
  void copy_part(const Value& from, const Value& to);

  struct Result {
    Program program;
    std::vector<Port> outputs;
  };
  Result finish();

 private:
  std::size_t new_storage(Storage storage);
  bool must_be_plain(TensorId id) const;
  Value constant(TensorId id);
  Value plain_integers(TensorId id);
  Value bytes_in_layout(TensorId id, const Desc& layout);
  void add_loop(LoopWork work, const std::string& kernel);
  Value keep(std::span<const std::byte> numbers, const Desc& desc);
  Value convert(const Value& value, const Packing& packing, const Encoding& encoding = {});
  Value convert_halves(Value value, const Packing& packing, const Encoding& encoding);
  Value convert_apart(Value value, const Packing& packing, const Encoding& encoding);
  std::optional<Value> convert_bytes(const Value& value, const Packing& packing,
                                     const Encoding& encoding);
  Step& add(Step step, const std::string& kernel);
  Step primitive_step(const Kernel& kernel, std::vector<Operand> reads,
                      std::vector<Operand> writes);
  Port bind_output(std::size_t port);
  void find_readers();
  const network::Range& range(TensorId id) const;

  Device device_;
  const SubnetRequest& request_;
  network::Topology topology_;        // of the whole network
  std::vector<bool> read_in_8_bits_;  // by tensor; only if any of the network runs in int8
  Program program_;
  std::unordered_map<TensorId, Value> values_;
  std::unordered_map<TensorId, std::vector<Value>> converted_;  // besides values_
};

}  // namespace millrace::engine::onednn
