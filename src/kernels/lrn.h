#pragma once
// Local response normalisation over channels that lie beside each other. oneDNN's kernel spends
// most of its time in square roots and divisions; this one has none.
#include <cstddef>
#include <cstdint>
#include <span>

namespace millrace::kernels {

/// What all well-known networks have, and all that this is for.
constexpr std::size_t response_window = 5;
constexpr float response_exponent = 0.75f;

/// y[c] = x[c] * (bias + alpha / window * sum of x[i]^2)^-exponent over the window of channels
/// around c, with zeros outside the pixel. Precondition: alpha >= 0 and bias > 0.
struct ResponseNorm {
  std::size_t channels = 1;
  float alpha = 1e-4f, bias = 1;
};

/// Normalises pixels of `channels` numbers, dense. The relative error is below 1e-6, or that of
/// rounding to bfloat16. `to` is elsewhere. Runs on the calling thread and its OpenMP helpers.
void normalize_response(std::span<const float> from, const ResponseNorm& norm, float* to);
void normalize_response(std::span<const std::uint16_t> from, const ResponseNorm& norm,
                        std::uint16_t* to);

}  // namespace millrace::kernels
