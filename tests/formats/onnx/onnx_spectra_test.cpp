// DFT and STFT beside their definitions: sums of complex numbers in float64.
#include <gtest/gtest.h>

#include <complex>
#include <numbers>
#include <numeric>

#include "base/error.h"
#include "network/evaluate/evaluate.h"
#include "support/onnx_model.h"

namespace millrace::formats {

using namespace network;
namespace {

using test::floats;
using test::OnnxModel;
using Complex = std::complex<double>;

constexpr std::int64_t old_opset = 17, opset_with_axis_input = 20;

std::vector<float> spectra_of(const OnnxModel& model, const std::vector<float>& x) {
  const Network network = model.read();
  const Shape& shape = network[network.inputs[0]].shape;
  const Array array = evaluate(network, std::vector<Array>{floats(shape, x)}).at(0);
  const auto values = array.values<float>();
  return {values.begin(), values.end()};
}

void expect_spectra(const std::vector<float>& found, const std::vector<float>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], 2e-5) << "at " << i;
}

/// Without a pattern that a wrong sign or order would keep.
std::vector<float> sample(std::size_t count) {
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(static_cast<float>((i * i * 7 + i * 3 + 1) % 11) / 4 - 1);
  return values;
}

std::vector<Complex> signal_of(const std::vector<float>& numbers, std::int64_t components) {
  std::vector<Complex> signal;
  for (std::size_t i = 0; i < numbers.size(); i += static_cast<std::size_t>(components))
    signal.emplace_back(numbers[i], components == 2 ? numbers[i + 1] : 0);
  return signal;
}

void add_transform(std::vector<float>& to, const std::vector<Complex>& signal, std::int64_t bins,
                   bool inverse = false) {
  const double length = static_cast<double>(signal.size());
  for (std::int64_t k = 0; k < bins; ++k) {
    Complex sum = 0;
    for (std::size_t n = 0; n < signal.size(); ++n)
      sum +=
          signal[n] * std::polar(1.0, (inverse ? 2 : -2) * std::numbers::pi *
                                          static_cast<double>(n) * static_cast<double>(k) / length);
    if (inverse) sum /= length;
    to.push_back(static_cast<float>(sum.real()));
    to.push_back(static_cast<float>(sum.imag()));
  }
}

/// The message, or nothing if it is read.
std::string refusal(const OnnxModel& model) {
  try {
    model.read();
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

std::string refusal(const std::string& op_type, const Shape& x, std::int64_t second,
                    bool onesided) {
  OnnxModel model(old_opset);
  model.input("x", x).output("y").integers("second", {second});
  model.node(op_type, {"x", "second"}, {"y"}).set("onesided", onesided);
  return refusal(model);
}

OnnxModel dft(const Shape& shape, std::int64_t length) {
  OnnxModel model(old_opset);
  model.input("x", shape).output("y").integers("length", {length});
  model.node("DFT", {"x", "length"}, {"y"});
  return model;
}

TEST(Spectra, a_signal_is_cut_or_filled_with_zeros_to_its_length) {
  expect_spectra(spectra_of(dft({1, 3, 1}, 2), {1, 2, 9}), {3, 0, -1, 0});
  expect_spectra(spectra_of(dft({1, 3, 1}, 4), {1, 2, 3}), {6, 0, -2, -2, 2, 0, -2, 2});
}

struct Kind {
  std::int64_t components;
  bool inverse, onesided;
};

TEST(Spectra, of_all_kinds_are_what_the_definition_says) {
  for (const Kind& kind : {Kind{1, false, false}, Kind{1, false, true}, Kind{1, true, false},
                           Kind{2, false, false}, Kind{2, true, false}}) {
    OnnxModel model(old_opset);
    model.input("x", {1, 7, kind.components}).output("y");
    model.node("DFT", {"x"}, {"y"}).set("inverse", kind.inverse).set("onesided", kind.onesided);
    const auto x = sample(static_cast<std::size_t>(7 * kind.components));
    std::vector<float> expected;
    add_transform(expected, signal_of(x, kind.components), kind.onesided ? 4 : 7, kind.inverse);
    expect_spectra(spectra_of(model, x), expected);
  }
}

/// Spectra of 2 x 3 real numbers: over the columns of each row, or over the rows of each column.
std::vector<float> of_rows(const std::vector<float>& x) {
  std::vector<float> expected;
  for (std::size_t row = 0; row < 2; ++row)
    add_transform(expected, {x[row * 3], x[row * 3 + 1], x[row * 3 + 2]}, 3);
  return expected;
}
std::vector<float> of_columns(const std::vector<float>& x) {
  std::vector<float> expected(12);
  for (std::size_t column = 0; column < 3; ++column) {
    std::vector<float> spectrum;
    add_transform(spectrum, {x[column], x[3 + column]}, 2);
    for (std::size_t k = 0; k < 2; ++k)
      for (std::size_t part = 0; part < 2; ++part)
        expected[(k * 3 + column) * 2 + part] = spectrum[k * 2 + part];
  }
  return expected;
}

TEST(Spectra, the_axis_is_an_input_since_opset_20_and_the_last_but_one_without_it) {
  const auto x = sample(6);
  const auto with_axis = [](std::int64_t axis) {
    OnnxModel model(opset_with_axis_input);
    model.input("x", {1, 2, 3, 1}).output("y").integers("axis", {axis});
    model.node("DFT", {"x", "", "axis"}, {"y"});
    return model;
  };
  expect_spectra(spectra_of(with_axis(-2), x), of_rows(x));
  expect_spectra(spectra_of(with_axis(2), x), of_rows(x));
  expect_spectra(spectra_of(with_axis(1), x), of_columns(x));
  OnnxModel usual(opset_with_axis_input), old(old_opset);
  usual.input("x", {1, 2, 3, 1}).output("y").node("DFT", {"x"}, {"y"});
  expect_spectra(spectra_of(usual, x), of_rows(x));
  old.input("x", {1, 2, 3, 1}).output("y").node("DFT", {"x"}, {"y"});
  expect_spectra(spectra_of(old, x), of_columns(x));
}

TEST(Spectra, an_axis_in_the_form_of_another_opset_is_refused) {
  OnnxModel attribute(opset_with_axis_input), input(old_opset);
  attribute.input("x", {1, 2, 3, 1}).output("y").node("DFT", {"x"}, {"y"}).set("axis", 1);
  EXPECT_NE(refusal(attribute).find("'axis' is an attribute, but an input since opset 20"),
            std::string::npos);
  input.input("x", {1, 2, 3, 1}).output("y").integers("axis", {2});
  input.node("DFT", {"x", "", "axis"}, {"y"});
  EXPECT_NE(refusal(input).find("an attribute before opset 20"), std::string::npos);
}

/// What engines find that look at the shape of the convolution only.
void expect_as_many_frames_as_windows(const Network& network) {
  for (const Layer& layer : network.layers) {
    const auto* conv = std::get_if<Conv>(&layer.op);
    if (conv == nullptr) continue;
    const std::int64_t blocks = network[layer.inputs[0]].shape[2];
    const Window& window = conv->window;
    EXPECT_EQ(network[layer.outputs[0]].shape[2],
              (blocks - window.kernel[0]) / window.strides[0] + 1);
  }
}

struct Framing {
  std::int64_t signal, length, step, components;
};

/// Lengths and steps with a common divisor and without, signals that end inside a frame.
TEST(Spectra, of_frames_are_those_of_the_parts_of_the_signal_under_the_window) {
  for (const Framing& f : {Framing{10, 4, 2, 1},
                           {11, 6, 4, 1},
                           {9, 5, 3, 1},
                           {13, 6, 4, 2},
                           {8, 8, 1, 1},
                           {7, 4, 1000000, 1},
                           {9, 4, 6, 1},
                           {12, 3, 5, 2}}) {
    SCOPED_TRACE(f.signal);
    const bool onesided = f.components == 1;
    const auto x = sample(static_cast<std::size_t>(f.signal * f.components));
    const auto window = sample(static_cast<std::size_t>(f.length) + 5);
    const std::vector<float> shape(window.begin() + 5, window.end());
    OnnxModel model(old_opset);
    // A real signal may leave out its last dimension, as exporters of torch.stft do.
    model.input("x", onesided ? Shape{1, f.signal} : Shape{1, f.signal, 2}).output("y");
    model.integers("step", {f.step}).weight("window", floats(shape));
    model.node("STFT", {"x", "step", "window"}, {"y"}).set("onesided", onesided);
    std::vector<float> expected;
    const auto signal = signal_of(x, f.components);
    for (std::int64_t begin = 0; begin + f.length <= f.signal; begin += f.step) {
      std::vector<Complex> frame;
      for (std::int64_t n = 0; n < f.length; ++n)
        frame.push_back(signal[static_cast<std::size_t>(begin + n)] *
                        static_cast<double>(shape[static_cast<std::size_t>(n)]));
      add_transform(expected, frame, onesided ? f.length / 2 + 1 : f.length);
    }
    expect_spectra(spectra_of(model, x), expected);
    expect_as_many_frames_as_windows(model.read());
  }
}

TEST(Spectra, what_makes_no_sense_or_is_too_large_is_refused) {
  const auto refused = [](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  refused(refusal("DFT", {1, 4, 2}, 4, true), "is complex");
  refused(refusal("DFT", {1, 4, 3}, 4, false), "last dimension of 1");
  refused(refusal("DFT", {1, 4, 1}, 0, false), "the length is 0");
  refused(refusal("DFT", {1, 100000, 1}, 100000, false), "factors");
  refused(refusal("STFT", {1, 4, 1}, 1, false), "neither a window");
  EXPECT_EQ(refusal("DFT", {1, 4, 1}, 4, true), "");
  const auto stft = [](std::int64_t step, std::int64_t length) {
    OnnxModel model(old_opset);
    model.input("x", {1, 4, 1}).output("y").integers("step", {step}).integers("length", {length});
    model.node("STFT", {"x", "step", "", "length"}, {"y"});
    return refusal(model);
  };
  refused(stft(0, 2), "the step of the frames is 0, expected at least 1");
  refused(stft(1, 5), "the signal has 4 numbers, expected at least the 5 of a frame");
}

}  // namespace
}  // namespace millrace::formats
