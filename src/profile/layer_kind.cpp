#include "profile/layer_kind.h"

#include <algorithm>
#include <set>

#include "network/operator_kinds.h"

namespace millrace::profile {
namespace {

std::string convolution_word(const network::Network& network, LayerId id,
                             const network::Conv& convolution) {
  constexpr std::int64_t channels_of_images = 4, few_positions = 64;
  const network::Shape& result = network[network[id].outputs[0]].shape;
  const std::int64_t positions =
      network::element_count(result) / std::max<std::int64_t>(1, result[1]);
  const network::Shape& weights = network[network[id].inputs[1]].shape;
  const network::Window& window = convolution.window;
  const auto all = [](const network::Shape& values, std::int64_t value) {
    return std::all_of(values.begin(), values.end(), [&](auto each) { return each == value; });
  };
  if (convolution.groups > 1 && weights[1] == 1) return "Conv.depthwise";
  if (weights[1] <= channels_of_images) return "Conv.image";
  if (positions <= few_positions) return "Conv.few";
  if (all(window.kernel, 1)) return "Conv.1x1";
  if (all(window.kernel, 3) && all(window.strides, 1)) return "Conv.3x3";
  return "Conv.other";
}

class GroupFinder {
 public:
  GroupFinder(const network::Network& network, const MayJoin& where)
      : network_(network),
        where_(where),
        topology_(network::topology(network)),
        first_(network.layers.size()),
        taken_(network.layers.size(), false) {}

  std::vector<std::optional<LayerId>> find() {
    for (const bool arithmetic : {false, true})  // products first, the last of them first of all
      for (std::size_t i = network_.layers.size(); i-- > 0;) {
        const network::Operator& op = network_.layers[i].op;
        if (!taken_[i] && (arithmetic ? network::is_binary(op) : network::leads_fusion(op)))
          grow(LayerId(i));
      }
    return first_;
  }

 private:
  void grow(LayerId head) {
    taken_[head.index] = true;
    LayerId last = head;
    for (auto next = follower(last); next && where_[next->index] == where_[head.index];
         next = follower(last)) {
      taken_[next->index] = true;
      first_[next->index] = head;
      last = *next;
    }
  }

  std::optional<LayerId> follower(LayerId last) const {
    const TensorId result = network_[last].outputs[0];
    const auto& readers = topology_.consumers[result.index];
    if (topology_.is_output[result.index] || readers.size() != 1 || taken_[readers[0].index])
      return std::nullopt;
    const network::Layer& reader = network_[readers[0]];
    const bool is_binary = network::is_binary(reader.op);
    if (!is_binary && !std::holds_alternative<network::Unary>(reader.op)) return std::nullopt;
    if (is_binary && (reader.inputs[0] == reader.inputs[1] ||
                      network_[reader.outputs[0]].shape != network_[result].shape))
      return std::nullopt;
    return readers[0];
  }

  const network::Network& network_;
  const MayJoin& where_;
  network::Topology topology_;
  std::vector<std::optional<LayerId>> first_;
  std::vector<bool> taken_;
};

}  // namespace

std::vector<std::string> kinds_of(const network::Network& network, LayerId layer) {
  std::vector<std::string> kinds;
  if (const auto* convolution = std::get_if<network::Conv>(&network[layer].op))
    kinds.push_back(convolution_word(network, layer, *convolution));
  kinds.emplace_back(network::name_of(network[layer].op));
  return kinds;
}

std::vector<std::optional<LayerId>> usual_groups(const network::Network& network,
                                                 const MayJoin& where) {
  return GroupFinder(network, where).find();
}

Load load_of(const network::Network& network, const std::vector<LayerId>& layers,
             double bytes_per_element) {
  constexpr double bytes_of_f32 = 4;
  Load load{kinds_of(network, layers.front()), 0, 0};
  std::set<TensorId> inside;
  for (const LayerId layer : layers) {
    load.operations += static_cast<double>(network::cost_of(network, layer).operations);
    for (const TensorId input : network[layer].inputs)
      if (input.valid() && !inside.contains(input))
        load.bytes += static_cast<double>(network[input].size().count);
    inside.insert(network[layer].outputs.begin(), network[layer].outputs.end());
  }
  for (const TensorId output : network[layers.back()].outputs)
    if (output.valid()) load.bytes += static_cast<double>(network[output].size().count);
  load.bytes *= bytes_per_element / bytes_of_f32;
  return load;
}

}  // namespace millrace::profile
