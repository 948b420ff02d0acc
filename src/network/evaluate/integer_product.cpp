// ConvInteger, MatMulInteger, QLinearConv, QLinearMatMul: the products of ordinary loops, once the
// zero points are gone.
#include <array>

#include "network/evaluate/loops.h"

namespace millrace::network::loops {
namespace {

/// An intermediate result.
class Temporary {
 public:
  Temporary(DataType type, Shape shape)
      : type_(type), shape_(std::move(shape)), memory_(size_of(type) * count(shape_)) {}

  ConstView in() const { return {type_, shape_, memory_.data()}; }
  View out() { return {type_, shape_, memory_.data()}; }

 private:
  DataType type_;
  Shape shape_;
  Buffer memory_;
};

Shape shape_of(const ConstView& view) { return {view.shape.begin(), view.shape.end()}; }
Shape shape_of(const View& view) { return {view.shape.begin(), view.shape.end()}; }

/// Scales or zero points in the shape in which they broadcast to the factor that they belong to
/// and to the product.
class Spread {
 public:
  /// For every filter, with so many dimensions behind.
  static Spread over_filters(const ConstView& values, std::size_t behind) {
    Shape shape{count(values.shape)};
    shape.insert(shape.end(), behind, 1);
    return {values, std::move(shape)};
  }
  static Spread over_rows(const ConstView& values) {
    if (values.shape.size() == 1) return {values, {values.shape[0], 1}};
    return {values, shape_of(values)};
  }
  static Spread over_columns(const ConstView& values) { return {values, shape_of(values)}; }

  ConstView view() const { return {type_, shape_, data_}; }

 private:
  Spread(const ConstView& values, Shape shape)
      : type_(values.type), shape_(std::move(shape)), data_(values.data) {
    if (count(values.shape) == 1) shape_.clear();
  }

  DataType type_;
  Shape shape_;
  const std::byte* data_;
};

Temporary converted(const ConstView& from, DataType type) {
  Temporary result(type, shape_of(from));
  const View to = result.out();
  run(Cast{}, {&from, 1}, {&to, 1});
  return result;
}

void compute(BinaryKind kind, const ConstView& a, const ConstView& b, const View& result) {
  const std::array<ConstView, 2> both{a, b};
  run(Binary{kind}, both, {&result, 1});
}

/// x - zero point, as int32.
Temporary centred(const ConstView& x, const ConstView& zero) {
  Temporary result = converted(x, DataType::int32);
  if (zero.present())
    compute(BinaryKind::sub, result.in(), converted(zero, DataType::int32).in(), result.out());
  return result;
}

/// What a step of the sums is in steps of the result.
Temporary ratio(const ConstView& a, const ConstView& b, const ConstView& result) {
  Temporary product(DataType::float32, *broadcast(shape_of(a), shape_of(b)));
  compute(BinaryKind::mul, a, b, product.out());
  const ConstView divisor{result.type, {}, result.data};
  compute(BinaryKind::div, product.in(), divisor, product.out());
  return product;
}

void requantize(const Temporary& sums, const Temporary& factors, const ConstView& zero,
                const View& out) {
  Temporary values = converted(sums.in(), DataType::float32);
  compute(BinaryKind::mul, values.in(), factors.in(), values.out());
  const float one = 1;
  const std::array<ConstView, 3> inputs{
      values.in(), {DataType::float32, {}, reinterpret_cast<const std::byte*>(&one)}, zero};
  run(QuantizeLinear{}, inputs, {&out, 1});
}

/// What is multiplied: 8-bit integers, each with its zero point, and the bias. Zero points and bias
/// may be left out.
struct Factors {
  ConstView a, a_zero, b, b_zero, bias = {};
};

void multiply(const Conv& op, const Factors& f, const View& sums) {
  const Spread zeros = Spread::over_filters(f.b_zero, f.b.shape.size() - 1);
  const Temporary x = centred(f.a, f.a_zero), w = centred(f.b, zeros.view());
  const std::array<ConstView, 3> inputs{x.in(), w.in(), f.bias};
  run(op, inputs, {&sums, 1});
}

void multiply(const MatMul& op, const Factors& f, const View& sums) {
  const Temporary a = centred(f.a, Spread::over_rows(f.a_zero).view());
  const Temporary b = centred(f.b, Spread::over_columns(f.b_zero).view());
  const std::array<ConstView, 2> inputs{a.in(), b.in()};
  run(op, inputs, {&sums, 1});
}

Factors integers(Inputs in) { return {in[0], optional_input(in, 2), in[1], optional_input(in, 3)}; }
Factors quantised(Inputs in) { return {in[0], in[2], in[3], in[5], optional_input(in, 8)}; }

}  // namespace

void run(const ConvInteger& op, Inputs in, Outputs out) {
  multiply(Conv{op.window, op.groups}, integers(in), out[0]);
}

void run(const MatMulInteger&, Inputs in, Outputs out) { multiply(MatMul{}, integers(in), out[0]); }

void run(const QLinearConv& op, Inputs in, Outputs out) {
  Temporary sums(DataType::int32, shape_of(out[0]));
  multiply(Conv{op.window, op.groups}, quantised(in), sums.out());
  const Spread scales = Spread::over_filters(in[4], op.window.kernel.size());
  requantize(sums, ratio(in[1], scales.view(), in[6]), in[7], out[0]);
}

void run(const QLinearMatMul&, Inputs in, Outputs out) {
  Temporary sums(DataType::int32, shape_of(out[0]));
  multiply(MatMul{}, quantised(in), sums.out());
  const Spread a = Spread::over_rows(in[1]), b = Spread::over_columns(in[4]);
  requantize(sums, ratio(a.view(), b.view(), in[6]), in[7], out[0]);
}

}  // namespace millrace::network::loops
