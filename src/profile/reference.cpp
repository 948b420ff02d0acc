#include "profile/reference.h"

#include <algorithm>

#include "network/evaluate/sliding.h"

namespace millrace::profile {
namespace {

using network::ConstView;
using network::loops::position;
using network::loops::Sliding;
using network::loops::Three;
using network::loops::volume;

using Inputs = std::span<const ConstView>;

bool has(Inputs in, std::size_t index) { return in.size() > index && in[index].present(); }

class ConvolutionReference {
 public:
  ConvolutionReference(const network::Conv& op, Inputs in, const network::Shape& out)
      : in_(in),
        sliding_(network::loops::sliding(op.window, in[0].shape, out)),
        filters_(out[1]),
        group_size_(out[1] / op.groups) {}

  double at(std::int64_t flat) const {
    const std::int64_t plane = volume(sliding_.out);
    const std::int64_t filter = flat / plane % filters_, image = flat / plane / filters_;
    const std::int64_t channels = in_[1].shape[1], kernel = volume(sliding_.kernel);
    const float* w = in_[1].as<float>() + filter * channels * kernel;
    const float* x =
        in_[0].as<float>() +
        (image * in_[0].shape[1] + filter / group_size_ * channels) * volume(sliding_.in);
    const Three output = position(flat % plane, sliding_.out);
    double sum = has(in_, 2) ? in_[2].as<float>()[filter] : 0.0;
    for (std::int64_t k = 0; k < kernel; ++k) {
      const std::int64_t offset = offset_in(sliding_, output, position(k, sliding_.kernel));
      for (std::int64_t c = 0; offset >= 0 && c < channels; ++c)
        sum += static_cast<double>(w[c * kernel + k]) *
               static_cast<double>(x[c * volume(sliding_.in) + offset]);
    }
    return sum;
  }

 private:
  Inputs in_;
  Sliding sliding_;
  std::int64_t filters_, group_size_;
};

/// alpha * A * B + beta * C, where B is a matrix and A one or a stack of them.
class ProductReference {
 public:
  ProductReference(const network::Gemm& op, Inputs in, const network::Shape& out)
      : op_(op),
        in_(in),
        columns_(out.back()),
        depth_(op.transpose_a ? in[0].shape[0] : in[0].shape.back()) {}

  double at(std::int64_t flat) const {
    const std::int64_t row = flat / columns_, column = flat % columns_;
    const std::int64_t a_columns = in_[0].shape.back(), b_columns = in_[1].shape.back();
    double sum = 0;
    for (std::int64_t k = 0; k < depth_; ++k) {
      const std::int64_t a = op_.transpose_a ? k * a_columns + row : row * a_columns + k;
      const std::int64_t b = op_.transpose_b ? column * b_columns + k : k * b_columns + column;
      sum +=
          static_cast<double>(in_[0].as<float>()[a]) * static_cast<double>(in_[1].as<float>()[b]);
    }
    return static_cast<double>(op_.alpha) * sum + addend(row, column);
  }

 private:
  double addend(std::int64_t row, std::int64_t column) const {
    if (!has(in_, 2)) return 0;
    const auto& shape = in_[2].shape;
    const std::int64_t width = shape.empty() ? 1 : shape.back();
    const std::int64_t height = shape.size() < 2 ? 1 : shape[shape.size() - 2];
    const std::int64_t place = (height == 1 ? 0 : row * width) + (width == 1 ? 0 : column);
    return static_cast<double>(op_.beta) * static_cast<double>(in_[2].as<float>()[place]);
  }

  network::Gemm op_;
  Inputs in_;
  std::int64_t columns_, depth_;
};

template <class Reference>
std::vector<double> values_at(const Reference& reference, std::span<const std::size_t> places) {
  std::vector<double> values;
  for (const std::size_t place : places)
    values.push_back(reference.at(static_cast<std::int64_t>(place)));
  return values;
}

}  // namespace

std::vector<double> reference_at(const network::Layer& layer, Inputs inputs,
                                 const network::Shape& output,
                                 std::span<const std::size_t> places) {
  const auto other = [](const ConstView& in) {
    return in.present() && in.type != network::DataType::float32;
  };
  if (std::any_of(inputs.begin(), inputs.end(), other)) return {};
  if (const auto* conv = std::get_if<network::Conv>(&layer.op))
    return values_at(ConvolutionReference(*conv, inputs, output), places);
  if (const auto* gemm = std::get_if<network::Gemm>(&layer.op))
    return values_at(ProductReference(*gemm, inputs, output), places);
  if (std::holds_alternative<network::MatMul>(layer.op) && inputs[0].shape.size() >= 2 &&
      inputs[1].shape.size() == 2)
    return values_at(ProductReference({}, inputs, output), places);
  return {};
}

}  // namespace millrace::profile
