#pragma once
// The network while its sections become layers.
#include <map>
#include <string>
#include <vector>

#include "formats/darknet/darknet.h"
#include "formats/darknet/section.h"
#include "formats/darknet/weights.h"

namespace millrace::formats::darknet {

/// Collects tensors and layers. A layer and the tensor it makes have the same name: the kind of
/// the section and its number as Darknet counts, from 0, without [net].
class Reading {
 public:
  Reading(std::vector<Section> sections, bool weights_transposed)
      : sections_(std::move(sections)), transposed_(weights_transposed) {}

  const std::vector<Section>& sections() const { return sections_; }
  /// The number of layers read so far, and so of the one that is being read.
  std::size_t count() const { return outputs_.size(); }
  const Section& section() const { return sections_[outputs_.size() + 1]; }
  /// "conv12" if the section that is being read is number 12.
  std::string name(std::string_view kind) const;
  bool weights_transposed() const { return transposed_; }

  /// What the section before made, or the network's input; what section `number` made.
  TensorId before() const { return outputs_.empty() ? network_.inputs.front() : outputs_.back(); }
  TensorId output_of(std::size_t number) const { return outputs_[number]; }
  const Shape& shape(TensorId id) const { return network_[id].shape; }
  /// The shape of before(), which has to be that of an image: N, C, H, W.
  const Shape& image() const;

  TensorId add_input(const std::string& name, Shape shape);
  /// The name is made unique. Errors, such as a shape with too many elements, are at the section
  /// that is being read.
  TensorId add(const std::string& name, Operator op, std::vector<TensorId> inputs, Shape shape);
  /// Parts along dimension 1, called NAME_0, NAME_1, ...
  std::vector<TensorId> split(const std::string& name, TensorId x, const Shape& sizes);
  /// A weight, whose values come after all sections were read.
  TensorId weight(const std::string& name, Shape shape, const Spread& spread);
  TensorId constant(const std::string& name, float value);

  /// Ends the section that is being read.
  void finish_section(TensorId output) { outputs_.push_back(output); }
  void add_head(Head head, TensorId output);

  Network& network() { return network_; }
  const std::vector<Wanted>& wanted() const { return wanted_; }
  std::vector<Head>& heads() { return heads_; }

 private:
  TensorId add_tensor(const std::string& name, Shape shape);
  std::string unique(const std::string& name);

  std::vector<Section> sections_;
  bool transposed_;
  Network network_;
  std::map<std::string, int> names_;  // of layers, and how often they were wanted
  std::vector<TensorId> outputs_;     // by section, without [net]
  std::vector<Wanted> wanted_;
  std::vector<Head> heads_;
};

}  // namespace millrace::formats::darknet
