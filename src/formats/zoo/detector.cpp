#include "formats/zoo/detector.h"

#include <fmt/format.h>

#include <algorithm>

namespace millrace::formats::zoo {
namespace {

constexpr std::int64_t coordinates = 4;
constexpr std::int64_t yolo_boxes = 3, region_boxes = 5;

}  // namespace

std::string Detector::name(const char* kind) const {
  return fmt::format("{}{}", kind, outputs_.size());
}

const Value& Detector::at(int layer) const {
  const auto count = static_cast<int>(outputs_.size());
  return outputs_.at(static_cast<std::size_t>(layer < 0 ? count + layer : layer));
}

Value Detector::activated(const Value& x, Activation activation) {
  switch (activation) {
    case Activation::leaky:
      return zoo::leaky_relu(net_, x);
    case Activation::mish:
      return zoo::mish(net_, x);
    case Activation::logistic:
      return zoo::sigmoid(net_, x.name + "_logistic", x);
    case Activation::linear:
      break;
  }
  return x;
}

void Detector::conv(std::int64_t filters, const DetectorConv& spec) {
  const ConvSpec window{.outputs = filters,
                        .kernel = spec.kernel,
                        .stride = spec.stride,
                        .pad = spec.kernel / 2,
                        .groups = spec.groups,
                        .bias = !spec.normalized,
                        .gain = spec.gain};
  const Value x = spec.normalized ? zoo::conv_bn(net_, name("conv"), before(), window)
                                  : zoo::conv(net_, name("conv"), before(), window);
  outputs_.push_back(activated(x, activation_));
}

void Detector::max_pool(std::int64_t kernel, std::int64_t stride) {
  // Windows reach beyond the far side only if they move by one pixel: all sizes are even.
  const std::int64_t pad = (kernel - 1) / 2;
  const std::int64_t end = stride == 1 ? kernel - 1 - pad : 0;
  outputs_.push_back(
      zoo::max_pool(net_, name("maxpool"), before(),
                    {.kernel = kernel, .stride = stride, .pad = pad, .pad_end = end}));
}

void Detector::upsample() {
  outputs_.push_back(zoo::upsample(net_, name("upsample"), before(), 2));
}

void Detector::route(const std::vector<int>& layers) {
  std::vector<Value> parts;
  for (const int layer : layers) parts.push_back(at(layer));
  outputs_.push_back(parts.size() == 1 ? parts.front() : zoo::concat(net_, name("route"), parts));
}

void Detector::second_half() {
  const std::int64_t half = before().channels() / 2;
  const std::string own = fmt::format("{}_part{}", name("route"), last());
  outputs_.push_back(zoo::channels(net_, own, before(), {half, half}));
}

void Detector::shortcut(int layer, Activation activation) {
  const std::string own = name("shortcut");
  Value other = at(layer);
  const std::int64_t channels = before().channels();
  const std::string fitted = own + "_" + other.name;
  if (other.channels() > channels) other = zoo::channels(net_, fitted, other, {0, channels});
  if (other.channels() < channels) other = zoo::pad_channels(net_, fitted, other, channels);
  outputs_.push_back(activated(zoo::add(net_, own, before(), other), activation));
}

void Detector::reorg() {
  const std::string own = name("reorg");
  const Shape& s = before().shape;
  const std::int64_t c = s[1], h = s[2], w = s[3];
  const Value squares = zoo::reshape(net_, own + "_squares", before(), {1, c / 4, h, 2, w, 2});
  const Value turned = zoo::transpose(net_, own + "_turned", squares, {0, 3, 5, 1, 2, 4});
  outputs_.push_back(zoo::reshape(net_, own, turned, {1, c * 4, h / 2, w / 2}));
}

void Detector::head(const std::string& name, const std::vector<Value>& parts) {
  const Shape shape = before().shape;
  outputs_.push_back(zoo::reshape(net_, name, zoo::concat(net_, name + "_concat", parts), shape));
  heads_.push_back(outputs_.back());
}

void Detector::yolo(double scale, bool raw) {
  const std::string own = name("yolo");
  const Shape& s = before().shape;
  const std::int64_t values = s[1] / yolo_boxes;
  const auto factor = static_cast<float>(scale);
  const auto widened = [&](const Value& x) {
    return scale == 1 ? x : zoo::affine(net_, own + "_places", x, {factor, (factor - 1) / 2});
  };
  const Value boxes =
      zoo::reshape(net_, own + "_boxes", before(), {yolo_boxes, values, s[2], s[3]});
  if (raw) {
    const auto parts = zoo::split(net_, own + "_parts", boxes, {2, values - 2});
    return head(own, {widened(parts[0]), parts[1]});
  }
  const auto parts = zoo::split(net_, own + "_parts", boxes, {2, 2, values - coordinates});
  const Value places = widened(zoo::sigmoid(net_, own + "_inside", parts[0]));
  head(own, {places, parts[1], zoo::sigmoid(net_, own + "_scores", parts[2])});
}

void Detector::region(std::int64_t classes) {
  const std::string own = name("region");
  const Shape& s = before().shape;
  const Value boxes = zoo::reshape(net_, own + "_boxes", before(),
                                   {region_boxes, coordinates + 1 + classes, s[2], s[3]});
  const auto parts = zoo::split(net_, own + "_parts", boxes, {2, 2, 1, classes});
  const Value places = zoo::sigmoid(net_, own + "_places", parts[0]);
  const Value objectness = zoo::sigmoid(net_, own + "_objectness", parts[2]);
  head(own, {places, parts[1], objectness, zoo::softmax(net_, own + "_classes", parts[3])});
}

}  // namespace millrace::formats::zoo
