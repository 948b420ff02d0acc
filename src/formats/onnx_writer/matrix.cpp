// Products of matrices.
#include "formats/onnx_writer/operators.h"

namespace millrace::formats::onnx_writer {

void write(const Gemm& op, LayerNodes& layer) {
  const NodeToWrite gemm = layer.node("Gemm");
  if (op.transpose_a) gemm.set("transA", std::int64_t{1});
  if (op.transpose_b) gemm.set("transB", std::int64_t{1});
  if (op.alpha != 1) gemm.set("alpha", op.alpha);
  if (op.beta != 1) gemm.set("beta", op.beta);
}

void write(const MatMul&, LayerNodes& layer) { layer.node("MatMul"); }
void write(const MatMulInteger&, LayerNodes& layer) { layer.node("MatMulInteger"); }

}  // namespace millrace::formats::onnx_writer
