#include "runtime/follow.h"

#include <algorithm>

#include "network/evaluate/evaluate.h"
#include "runtime/compare.h"

namespace millrace::runtime {
namespace {

using network::Array;

/// Layers of a phase on one of its stage's processors.
struct Part {
  const plan::Stage* stage;
  std::size_t replica;
  std::span<const LayerId> layers;
};

/// What a part and the plain loops make of the same numbers.
struct Made {
  std::vector<TensorId> tensors;
  std::vector<Array> results;
  double error = 0;
};

class Walk {
 public:
  Walk(const Suspect& suspect, std::span<const Array> inputs, double tolerance)
      : suspect_(suspect), tolerance_(tolerance), values_(suspect.network.tensors.size()) {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      values_[suspect.network.inputs[i].index] = inputs[i];
  }

  Followed go() {
    std::vector<Part> parts = phases();
    while (!parts.empty() && !found_.difference) {
      const auto ready = std::ranges::find_if(parts, [&](const Part& part) { return knows(part); });
      const Part part = *ready;  // phases do not wait for each other in a circle
      parts.erase(ready);
      for (std::size_t r = 0; r < part.stage->processors.size() && !found_.difference; ++r)
        go_through({part.stage, r, part.layers});
    }
    if (!found_.difference)
      for (const TensorId output : suspect_.network.outputs)
        found_.outputs.push_back(value(output));
    return std::move(found_);
  }

 private:
  std::vector<Part> phases() const {
    std::vector<Part> parts;
    for (const plan::Stage& stage : suspect_.plan.stages)
      for (const plan::Phase& phase : stage.phases)
        if (!phase.layers.empty()) parts.push_back({&stage, 0, phase.layers});
    return parts;
  }

  bool knows(const Part& part) const {
    return std::ranges::all_of(
        engine::border_of(suspect_.network, part.layers).inputs,
        [&](TensorId id) { return suspect_.network[id].constant || values_[id.index].memory; });
  }

  Array value(TensorId id) const {
    const network::Tensor& tensor = suspect_.network[id];
    return tensor.constant ? *tensor.constant : values_[id.index];
  }

  /// Keeps what the parts make, or the first difference.
  void go_through(Part part) {
    while (!part.layers.empty()) {
      Made made = make(part);
      std::size_t right = 0, wrong = part.layers.size();
      if (made.error <= tolerance_) right = wrong;
      while (wrong - right > 1) {
        const std::size_t middle = (right + wrong) / 2;
        Made shorter = make({part.stage, part.replica, part.layers.first(middle)});
        (shorter.error <= tolerance_ ? right : wrong) = middle;
        made = std::move(shorter);
      }
      if (right == 0) return differ(part, made.error);
      if (right < part.layers.size())
        made = make({part.stage, part.replica, part.layers.first(right)});
      for (std::size_t i = 0; i < made.tensors.size(); ++i)
        values_[made.tensors[i].index] = std::move(made.results[i]);
      part.layers = part.layers.subspan(right);
      if (!part.layers.empty()) note_amplifier(part.layers.front());
    }
  }

  void differ(const Part& part, double error) {
    found_.difference = {suspect_.network[part.layers.front()].name,
                         plan::name_of(*part.stage, part.replica), error};
  }

  void note_amplifier(LayerId layer) {
    const std::string& name = suspect_.network[layer].name;
    if (std::ranges::find(found_.amplifiers, name) == found_.amplifiers.end())
      found_.amplifiers.push_back(name);
  }

  Made make(const Part& part) const {
    const auto subnet = suspect_.engines.at(part.stage->engine)->prepare(request_for(part));
    std::vector<Array> given;
    std::vector<const std::byte*> in;
    for (const engine::Port& port : subnet->inputs())
      in.push_back(given.emplace_back(value(port.tensor)).memory->data());
    std::vector<network::Buffer> buffers;
    std::vector<std::byte*> out;
    for (const engine::Port& port : subnet->outputs())
      out.push_back(buffers.emplace_back(port.layout.size).data());
    subnet->run(in, out);
    Made made;
    const std::vector<Array> expected = evaluate(part);
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      made.tensors.push_back(subnet->outputs()[i].tensor);
      made.results.push_back(
          network::make_array(expected[i].type, expected[i].shape, std::move(buffers[i])));
    }
    made.error = compare({expected}, {made.results}).error;
    return made;
  }

  /// By the plain loops.
  std::vector<Array> evaluate(const Part& part) const {
    engine::Border border = engine::border_of(suspect_.network, part.layers);
    network::Network alone = suspect_.network;
    alone.layers.clear();
    for (const LayerId layer : part.layers) alone.layers.push_back(suspect_.network[layer]);
    alone.inputs = std::move(border.inputs);
    alone.outputs = std::move(border.outputs);
    std::vector<Array> inputs;
    for (const TensorId id : alone.inputs) inputs.push_back(value(id));
    return network::evaluate(alone, inputs);
  }

  engine::SubnetRequest request_for(const Part& part) const {
    const network::Network& network = suspect_.network;
    const engine::Border border = engine::border_of(network, part.layers);
    engine::SubnetRequest request;
    request.network = &network;
    request.processor = part.stage->processors[part.replica];
    request.layers.assign(part.layers.begin(), part.layers.end());
    for (const TensorId input : border.inputs)
      request.inputs.push_back({input, engine::plain_layout(network[input])});
    request.outputs = border.outputs;
    request.plain.assign(border.outputs.size(), true);
    request.variants = plan::one_frame_variants(suspect_.plan);
    if (suspect_.plan.calibration) request.calibration = &*suspect_.plan.calibration;
    return request;
  }

  const Suspect& suspect_;
  double tolerance_;
  std::vector<Array> values_;  // by tensor; without memory: not known yet
  Followed found_;
};

}  // namespace

Followed follow(const Suspect& suspect, std::span<const Array> inputs, double tolerance) {
  return Walk(suspect, inputs, tolerance).go();
}

}  // namespace millrace::runtime
