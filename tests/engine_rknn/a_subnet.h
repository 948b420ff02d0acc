#pragma once
// One convolution and a Relu, as a plug-in sees them.
#include <array>
#include <cstdint>

#include "millrace/engine.h"

namespace millrace::test {

struct ASubnet {
  std::array<std::int64_t, 4> shape{1, 2, 3, 3};
  std::array<float, 36> weights{};
  std::array<MillraceTensor, 4> tensors{tensor("a \"b\"", -1, 2.5F), filters(), tensor("c", -3, 3),
                                        tensor("d", 0, 3)};
  std::array<std::int32_t, 2> conv_inputs{0, 1};
  std::array<std::int32_t, 1> conv_outputs{2}, relu_outputs{3}, inputs{0}, outputs{3};
  std::array<MillraceNode, 2> nodes{
      MillraceNode{"Conv", "#0#c", 0, conv_inputs.data(), conv_outputs.data(), nullptr, 2, 1, 0},
      MillraceNode{"Relu", "#1#d", 1, conv_outputs.data(), relu_outputs.data(), nullptr, 1, 1, 0}};
  std::array<MillraceLayer, 2> layers{MillraceLayer{"c", millrace_int8_products},
                                      MillraceLayer{"d", millrace_f16}};
  MillraceSubnet subnet{sizeof(MillraceSubnet), "onnx", tensors.data(), nodes.data(),
                        layers.data(),          inputs.data(), outputs.data(), 4, 4, 2, 2, 1, 1};

  ASubnet() = default;
  ASubnet(const ASubnet&) = delete;
  ASubnet& operator=(const ASubnet&) = delete;

 private:
  MillraceTensor tensor(const char* name, float low, float high) const {
    return {name, millrace_float32, 4, shape.data(), nullptr, 72, low, high, 0};
  }
  MillraceTensor filters() const {
    return {"w", millrace_float32, 4, shape.data(), weights.data(), 144, 0, 0, 0};
  }
};

}  // namespace millrace::test
