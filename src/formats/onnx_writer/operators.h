#pragma once
// One function per operator: the nodes that compute it, or why there are none.
#include "formats/onnx_writer/layer_nodes.h"

namespace millrace::formats::onnx_writer {

// window.cpp
void write(const Conv& op, LayerNodes& layer);
void write(const ConvTranspose& op, LayerNodes& layer);
void write(const ConvInteger& op, LayerNodes& layer);
// pool.cpp
void write(const Pool& op, LayerNodes& layer);
// matrix.cpp
void write(const Gemm& op, LayerNodes& layer);
void write(const MatMul& op, LayerNodes& layer);
void write(const MatMulInteger& op, LayerNodes& layer);
// normalization.cpp
void write(const BatchNormalization& op, LayerNodes& layer);
void write(const Normalization& op, LayerNodes& layer);
void write(const Lrn& op, LayerNodes& layer);
void write(const Softmax& op, LayerNodes& layer);
// unary.cpp
void write(const Unary& op, LayerNodes& layer);
// elements.cpp
void write(const Binary& op, LayerNodes& layer);
void write(const Compare& op, LayerNodes& layer);
void write(const Test& op, LayerNodes& layer);
void write(const Where& op, LayerNodes& layer);
void write(const Cast& op, LayerNodes& layer);
// reduce.cpp
void write(const Reduce& op, LayerNodes& layer);
void write(const ArgMax& op, LayerNodes& layer);
void write(const TopK& op, LayerNodes& layer);
void write(const CumSum& op, LayerNodes& layer);
// movement.cpp
void write(const Concat& op, LayerNodes& layer);
void write(const Split& op, LayerNodes& layer);
void write(const Slice& op, LayerNodes& layer);
void write(const Reshape& op, LayerNodes& layer);
void write(const Transpose& op, LayerNodes& layer);
void write(const Tile& op, LayerNodes& layer);
void write(const Pad& op, LayerNodes& layer);
void write(const DepthToSpace& op, LayerNodes& layer);
// resize.cpp
void write(const Resize& op, LayerNodes& layer);
// quantize.cpp
void write(const QuantizeLinear& op, LayerNodes& layer);
void write(const DequantizeLinear& op, LayerNodes& layer);
void write(const DynamicQuantizeLinear& op, LayerNodes& layer);
// products.cpp
void write(const QLinearConv& op, LayerNodes& layer);
void write(const QLinearMatMul& op, LayerNodes& layer);
// indexing.cpp
void write(const Gather& op, LayerNodes& layer);
void write(const GatherElements& op, LayerNodes& layer);
void write(const GatherNd& op, LayerNodes& layer);
void write(const ScatterElements& op, LayerNodes& layer);
void write(const ScatterNd& op, LayerNodes& layer);
void write(const OneHot& op, LayerNodes& layer);
// vision.cpp
void write(const GridSample& op, LayerNodes& layer);
void write(const NonMaxSuppression& op, LayerNodes& layer);
void write(const RoiAlign& op, LayerNodes& layer);
// recurrent.cpp
void write(const Recurrent& op, LayerNodes& layer);
// varying_part.cpp
void write(const VaryingPart& op, LayerNodes& layer);
void write(const Opaque& op, LayerNodes& layer);

}  // namespace millrace::formats::onnx_writer
