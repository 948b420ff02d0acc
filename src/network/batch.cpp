#include "network/batch.h"

#include <fmt/format.h>

#include <algorithm>

namespace millrace::network {
namespace {

/// One layer's operator, asked whether it keeps frames apart that are joined along dimension 0.
class KeepsFramesApart {
 public:
  KeepsFramesApart(const Network& network, const Layer& layer) : network_(network), layer_(layer) {}

  Verdict operator()(const Conv&) const { return others_are_constant(); }
  Verdict operator()(const ConvTranspose&) const { return others_are_constant(); }
  Verdict operator()(const BatchNormalization&) const { return others_are_constant(); }
  Verdict operator()(const ConvInteger&) const { return others_are_constant(); }
  Verdict operator()(const QLinearConv&) const { return others_are_constant(); }
  Verdict operator()(const Lrn&) const { return Verdict::yes(); }
  Verdict operator()(const Unary&) const { return Verdict::yes(); }
  Verdict operator()(const Cast&) const { return Verdict::yes(); }
  Verdict operator()(const DepthToSpace&) const { return Verdict::yes(); }
  /// Joined frames lie one behind the other, whatever shape they have.
  Verdict operator()(const Reshape&) const { return Verdict::yes(); }

  Verdict operator()(const Gemm& op) const {
    if (op.transpose_a) return Verdict::no("its first factor is transposed");
    if (const Verdict verdict = others_are_constant(); !verdict) return verdict;
    return is_there(2) ? spreads_over_frames(2, 2) : Verdict::yes();
  }
  Verdict operator()(const MatMul&) const { return multiplies_rows(1); }
  Verdict operator()(const MatMulInteger&) const {
    if (const Verdict verdict = others_are_constant(); !verdict) return verdict;
    if (!is_single(2))
      return Verdict::no("the rows of its first factor have their own zero points");
    return multiplies_rows(1);
  }
  Verdict operator()(const QLinearMatMul&) const {
    if (const Verdict verdict = others_are_constant(); !verdict) return verdict;
    for (const std::size_t input : {1u, 2u, 6u, 7u})
      if (!is_single(input)) return Verdict::no("its rows have their own scales");
    return multiplies_rows(3);
  }
  Verdict operator()(const Pool&) const {
    if (layer_.outputs.size() > 1 && layer_.outputs[1].valid())
      return Verdict::no("it counts the elements of all frames");
    return Verdict::yes();
  }
  Verdict operator()(const Binary&) const { return broadcasts_within_frames(); }
  Verdict operator()(const Compare&) const { return broadcasts_within_frames(); }
  Verdict operator()(const Where&) const { return broadcasts_within_frames(); }
  Verdict operator()(const Test&) const { return Verdict::yes(); }
  Verdict operator()(const Tile&) const { return keeps_first(sizes_agree() && same_rank()); }
  Verdict operator()(const Normalization& op) const {
    if (const Verdict verdict = others_are_constant(); !verdict) return verdict;
    for (std::size_t i = 1; i < layer_.inputs.size(); ++i)
      if (is_there(i))
        if (const Verdict verdict = spreads_over_frames(i, shape(0).size()); !verdict)
          return verdict;
    return keeps_first(op.axis > 0);
  }
  Verdict operator()(const GatherElements& op) const { return both_have_frames(op.axis != 0); }
  Verdict operator()(const GatherNd& op) const { return both_have_frames(op.batch_dimensions > 0); }
  Verdict operator()(const ScatterElements& op) const { return both_have_frames(op.axis != 0); }
  Verdict operator()(const ScatterNd&) const {
    return Verdict::no("its indices count the elements of all frames");
  }
  Verdict operator()(const TopK& op) const { return keeps_first(op.axis > 0); }
  Verdict operator()(const OneHot& op) const {
    if (const Verdict verdict = others_are_constant(); !verdict) return verdict;
    return keeps_first(op.axis > 0);
  }
  Verdict operator()(const GridSample&) const { return both_have_frames(true); }
  Verdict operator()(const NonMaxSuppression&) const {
    return Verdict::no("it numbers the boxes of all frames");
  }
  Verdict operator()(const VaryingPart&) const {
    return Verdict::no("its sizes change from frame to frame");
  }
  Verdict operator()(const Opaque&) const {
    return Verdict::no("only its engine knows whether it keeps frames apart");
  }
  Verdict operator()(const RoiAlign&) const {
    return Verdict::no("its regions count the images of all frames");
  }
  Verdict operator()(const CumSum& op) const { return keeps_first(op.axis > 0); }
  Verdict operator()(const Recurrent& op) const {
    if (!op.batch_first) return Verdict::no("its first dimension is the sequence");
    for (const std::size_t input : {4u, 5u, 6u})
      if (is_there(input)) return Verdict::no("it begins with the state of one frame");
    return others_are_constant();
  }

  Verdict operator()(const Concat& op) const {
    for (const TensorId input : layer_.inputs)
      if (network_[input].constant) return Verdict::no("it appends a constant to each frame");
    return keeps_first(op.axis != 0);
  }
  Verdict operator()(const Split& op) const { return keeps_first(op.axis != 0); }
  Verdict operator()(const Slice& op) const {
    return keeps_first(op.starts[0] == 0 && op.steps[0] == 1 && sizes_agree());
  }
  Verdict operator()(const Gather& op) const {
    const bool from_table = network_[layer_.inputs[0]].constant.has_value();
    if (from_table) return keeps_first(op.axis == 0);
    if (const Verdict verdict = others_are_constant(); !verdict) return verdict;
    return keeps_first(op.axis != 0);
  }
  Verdict operator()(const Transpose& op) const { return keeps_first(op.permutation[0] == 0); }
  Verdict operator()(const Pad& op) const {
    return keeps_first(op.begin[0] == 0 && op.end[0] == 0);
  }
  Verdict operator()(const Resize& op) const {
    if (!op.roi.empty()) return Verdict::no("it crops");
    return keeps_first(op.scales[0] == 1 && sizes_agree());
  }
  Verdict operator()(const Softmax& op) const { return keeps_first(op.axis > 0); }
  Verdict operator()(const Reduce& op) const {
    return keeps_first(!op.axes.empty() && op.axes.front() > 0);
  }
  Verdict operator()(const ArgMax& op) const { return keeps_first(op.axis > 0); }
  Verdict operator()(const QuantizeLinear& op) const { return has_scales_for_all(op.scaling); }
  Verdict operator()(const DequantizeLinear& op) const { return has_scales_for_all(op.scaling); }
  Verdict operator()(const DynamicQuantizeLinear&) const {
    return Verdict::no("it looks for the range of all frames together");
  }

 private:
  bool is_there(std::size_t input) const {
    return input < layer_.inputs.size() && layer_.inputs[input].valid();
  }
  const Shape& shape(std::size_t input) const { return network_[layer_.inputs[input]].shape; }
  bool is_single(std::size_t input) const {
    return !is_there(input) || element_count(shape(input)) == 1;
  }
  bool sizes_agree() const { return shape(0)[0] == network_[layer_.outputs[0]].shape[0]; }

  bool same_rank() const { return shape(0).size() == network_[layer_.outputs[0]].shape.size(); }
  /// All inputs that are no constants have the result's dimension of frames.
  Verdict broadcasts_within_frames() const {
    const Shape& result = network_[layer_.outputs[0]].shape;
    for (std::size_t i = 0; i < layer_.inputs.size(); ++i) {
      const Tensor& input = network_[layer_.inputs[i]];
      if (input.constant) {
        if (const Verdict verdict = spreads_over_frames(i, result.size()); !verdict) return verdict;
      } else if (input.shape.size() != result.size() || input.shape[0] != result[0]) {
        return Verdict::no("it spreads one of its inputs over the first dimension");
      }
    }
    return Verdict::yes();
  }
  /// None of the inputs may be a constant: it would have to be repeated for every frame.
  Verdict both_have_frames(bool keeps) const {
    for (std::size_t i = 0; i < layer_.inputs.size(); ++i) {
      if (network_[layer_.inputs[i]].constant)
        return Verdict::no(fmt::format("its constant '{}' has the first dimension of one frame",
                                       name_of_input(i)));
      if (shape(i).empty() || shape(i)[0] != shape(0)[0])
        return Verdict::no("its inputs differ in the dimension along which frames join");
    }
    return keeps_first(keeps);
  }

  static Verdict keeps_first(bool keeps) {
    return keeps ? Verdict::yes() : Verdict::no("it changes the dimension along which frames join");
  }
  Verdict others_are_constant() const {
    for (std::size_t i = 1; i < layer_.inputs.size(); ++i)
      if (is_there(i) && !network_[layer_.inputs[i]].constant)
        return Verdict::no(
            fmt::format("its input '{}' is another one for every frame", name_of_input(i)));
    return Verdict::yes();
  }
  const std::string& name_of_input(std::size_t input) const {
    return network_[layer_.inputs[input]].name;
  }
  /// A constant that is the same for every frame of a result with so many dimensions.
  Verdict spreads_over_frames(std::size_t input, std::size_t dimensions) const {
    if (shape(input).size() < dimensions || shape(input)[0] == 1) return Verdict::yes();
    return Verdict::no(fmt::format("its constant '{}' has the first dimension of one frame",
                                   name_of_input(input)));
  }
  /// A matrix product with the second factor at this input.
  Verdict multiplies_rows(std::size_t second) const {
    if (shape(0).size() < 2) return Verdict::no("its first factor is a vector");
    if (network_[layer_.inputs[0]].constant) return Verdict::no("its first factor is a constant");
    if (network_[layer_.inputs[second]].constant) {
      if (shape(second).size() <= 2) return Verdict::yes();
      return Verdict::no("its constant factor is a stack of matrices");
    }
    const bool stacks = shape(0).size() == shape(second).size() && shape(0).size() > 2 &&
                        shape(0)[0] == shape(second)[0];
    return stacks ? Verdict::yes() : Verdict::no("both of its factors are others for every frame");
  }
  Verdict has_scales_for_all(const Scaling& scaling) const {
    if (const Verdict verdict = others_are_constant(); !verdict) return verdict;
    if (is_single(1)) return Verdict::yes();
    return scaling.axis > 0 && scaling.block == 0
               ? Verdict::yes()
               : Verdict::no("it has scales for each index of the first dimension");
  }

  const Network& network_;
  const Layer& layer_;
};

}  // namespace

Verdict can_batch(const Network& network, LayerId id) {
  const Layer& layer = network[id];
  const std::vector<TensorId> inputs = data_inputs(network, id);
  if (inputs.empty()) return Verdict::no("it reads nothing that changes from frame to frame");
  for (const auto* tensors : {&inputs, &layer.outputs})
    for (const TensorId tensor : *tensors)
      if (tensor.valid() && network[tensor].shape.empty())
        return Verdict::no(fmt::format("'{}' has no dimension along which frames could join",
                                       network[tensor].name));
  return std::visit(KeepsFramesApart(network, layer), layer.op);
}

Network with_batch(const Network& network, std::span<const LayerId> layers, std::int64_t frames) {
  Network result = network;
  std::vector<bool> done(network.tensors.size(), false);
  const auto join = [&](TensorId id) {
    if (!id.valid() || network[id].constant || done[id.index]) return;
    result.tensors[id.index].shape[0] *= frames;
    done[id.index] = true;
  };
  for (const LayerId layer : layers) {
    for (const TensorId input : network[layer].inputs) join(input);
    for (const TensorId output : network[layer].outputs) join(output);
  }
  return result;
}

}  // namespace millrace::network
