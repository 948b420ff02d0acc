// Functions of one number that an exporter wrote as several layers, such as GELU with Erf.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "network/evaluate/evaluate.h"
#include "network/operator_kinds.h"
#include "network/simplify/simplify.h"

namespace millrace::network {
namespace {

constexpr std::size_t most_layers = 10;
constexpr std::size_t fewest_layers = 3;  // engines fuse x * sigmoid(x) as it is

/// Where a function must agree with a known one: densely where they differ, and far outside.
std::vector<double> many_samples() {
  std::vector<double> samples;
  for (int i = -640; i <= 640; ++i) samples.push_back(i / 32.0 + 1.0 / 128);
  for (const double far : {60., 1e3, 1e5, 1e30}) samples.insert(samples.end(), {far, -far});
  return samples;
}

/// Enough for most other functions to be told apart, at a hundredth of the time.
std::vector<double> few_samples() {
  std::vector<double> samples;
  for (int i = -4; i <= 4; ++i) samples.push_back(i * 0.75 + 1.0 / 128);
  return samples;
}

bool is_scalar(const Network& network, TensorId id) {
  const Tensor& tensor = network[id];
  return tensor.constant && tensor.type == DataType::float32 && element_count(tensor.shape) == 1;
}

/// Computes each element of its output from the same element of one or two tensors.
bool is_pointwise(const Network& network, const Layer& layer) {
  if (!is_one_of<Unary, Binary>(layer.op)) return false;
  const Tensor& output = network[layer.outputs[0]];
  const auto fits = [&](TensorId id) {
    return is_scalar(network, id) || network[id].shape == output.shape;
  };
  return output.type == DataType::float32 &&
         std::all_of(layer.inputs.begin(), layer.inputs.end(), fits);
}

/// The layers between a tensor and one that is computed from its elements alone.
struct Cone {
  TensorId root;
  std::vector<LayerId> layers;  // descending
};

/// Grows backwards from the last layer. After each step all that is computed comes from the open
/// tensors; where only one is open, the cone is a function of that.
class ConeGrowth {
 public:
  ConeGrowth(const Network& network, const Topology& topology, LayerId last)
      : network_(network), topology_(topology) {
    take(last);
  }

  /// The next larger function; nothing when there is none.
  std::optional<Cone> next() {
    while (!open_.empty() && layers_.size() <= most_layers) {
      const TensorId newest = *std::max_element(
          open_.begin(), open_.end(), [&](TensorId a, TensorId b) { return age(a) < age(b); });
      if (open_.size() == 1 && seen_ != layers_.size()) {
        seen_ = layers_.size();
        return Cone{newest, layers_};
      }
      if (!can_take(newest)) return std::nullopt;
      open_.erase(newest);
      take(*topology_.producer[newest.index]);
    }
    return std::nullopt;
  }

 private:
  std::size_t age(TensorId id) const {
    const auto producer = topology_.producer[id.index];
    return producer ? producer->index + 1 : 0;
  }

  /// Nobody outside may need what vanishes.
  bool can_take(TensorId id) const {
    const auto producer = topology_.producer[id.index];
    if (!producer || topology_.is_output[id.index] || !is_pointwise(network_, network_[*producer]))
      return false;
    const auto& readers = topology_.consumers[id.index];
    return std::all_of(readers.begin(), readers.end(), [&](LayerId reader) {
      return std::find(layers_.begin(), layers_.end(), reader) != layers_.end();
    });
  }

  void take(LayerId id) {
    layers_.push_back(id);
    for (const TensorId input : network_[id].inputs)
      if (!is_scalar(network_, input)) open_.insert(input);
  }

  const Network& network_;
  const Topology& topology_;
  std::set<TensorId> open_;
  std::vector<LayerId> layers_;
  std::size_t seen_ = 0;
};

/// The values of pointwise layers for all samples, in float64.
class Samples {
 public:
  Samples(const Network& network, std::vector<double> points)
      : network_(network), points_(std::move(points)) {
    shape_ = {static_cast<std::int64_t>(points_.size())};
    for (const Unary& known : known_functions())
      functions_.push_back({known, values_of({"", known, {}, {}}, {view(points_)})});
  }

  std::optional<Unary> recognise(const Cone& cone) const {
    const std::vector<double> found = values_of(cone);
    const bool guarded = std::any_of(cone.layers.begin(), cone.layers.end(),
                                     [this](LayerId layer) { return is_guard(layer); });
    for (const Function& function : functions_)
      if ((!guarded || function.unary.kind == UnaryKind::hard_swish) &&
          agree(found, function.values))
        return function.unary;
    return std::nullopt;
  }

 private:
  struct Function {
    Unary unary;
    std::vector<double> values;
  };

  static std::vector<Unary> known_functions() {
    using enum UnaryKind;
    return {{gelu}, {gelu_tanh}, {swish, 1}, {swish, 1.702}, {mish}, {hard_swish}, {sigmoid}};
  }

  ConstView view(const std::vector<double>& values) const {
    return {DataType::float64, shape_, reinterpret_cast<const std::byte*>(values.data())};
  }

  std::vector<double> values_of(const Layer& layer, const std::vector<ConstView>& inputs) const {
    std::vector<double> result(points_.size());
    const View output{DataType::float64, shape_, reinterpret_cast<std::byte*>(result.data())};
    evaluate(layer, inputs, {&output, 1});
    return result;
  }

  std::vector<double> values_of(const Cone& cone) const {
    std::vector<std::pair<TensorId, std::vector<double>>> known{{cone.root, points_}};
    for (auto id = cone.layers.rbegin(); id != cone.layers.rend(); ++id) {
      const Layer& layer = network_[*id];
      std::vector<Array> scalars;
      scalars.reserve(layer.inputs.size());
      std::vector<ConstView> inputs;
      for (const TensorId input : layer.inputs) {
        if (is_scalar(network_, input)) {
          scalars.push_back(converted(*network_[input].constant, DataType::float64));
          inputs.push_back({DataType::float64, {}, scalars.back().memory->data()});
          continue;
        }
        const auto value = std::find_if(known.begin(), known.end(),
                                        [&](const auto& each) { return each.first == input; });
        inputs.push_back(view(value->second));
      }
      known.emplace_back(layer.outputs[0], values_of(layer, inputs));
    }
    return std::move(known.back().second);
  }

  /// Constants of models are float32: they are off by some 1e-7 of themselves. Where the function
  /// is close to 0, what follows may be a logarithm or a reciprocal; only float64 cancels there.
  bool agree(const std::vector<double>& a, const std::vector<double>& b) const {
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double size = 1 + std::abs(points_[i]), off = std::abs(a[i] - b[i]);
      if (!(off <= 1e-6 * size && off <= 1e-3 * std::abs(b[i]) + 1e-15 * size)) return false;
    }
    return true;
  }

  /// Guards before a logarithm or a division: a clamp, or a small number that is added. They
  /// change values by less than constants are off, and yet they are what matters there.
  bool is_guard(LayerId id) const {
    const Layer& layer = network_[id];
    const auto* unary = std::get_if<Unary>(&layer.op);
    if (unary) return unary->kind == UnaryKind::clip;
    const auto& binary = std::get<Binary>(layer.op);
    if (binary.kind == BinaryKind::max || binary.kind == BinaryKind::min) return true;
    const bool adds = binary.kind == BinaryKind::add || binary.kind == BinaryKind::sub;
    return adds && std::any_of(layer.inputs.begin(), layer.inputs.end(), [this](TensorId input) {
             if (!is_scalar(network_, input)) return false;
             const float number = network_[input].constant->values<float>()[0];
             return number != 0 && std::abs(number) < 0.01f;
           });
  }

  const Network& network_;
  std::vector<double> points_;
  Shape shape_;
  std::vector<Function> functions_;
};

}  // namespace

Network recognise_functions(Network network) {
  const Topology before = topology(network);
  const Network given = network;
  const Samples few(given, few_samples()), many(given, many_samples());
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    if (!is_pointwise(given, given.layers[i])) continue;
    ConeGrowth growth(given, before, LayerId(i));
    while (const auto cone = growth.next()) {
      if (cone->layers.size() < fewest_layers) continue;
      const auto function = few.recognise(*cone) ? many.recognise(*cone) : std::nullopt;
      if (!function) continue;
      network.layers[i].op = *function;
      network.layers[i].inputs = {cone->root};
      break;
    }
  }
  return remove_unused(std::move(network));
}

}  // namespace millrace::network
