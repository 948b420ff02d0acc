#pragma once
// A part of a network as plug-ins see it.
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "formats/onnx_writer/nodes.h"
#include "millrace/engine.h"

namespace millrace::engine::plugin {

/// What of the network is shown, and how. All is borrowed and outlives the view.
struct Shown {
  const network::Network* network = nullptr;
  formats::OnnxPart part;
  std::vector<board::Precision> precisions;           // by layer of the part
  const network::Calibration* calibration = nullptr;  // null: no ranges
  std::int32_t onnx = millrace_no_onnx;               // what the plug-in reads
  bool outputs_unknown = false;                       // it is asked what they are
};

class SubnetView {
 public:
  /// InputError that names the layer if one cannot be written as ONNX.
  explicit SubnetView(const Shown& shown);
  SubnetView(const SubnetView&) = delete;
  SubnetView& operator=(const SubnetView&) = delete;

  const MillraceSubnet& subnet() const { return subnet_; }
  /// 32 digits over all that the plug-in sees, weights included.
  std::string content() const;
  /// The layer of the node, by its place in the part.
  std::size_t layer_of(std::size_t node) const;

 private:
  void add_tensor(const formats::OnnxValue& value, const network::Calibration* calibration);
  void mark_external();
  void add_node(const formats::OnnxNode& node);
  std::size_t add_places(const std::vector<std::optional<std::size_t>>& places);

  formats::OnnxModel model_;
  std::string onnx_;  // what the plug-in reads
  formats::OnnxNodes nodes_;
  std::vector<std::string> layer_names_;
  // What the structures point to.
  std::vector<MillraceTensor> tensors_;
  std::deque<std::vector<MillraceAttribute>> attributes_;
  std::deque<std::vector<std::int32_t>> places_;
  std::vector<MillraceNode> c_nodes_;
  std::vector<MillraceLayer> layers_;
  std::vector<std::int32_t> inputs_, outputs_;
  MillraceSubnet subnet_{};
};

/// How an output that a plug-in announced differs from the network's, in half a sentence; empty if
/// it does not.
std::string fault_of_output(const MillraceTensor& found, const network::Tensor& expected);

}  // namespace millrace::engine::plugin
