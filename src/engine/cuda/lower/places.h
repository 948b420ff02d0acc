#pragma once
// Tensors as kernels are told of them.
#include <vector>

#include "engine/cuda/builder.h"

namespace millrace::engine::cuda {

Element element_of(network::DataType type);
/// The type in which a value of this form lies.
Element element_of(const network::Tensor& tensor, Form form);

/// Strides of a tensor that spreads over a result of this shape, as in NumPy: 0 along dimensions in
/// which it has one element. In elements, along the result's dimensions.
network::Shape spread_strides(const network::Tensor& tensor, Form form,
                              const network::Shape& result);
Place place_with(Element element, const network::Shape& strides);

/// Shape and places without dimensions of size 1, and with those joined that lie one behind the
/// other in all places. At least one dimension remains. Precondition: at most max_dimensions.
struct JointShape {
  network::Shape shape;
  std::vector<network::Shape> strides;  // by place
};
JointShape joined(const JointShape& all);

/// Writes into kernel parameters.
void set(int (&numbers)[max_dimensions], const network::Shape& shape);

/// Copies from one form to another.
ElementWork copying_work(const network::Shape& shape, Form from, Form to);

}  // namespace millrace::engine::cuda
