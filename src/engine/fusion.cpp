#include "engine/fusion.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "network/operator_kinds.h"

namespace millrace::engine {
namespace {

using network::BinaryKind;
using network::Layer;
using network::Tensor;
using network::UnaryKind;

bool adds_residual(const Fused& fused) { return fused.kind == Fused::Kind::residual; }

/// A residual lies where the result will be, and there is room for one.
bool has_room_for(const Group& group, const Fused& next) {
  return !adds_residual(next) || std::none_of(group.tail.begin(), group.tail.end(), adds_residual);
}

/// A scalar, or one value per index of this dimension.
bool is_along(std::size_t dimension, const Tensor& operand, const Tensor& result) {
  const std::size_t rank = result.shape.size(), own = operand.shape.size();
  if (own > rank || rank < 2) return false;
  for (std::size_t d = 0; d < own; ++d) {
    const std::size_t at = d + rank - own;
    if (operand.shape[d] != 1 && (at != dimension || operand.shape[d] != result.shape[at]))
      return false;
  }
  return true;
}

/// Which dimension of its result a kernel can take one value each of: of matrices the columns.
std::size_t channels_of(const Layer& head, const Tensor& result) {
  return network::is_product(head.op) ? result.shape.size() - 1 : 1;
}

class Grouping {
 public:
  explicit Grouping(const Scope& scope, const Accepts& accepts)
      : network_(*scope.network), layers_(scope.layers), accepts_(accepts) {
    for (const TensorId output : scope.outputs) outputs_.insert(output);
    for (const LayerId id : layers_)
      for (const TensorId input : network_[id].inputs) note_consumer(input, id);
  }

  std::vector<Group> groups() {
    std::vector<Group> result;
    const auto start = [&](LayerId id) {
      if (!taken_.count(id)) result.push_back(grow(id));
    };
    for (const LayerId id : layers_)
      if (auto group = attention(id)) result.push_back(std::move(*group));
    for (auto id = layers_.rbegin(); id != layers_.rend(); ++id)
      if (network::leads_fusion(network_[*id].op)) start(*id);
    for (const LayerId id : layers_)
      if (is_binary(network_[id].op)) start(id);
    for (const LayerId id : layers_) start(id);
    std::sort(result.begin(), result.end(), [](const Group& a, const Group& b) {
      return layers_of(a).back() < layers_of(b).back();
    });
    return result;
  }

  /// Before any other group, since the second product leads one by itself.
  std::optional<Group> attention(LayerId head) {
    if (taken_.count(head) || !network::is_one_of<network::MatMul>(network_[head].op))
      return std::nullopt;
    const auto fused = attention_behind(network_[head].outputs[0]);
    if (!fused) return std::nullopt;
    Group group{head, {*fused}};
    if (!accepts_(group)) return std::nullopt;
    for (const LayerId id : layers_of(group)) taken_.insert(id);
    return group;
  }

 private:
  void note_consumer(TensorId tensor, LayerId id) {
    auto& list = consumers_[tensor];
    if (tensor.valid() && (list.empty() || list.back() != id)) list.push_back(id);
  }

  Group grow(LayerId head) {
    Group group{head, {}};
    taken_.insert(head);
    if (!network::leads_fusion(network_[head].op) && !network::is_binary(network_[head].op))
      return group;
    while (const auto next = follower(head, result_of(network_, group))) {
      if (!has_room_for(group, *next)) break;
      group.tail.push_back(*next);
      if (!accepts_(group)) {
        group.tail.pop_back();
        break;
      }
      taken_.insert(next->layers.begin(), next->layers.end());
    }
    return group;
  }

  std::optional<Fused> attention_behind(TensorId products) const {
    constexpr std::size_t most_before = 2;  // a scale and a mask
    Fused fused{Fused::Kind::attention, {}, {}, {}};
    TensorId now = products;
    for (bool raised = false;;) {
      const auto reader = sole_reader(now);
      if (!reader) return std::nullopt;
      const Layer& layer = network_[*reader];
      const bool first = layer.inputs[0] == now;
      if (layer.inputs.size() == 2 && layer.inputs[0] == layer.inputs[1]) return std::nullopt;
      if (raised) {
        if (!first || !network::is_one_of<network::MatMul>(layer.op)) return std::nullopt;
        fused.operand = layer.inputs[1];
        fused.result = layer.outputs[0];
      } else if (is_softmax_of_rows(layer)) {
        raised = true;
      } else if (!network::is_binary(layer.op) || fused.layers.size() == most_before ||
                 network_[layer.outputs[0]].shape != network_[now].shape) {
        return std::nullopt;
      }
      fused.layers.push_back(*reader);
      if (fused.operand.valid()) return fused;
      now = layer.outputs[0];
    }
  }

  bool is_softmax_of_rows(const Layer& layer) const {
    const auto* const softmax = std::get_if<network::Softmax>(&layer.op);
    const auto rank = static_cast<std::int64_t>(network_[layer.outputs[0]].shape.size());
    return softmax != nullptr && !softmax->log && softmax->axis == rank - 1 && softmax->end == rank;
  }

  std::optional<LayerId> sole_reader(TensorId tensor) const {
    const auto readers = consumers_.find(tensor);
    if (outputs_.count(tensor) || readers == consumers_.end() || readers->second.size() != 1 ||
        taken_.count(readers->second[0]))
      return std::nullopt;
    return readers->second[0];
  }

  /// What alone reads this tensor and could be done on it at once.
  std::optional<Fused> follower(LayerId head, TensorId tensor) const {
    const auto readers = consumers_.find(tensor);
    if (outputs_.count(tensor) || readers == consumers_.end()) return std::nullopt;
    for (const LayerId id : readers->second)
      if (taken_.count(id)) return std::nullopt;
    if (readers->second.size() == 2) return gate(tensor, readers->second[0], readers->second[1]);
    if (readers->second.size() != 1) return std::nullopt;
    const LayerId id = readers->second[0];
    const Layer& layer = network_[id];
    if (std::holds_alternative<network::Unary>(layer.op))
      return Fused{Fused::Kind::unary, {id}, {}, layer.outputs[0]};
    if (network::is_binary(layer.op)) return with_operand(head, tensor, id);
    return std::nullopt;
  }

  std::optional<Fused> with_operand(LayerId head, TensorId tensor, LayerId id) const {
    const Layer& layer = network_[id];
    const BinaryKind kind = std::get<network::Binary>(layer.op).kind;
    const bool first = layer.inputs[0] == tensor;
    const TensorId operand = layer.inputs[first ? 1 : 0];
    const Tensor& result = network_[layer.outputs[0]];
    if (operand == tensor || result.shape != network_[tensor].shape) return std::nullopt;
    if (kind == BinaryKind::pow || kind == BinaryKind::prelu) return std::nullopt;
    if (!first && (kind == BinaryKind::sub || kind == BinaryKind::div)) return std::nullopt;
    if (kind == BinaryKind::add && network_[operand].shape == result.shape &&
        !network_[operand].constant)
      return Fused{Fused::Kind::residual, {id}, operand, layer.outputs[0]};
    if (!is_along(channels_of(network_[head], result), network_[operand], result))
      return std::nullopt;
    return Fused{Fused::Kind::binary, {id}, operand, layer.outputs[0]};
  }

  /// x * sigmoid(x) and x * hard_sigmoid(x).
  std::optional<Fused> gate(TensorId tensor, LayerId inner, LayerId outer) const {
    const auto* unary = std::get_if<network::Unary>(&network_[inner].op);
    const auto* binary = std::get_if<network::Binary>(&network_[outer].op);
    if (!unary || !binary || binary->kind != BinaryKind::mul) return std::nullopt;
    const TensorId gated = network_[inner].outputs[0];
    const auto& inputs = network_[outer].inputs;
    const bool both =
        (inputs[0] == tensor && inputs[1] == gated) || (inputs[1] == tensor && inputs[0] == gated);
    const auto readers = consumers_.find(gated);
    const bool alone = readers != consumers_.end() && readers->second.size() == 1;
    if (!both || !alone || outputs_.count(gated)) return std::nullopt;
    const TensorId result = network_[outer].outputs[0];
    if (unary->kind == UnaryKind::sigmoid)
      return Fused{Fused::Kind::swish, {inner, outer}, {}, result};
    const bool standard = unary->kind == UnaryKind::hard_sigmoid && unary->beta == 0.5 &&
                          std::abs(unary->alpha - 1.0 / 6) < 1e-6;
    if (standard) return Fused{Fused::Kind::hard_swish, {inner, outer}, {}, result};
    return std::nullopt;
  }

  const network::Network& network_;
  std::span<const LayerId> layers_;
  const Accepts& accepts_;
  std::unordered_set<TensorId> outputs_;
  std::unordered_map<TensorId, std::vector<LayerId>> consumers_;
  std::unordered_set<LayerId> taken_;
};

}  // namespace

std::vector<LayerId> layers_of(const Group& group) {
  std::vector<LayerId> layers{group.head};
  for (const Fused& fused : group.tail)
    layers.insert(layers.end(), fused.layers.begin(), fused.layers.end());
  return layers;
}

TensorId result_of(const network::Network& network, const Group& group) {
  return group.tail.empty() ? network[group.head].outputs[0] : group.tail.back().result;
}

std::vector<Group> make_groups(const Scope& scope, const Accepts& accepts) {
  return Grouping(scope, accepts).groups();
}

std::optional<Group> attention_led_by(const Scope& scope, LayerId head, const Accepts& accepts) {
  return Grouping(scope, accepts).attention(head);
}

}  // namespace millrace::engine
