#include "engine/cuda/library/convolution_graph.h"

#include <array>
#include <numeric>
#include <utility>

namespace millrace::engine::cuda {
namespace {

using Sizes = std::vector<std::int64_t>;

/// What ConvolutionBuffers promises of each address.
constexpr std::int64_t buffer_alignment = 16;
/// Number of the first tensor between operations; above those of GraphTensor.
constexpr std::int64_t first_virtual_id = 100;

/// cuDNN has no convolutions of one spatial dimension: it gets a height of 1.
Sizes with_height(const Sizes& sizes, std::size_t position, std::int64_t height) {
  Sizes result = sizes;
  result.insert(result.begin() + static_cast<std::ptrdiff_t>(position), height);
  return result;
}

ConvolutionProblem with_two_dimensions(ConvolutionProblem problem) {
  if (problem.strides.size() != 1) return problem;
  for (Sizes* const shape : {&problem.x, &problem.w, &problem.y})
    *shape = with_height(*shape, 2, 1);
  for (Sizes* const factors : {&problem.strides, &problem.dilations})
    *factors = with_height(*factors, 0, 1);
  for (Sizes* const pads : {&problem.pads_begin, &problem.pads_end})
    *pads = with_height(*pads, 0, 0);
  return problem;
}

/// In elements, of a dense tensor.
Sizes dense_strides(const Sizes& shape, bool channels_last) {
  std::vector<std::size_t> inner_to_outer(shape.size());
  std::iota(inner_to_outer.rbegin(), inner_to_outer.rend(), std::size_t{0});
  if (channels_last) {
    inner_to_outer.erase(inner_to_outer.end() - 2);
    inner_to_outer.insert(inner_to_outer.begin(), 1);
  }
  Sizes strides(shape.size());
  std::int64_t elements = 1;
  for (const std::size_t dimension : inner_to_outer) {
    strides[dimension] = elements;
    elements *= shape[dimension];
  }
  return strides;
}

class GraphBuilder {
 public:
  GraphBuilder(const Dnn& library, const ConvolutionProblem& problem)
      : library_(library), problem_(with_two_dimensions(problem)) {}

  std::optional<ConvolutionGraph> build(const GraphForm& form) &&;

 private:
  Descriptor& make(dnn::Kind kind) { return parts_.emplace_back(library_, kind); }
  DnnDescriptor tensor(std::int64_t id, const Sizes& shape, dnn::DataType type);
  DnnDescriptor tensor_in_memory(GraphTensor id, const Sizes& shape);
  DnnDescriptor tensor_after(bool last);
  DnnDescriptor convolution();
  DnnDescriptor pointwise(dnn::PointwiseMode mode);
  DnnDescriptor addend(Addend which);
  void add_convolution(bool last);
  void add_sum(Addend which, bool last);
  void add_relu();
  void finish_operation(Descriptor& operation, DnnDescriptor result);

  const Dnn& library_;
  const ConvolutionProblem problem_;
  std::vector<Descriptor> parts_;
  std::vector<DnnDescriptor> operations_;
  DnnDescriptor result_ = nullptr;  // of the last operation
  bool accepted_ = true;
};

DnnDescriptor GraphBuilder::tensor(std::int64_t id, const Sizes& shape, dnn::DataType type) {
  Descriptor& tensor = make(dnn::tensor_descriptor);
  tensor.set_choice(dnn::tensor_data_type, dnn::data_type_type, type);
  tensor.set_integers(dnn::tensor_dimensions, shape);
  tensor.set_integers(dnn::tensor_strides, dense_strides(shape, problem_.channels_last));
  tensor.set_integer(dnn::tensor_unique_id, id);
  tensor.set_integer(dnn::tensor_alignment, buffer_alignment);
  if (id >= first_virtual_id) tensor.set_flag(dnn::tensor_is_virtual, true);
  accepted_ = tensor.finalized() && accepted_;
  return tensor.get();
}

DnnDescriptor GraphBuilder::tensor_in_memory(GraphTensor id, const Sizes& shape) {
  return tensor(static_cast<std::int64_t>(id), shape, problem_.half ? dnn::float16 : dnn::float32);
}

/// The result of an operation: only the last one's is in memory.
DnnDescriptor GraphBuilder::tensor_after(bool last) {
  if (last) return tensor_in_memory(GraphTensor::y, problem_.y);
  const auto id = first_virtual_id + static_cast<std::int64_t>(operations_.size());
  return tensor(id, problem_.y, dnn::float32);
}

DnnDescriptor GraphBuilder::convolution() {
  Descriptor& convolution = make(dnn::convolution_descriptor);
  convolution.set_choice(dnn::convolution_compute_type, dnn::data_type_type, dnn::float32);
  convolution.set_choice(dnn::convolution_mode, dnn::convolution_mode_type, dnn::cross_correlation);
  convolution.set_integer(dnn::convolution_spatial_dimensions,
                          static_cast<std::int64_t>(problem_.strides.size()));
  convolution.set_integers(dnn::convolution_dilations, problem_.dilations);
  convolution.set_integers(dnn::convolution_strides, problem_.strides);
  convolution.set_integers(dnn::convolution_pre_paddings, problem_.pads_begin);
  convolution.set_integers(dnn::convolution_post_paddings, problem_.pads_end);
  accepted_ = convolution.finalized() && accepted_;
  return convolution.get();
}

DnnDescriptor GraphBuilder::pointwise(dnn::PointwiseMode mode) {
  Descriptor& pointwise = make(dnn::pointwise_descriptor);
  pointwise.set_choice(dnn::pointwise_mode, dnn::pointwise_mode_type, mode);
  pointwise.set_choice(dnn::pointwise_precision, dnn::data_type_type, dnn::float32);
  accepted_ = pointwise.finalized() && accepted_;
  return pointwise.get();
}

DnnDescriptor GraphBuilder::addend(Addend which) {
  if (which == Addend::residual) return tensor_in_memory(GraphTensor::residual, problem_.y);
  Sizes shape(problem_.y.size(), 1);
  shape[1] = problem_.y[1];
  return tensor_in_memory(GraphTensor::bias, shape);
}

/// Its tensors must be accepted, or else it cannot name them.
void GraphBuilder::finish_operation(Descriptor& operation, DnnDescriptor result) {
  accepted_ = operation.finalized() && accepted_;
  operations_.push_back(operation.get());
  result_ = result;
}

void GraphBuilder::add_convolution(bool last) {
  const DnnDescriptor x = tensor_in_memory(GraphTensor::x, problem_.x);
  const DnnDescriptor w = tensor_in_memory(GraphTensor::w, problem_.w);
  const DnnDescriptor y = tensor_after(last);
  const DnnDescriptor what = convolution();
  if (!accepted_) return;
  Descriptor& operation = make(dnn::convolution_forward_descriptor);
  operation.set_descriptor(dnn::forward_convolution, what);
  operation.set_descriptor(dnn::forward_x, x);
  operation.set_descriptor(dnn::forward_w, w);
  operation.set_descriptor(dnn::forward_y, y);
  operation.set_number(dnn::forward_alpha, 1);
  operation.set_number(dnn::forward_beta, 0);
  finish_operation(operation, y);
}

void GraphBuilder::add_sum(Addend which, bool last) {
  const DnnDescriptor b = addend(which);
  const DnnDescriptor y = tensor_after(last);
  const DnnDescriptor what = pointwise(dnn::add);
  if (!accepted_) return;
  Descriptor& operation = make(dnn::pointwise_operation_descriptor);
  operation.set_descriptor(dnn::operation_pointwise, what);
  operation.set_descriptor(dnn::operation_x, result_);
  operation.set_descriptor(dnn::operation_b, b);
  operation.set_descriptor(dnn::operation_y, y);
  operation.set_number(dnn::operation_alpha1, 1);
  operation.set_number(dnn::operation_alpha2, 1);
  finish_operation(operation, y);
}

void GraphBuilder::add_relu() {
  const DnnDescriptor y = tensor_after(true);
  const DnnDescriptor what = pointwise(dnn::relu_forward);
  if (!accepted_) return;
  Descriptor& operation = make(dnn::pointwise_operation_descriptor);
  operation.set_descriptor(dnn::operation_pointwise, what);
  operation.set_descriptor(dnn::operation_x, result_);
  operation.set_descriptor(dnn::operation_y, y);
  finish_operation(operation, y);
}

std::optional<ConvolutionGraph> GraphBuilder::build(const GraphForm& form) && {
  const bool relu = problem_.activation == Activation::relu;
  add_convolution(form.empty() && !relu);
  for (std::size_t i = 0; i < form.size() && accepted_; ++i)
    add_sum(form[i], i + 1 == form.size() && !relu);
  if (relu && accepted_) add_relu();
  if (!accepted_) return std::nullopt;

  Descriptor graph(library_, dnn::operation_graph_descriptor);
  graph.set_handle(dnn::graph_handle);
  graph.set_descriptors(dnn::graph_operations, operations_);
  if (!graph.finalized()) return std::nullopt;
  return ConvolutionGraph{std::move(parts_), std::move(graph)};
}

}  // namespace

std::vector<GraphForm> graph_forms(const ConvolutionProblem& problem) {
  // The kernels compiled with cuDNN add the residual first. Those compiled at run time take any
  // order, but most of them use tensor cores.
  if (problem.bias && problem.residual)
    return {{Addend::residual, Addend::bias}, {Addend::bias, Addend::residual}};
  if (problem.bias) return {{Addend::bias}};
  if (problem.residual) return {{Addend::residual}};
  return {{}};
}

std::vector<GraphTensor> graph_tensors(const GraphForm& form) {
  std::vector<GraphTensor> result = {GraphTensor::x, GraphTensor::w, GraphTensor::y};
  for (const Addend addend : form)
    result.push_back(addend == Addend::bias ? GraphTensor::bias : GraphTensor::residual);
  return result;
}

std::optional<ConvolutionGraph> convolution_graph(const Dnn& library,
                                                  const ConvolutionProblem& problem,
                                                  const GraphForm& form) {
  return GraphBuilder(library, problem).build(form);
}

}  // namespace millrace::engine::cuda
