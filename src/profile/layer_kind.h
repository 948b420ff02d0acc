#pragma once
// What makes layers alike to a model of their times.
#include <string>
#include <vector>

#include "network/network.h"

namespace millrace::profile {

/// The words for a layer under which a board file may say how efficient it is, the most special one
/// first, ONNX's name last: {"Conv.3x3", "Conv"}, {"MaxPool"}. Of convolutions there are
/// "Conv.depthwise", "Conv.image" (at most 4 input channels), "Conv.few" (at most 64 positions in
/// each output channel: its weights are read for little work), "Conv.1x1", "Conv.3x3" (of stride 1)
/// and "Conv.other".
std::vector<std::string> kinds_of(const network::Network& network, LayerId layer);

/// Layers that libraries run as one kernel, by LayerId: the layer that each joins, directly the
/// first of its group; nothing for the first itself. What follows a convolution, a product, a
/// normalisation or element-wise arithmetic with two operands, element by element, joins it if
/// nobody else reads what is between them and `may_join(first, follower)`.
using MayJoin = std::vector<std::vector<bool>>;  // by layer: where it can run
std::vector<std::optional<LayerId>> usual_groups(const network::Network& network,
                                                 const MayJoin& where);

/// What a kernel of these layers, ascending, reads, writes and calculates.
struct Load {
  std::vector<std::string> kinds;  // of the first layer
  double operations = 0, bytes = 0;
};
Load load_of(const network::Network& network, const std::vector<LayerId>& layers,
             double bytes_per_element);

}  // namespace millrace::profile
