#pragma once
// Builds detectors layer by layer, in the way in which their authors number the layers.
#include <string>
#include <vector>

#include "formats/zoo/layers.h"

namespace millrace::formats::zoo {

enum class Activation { linear, leaky, mish, logistic };

/// What is written in front of a convolution's number of filters: kernel, stride and so on.
struct DetectorConv {
  std::int64_t kernel = 1, stride = 1, groups = 1;
  bool normalized = true;
  float gain = 1;  // of seeded batch normalisations: below 1 in front of a shortcut
};

/// Layers have numbers from 0, as Darknet counts them, and are named after them. A negative
/// number counts backwards from the layer that is being added.
class Detector {
 public:
  Detector(Builder& net, Value image) : net_(net), image_(std::move(image)) {}

  /// Sets the activation of the convolutions that follow.
  void activate_with(Activation activation) { activation_ = activation; }

  void conv(std::int64_t filters, const DetectorConv& spec = {});
  void max_pool(std::int64_t kernel, std::int64_t stride = 1);
  void upsample();
  void route(const std::vector<int>& layers);
  /// The second half of the last layer's channels.
  void second_half();
  /// Adds an earlier layer to the last one: of as many channels as both have.
  void shortcut(int layer, Activation activation = Activation::linear);
  void reorg();
  /// Boxes with 4 coordinates; `scale` widens x and y. `raw`: the convolution does the rest.
  void yolo(double scale = 1, bool raw = false);
  void region(std::int64_t classes);

  /// The number of the last layer.
  int last() const { return static_cast<int>(outputs_.size()) - 1; }
  std::string finish() { return net_.finish(heads_); }

 private:
  std::string name(const char* kind) const;
  const Value& before() const { return outputs_.empty() ? image_ : outputs_.back(); }
  const Value& at(int layer) const;
  Value activated(const Value& x, Activation activation);
  void head(const std::string& name, const std::vector<Value>& parts);

  Builder& net_;
  Value image_;
  Activation activation_ = Activation::leaky;
  std::vector<Value> outputs_;
  std::vector<Value> heads_;
};

}  // namespace millrace::formats::zoo
