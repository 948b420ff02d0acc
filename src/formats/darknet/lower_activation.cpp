// What stands behind a sum: Darknet's activations.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/file.h"
#include "formats/darknet/lower.h"

namespace millrace::formats::darknet {
namespace {

struct Activation {
  std::string_view name;
  Unary function;
  bool gates = false;  // the result is multiplied with the input
};

constexpr std::array activations{
    Activation{"elu", {UnaryKind::elu, 1, 0}},
    Activation{"hardtan", {UnaryKind::clip, -1, 1}},
    Activation{"leaky", {UnaryKind::leaky_relu, double{0.1f}, 0}},
    Activation{"logistic", {UnaryKind::sigmoid, 0, 0}},
    Activation{"mish", {UnaryKind::mish, 0, 0}},
    Activation{"relu", {UnaryKind::relu, 0, 0}},
    Activation{"relu6", {UnaryKind::clip, 0, 6}},
    Activation{"silu", {UnaryKind::sigmoid, 0, 0}, true},
    Activation{"swish", {UnaryKind::sigmoid, 0, 0}, true},
    Activation{"tanh", {UnaryKind::tanh, 0, 0}},
};

[[noreturn]] void refuse(const Section& section, const std::string& name) {
  std::vector<std::string_view> known{"linear"};
  for (const Activation& activation : activations) known.push_back(activation.name);
  section.fail_at("activation",
                  fmt::format("'{}' is not an activation that can be computed{}; there are {}",
                              name, did_you_mean(name, known), fmt::join(known, ", ")));
}

}  // namespace

TensorId activate(Reading& reading, TensorId x, std::string_view fallback) {
  const std::string word = reading.section().text("activation", fallback);
  if (word == "linear") return x;
  const auto found = std::ranges::find(activations, word, &Activation::name);
  if (found == activations.end()) refuse(reading.section(), word);
  const std::string base = reading.network()[x].name;
  const Shape shape = reading.shape(x);
  const std::string name = base + "_" + word;
  if (!found->gates) return reading.add(name, found->function, {x}, shape);
  const TensorId gate = reading.add(base + "_gate", found->function, {x}, shape);
  return reading.add(name, Binary{BinaryKind::mul}, {x, gate}, shape);
}

}  // namespace millrace::formats::darknet
