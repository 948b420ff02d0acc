#pragma once
// Collects the steps of a subnet and the places that they read and write.
#include <span>
#include <string>
#include <vector>

#include "engine/onednn/program.h"

namespace millrace::engine::onednn {

class ProgramWriter {
 public:
  /// The steps that follow belong to these layers.
  void begin_group(std::vector<LayerId> layers) {
    program_.groups.push_back({std::move(layers), ""});
  }
  const std::vector<LayerId>& group() const { return program_.groups.back().layers; }

  /// The number of the new place.
  std::size_t new_storage(Storage storage) {
    program_.storages.push_back(std::move(storage));
    return program_.storages.size() - 1;
  }
  /// A place that belongs to no tensor.
  Value make_temporary(const Desc& layout);
  /// A place with these numbers.
  Value keep(const std::vector<float>& numbers);
  /// Where a packed or given constant lies, as long as the program lives.
  const std::byte* constant_data(const Value& value) const {
    return program_.storages[value.storage].constant + value.offset.count;
  }

  void run(const Kernel& kernel, std::vector<Operand> reads, std::vector<Operand> writes);
  /// The first operand read may share its place with the first one written.
  void run_in_place(const Kernel& kernel, std::vector<Operand> reads, std::vector<Operand> writes);
  void run(const OwnWork& work, const std::string& kernel);
  void run_in_place(const OwnWork& work, const std::string& kernel);
  void run(LoopWork work, const std::string& kernel);
  void run(const NormalizeWork& work);
  void copy(const CopyWork& work);
  /// Copies all; nothing to do where the place can be shared because nobody needs `from` any more.
  void copy_in_place(const Value& from, const Value& to);
  /// The same for bytes of something larger, or for all of it, that no other step writes: `from`
  /// may be read further.
  void copy_part(const Value& from, const Value& to);
  /// The value becomes the output `port` of so many bytes.
  void give_out(const Value& value, std::size_t port, Bytes size);

  Program finish();

 private:
  Value keep(std::span<const std::byte> numbers, const Desc& desc);
  Step& add(Step step, const std::string& kernel);
  Step primitive_step(const Kernel& kernel, std::vector<Operand> reads,
                      std::vector<Operand> writes);

  Program program_;
};

}  // namespace millrace::engine::onednn
