#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "network/operator_kinds.h"
#include "network/simplify/simplify.h"

namespace millrace::network {
namespace {

/// With fewer channels the sum that takes their place costs about as much as is saved.
constexpr std::int64_t fewest_channels = 96;

bool counts_one(std::int64_t n) { return n == 1; }
bool counts_none(std::int64_t n) { return n == 0; }

/// A sum over channels, pixel by pixel.
bool weighs_pixels(const Network& network, const Layer& layer) {
  const auto* const conv = std::get_if<Conv>(&layer.op);
  if (conv == nullptr || conv->groups != 1) return false;
  const Window& w = conv->window;
  const Tensor& weights = network[layer.inputs[1]];
  return weights.constant && !weights.quantized && weights.type == DataType::float32 &&
         std::ranges::all_of(w.kernel, counts_one) && std::ranges::all_of(w.strides, counts_one) &&
         std::ranges::all_of(w.pads_begin, counts_none) &&
         std::ranges::all_of(w.pads_end, counts_none);
}

/// Makes images larger, each pixel a weighted mean of others of the same channel.
bool enlarges(const Network& network, const Layer& layer) {
  const auto* const resize = std::get_if<Resize>(&layer.op);
  if (resize == nullptr || resize->mode != ResizeMode::linear || resize->antialias ||
      resize->coordinates == Coordinates::tf_crop_and_resize)
    return false;
  const Shape& from = network[layer.inputs[0]].shape;
  const Shape& to = network[layer.outputs[0]].shape;
  // A scale that rounds to the same number of channels would mix them.
  return from.size() > 2 && from[0] == to[0] && from[1] == to[1] && resize->scales[0] == 1 &&
         resize->scales[1] == 1 && element_count(to) >= 2 * element_count(from) &&
         element_count(from) > 0;
}

/// The part of weights [M, C, 1, ...] that is for some channels.
Array channels_of(const Array& weights, std::int64_t first, std::int64_t count) {
  const auto all = weights.shape[1];
  Shape shape = weights.shape;
  shape[1] = count;
  std::vector<float> part;
  for (std::int64_t m = 0; m < shape[0]; ++m) {
    const auto row = weights.values<float>().subspan(static_cast<std::size_t>(m * all + first),
                                                     static_cast<std::size_t>(count));
    part.insert(part.end(), row.begin(), row.end());
  }
  return make_array<float>(DataType::float32, std::move(shape), part);
}

/// A convolution of one pixel behind a concatenation, some of whose parts are enlarged.
struct Site {
  std::size_t concat, conv;
  std::vector<bool> enlarged;  // by part
};

class Narrowing {
 public:
  explicit Narrowing(Network& network) : network_(network), topology_(topology(network)) {}

  void run() {
    std::vector<Site> sites;
    for (std::size_t i = 0; i < network_.layers.size(); ++i)
      if (auto site = site_at(i)) sites.push_back(std::move(*site));
    if (sites.empty()) return;
    for (const Layer& layer : network_.layers) names_.insert(layer.name);
    before_.resize(network_.layers.size());
    for (const Site& site : sites) rewrite(site);
    std::vector<Layer> layers;
    for (std::size_t i = 0; i < network_.layers.size(); ++i) {
      std::ranges::move(before_[i], std::back_inserter(layers));
      layers.push_back(std::move(network_.layers[i]));
    }
    network_.layers = std::move(layers);
  }

 private:
  std::optional<Site> site_at(std::size_t index) const {
    const Layer& conv = network_.layers[index];
    if (!weighs_pixels(network_, conv)) return std::nullopt;
    const auto concat = sole_producer(conv.inputs[0]);
    if (!concat) return std::nullopt;
    const Layer& parts = network_[*concat];
    const auto* const op = std::get_if<Concat>(&parts.op);
    if (op == nullptr || op->axis != 1) return std::nullopt;
    Site site{concat->index, index, {}};
    const std::int64_t filters = network_[conv.outputs[0]].shape[1];
    for (const TensorId part : parts.inputs) {
      const auto resize = sole_producer(part);
      const std::int64_t channels = network_[part].shape[1];
      site.enlarged.push_back(resize && enlarges(network_, network_[*resize]) &&
                              channels >= fewest_channels && filters <= channels &&
                              std::ranges::count(parts.inputs, part) == 1);
    }
    // What is left takes the bias and all that is fused into a convolution.
    const auto enlarged = std::ranges::count(site.enlarged, true);
    const auto parts_count = static_cast<std::ptrdiff_t>(site.enlarged.size());
    return enlarged > 0 && enlarged < parts_count ? std::optional(site) : std::nullopt;
  }

  /// The layer that makes the tensor, if only one layer reads it.
  std::optional<LayerId> sole_producer(TensorId tensor) const {
    const bool sole =
        topology_.consumers[tensor.index].size() == 1 && !topology_.is_output[tensor.index];
    return sole ? topology_.producer[tensor.index] : std::nullopt;
  }

  void rewrite(const Site& site) {
    const std::vector<TensorId> parts = network_.layers[site.concat].inputs;
    const Array weights = *network_[network_.layers[site.conv].inputs[1]].constant;
    std::vector<TensorId> left, sums;
    std::vector<Array> weights_left;
    std::int64_t first = 0;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const std::int64_t channels = network_[parts[p]].shape[1];
      const Array own = channels_of(weights, first, channels);
      first += channels;
      if (site.enlarged[p])
        sums.push_back(weigh_before_enlarging(site, parts[p], own, sums.size()));
      else
        left.push_back(parts[p]), weights_left.push_back(own);
    }
    keep(site, left, joined(weights_left));
    add_up(site, sums);
  }

  /// The enlarged tensor of sums over channels.
  TensorId weigh_before_enlarging(const Site& site, TensorId part, const Array& weights,
                                  std::size_t number) {
    const Layer& conv = network_.layers[site.conv];
    const std::string name = new_name(conv.name + "/part" + std::to_string(number + 1));
    const std::size_t at = topology_.producer[part.index]->index;
    Shape small = network_[network_.layers[at].inputs[0]].shape, large = network_[part].shape;
    small[1] = large[1] = weights.shape[0];
    const TensorId sums = add_tensor(name, small), enlarged = add_tensor(name + "/enlarged", large);
    Layer weigh{
        name, conv.op, {network_.layers[at].inputs[0], add_constant(name, weights)}, {sums}};
    before_[at].push_back(std::move(weigh));
    network_.layers[at].inputs[0] = sums;
    network_.layers[at].outputs[0] = enlarged;
    return enlarged;
  }

  static Array joined(const std::vector<Array>& parts) {
    if (parts.size() == 1) return parts.front();
    Shape shape = parts.front().shape;
    shape[1] = 0;
    for (const Array& part : parts) shape[1] += part.shape[1];
    std::vector<float> all;
    for (std::int64_t m = 0; m < shape[0]; ++m)
      for (const Array& part : parts) {
        const auto width = static_cast<std::size_t>(part.shape[1]);
        const auto row = part.values<float>().subspan(static_cast<std::size_t>(m) * width, width);
        all.insert(all.end(), row.begin(), row.end());
      }
    return make_array<float>(DataType::float32, std::move(shape), all);
  }

  /// The convolution reads what was not enlarged, through the concatenation if that is several.
  void keep(const Site& site, const std::vector<TensorId>& left, const Array& weights) {
    Layer& concat = network_.layers[site.concat];
    Layer& conv = network_.layers[site.conv];
    if (left.size() == 1) {
      conv.inputs[0] = left.front();
    } else {
      Shape shape = network_[concat.outputs[0]].shape;
      shape[1] = weights.shape[1];
      concat.inputs = left;
      concat.outputs[0] = conv.inputs[0] = add_tensor(concat.name + "/rest", shape);
    }
    conv.inputs[1] = add_constant(conv.name + "/rest", weights);
  }

  void add_up(const Site& site, const std::vector<TensorId>& sums) {
    Layer& conv = network_.layers[site.conv];
    const Shape shape = network_[conv.outputs[0]].shape;
    TensorId sum = sums.front();
    for (std::size_t i = 1; i < sums.size(); ++i) {
      const std::string name = new_name(conv.name + "/sum" + std::to_string(i));
      const TensorId next = add_tensor(name, shape);
      before_[site.conv].push_back({name, Binary{BinaryKind::add}, {sum, sums[i]}, {next}});
      sum = next;
    }
    const TensorId result = conv.outputs[0];
    conv.outputs[0] = add_tensor(conv.name + "/rest", shape);
    Layer last{
        new_name(conv.name + "/sum"), Binary{BinaryKind::add}, {conv.outputs[0], sum}, {result}};
    // Behind the convolution, which stands before whatever comes next.
    before_[site.conv].push_back(std::move(conv));
    network_.layers[site.conv] = std::move(last);
  }

  /// No layer's yet.
  std::string new_name(std::string name) {
    while (!names_.insert(name).second) name += '_';
    return name;
  }

  TensorId add_tensor(const std::string& name, const Shape& shape) {
    network_.tensors.push_back({name, DataType::float32, shape, std::nullopt});
    return TensorId(network_.tensors.size() - 1);
  }
  TensorId add_constant(const std::string& name, const Array& values) {
    network_.tensors.push_back({name + ".weight", values.type, values.shape, values});
    return TensorId(network_.tensors.size() - 1);
  }

  Network& network_;
  Topology topology_;
  std::vector<std::vector<Layer>> before_;  // by layer: what is put before it
  std::unordered_set<std::string> names_;   // of layers
};

}  // namespace

Network weigh_before_enlarging(Network network) {
  Narrowing(network).run();
  return remove_unused(std::move(network));
}

}  // namespace millrace::network
