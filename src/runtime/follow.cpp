#include "runtime/follow.h"

#include <algorithm>
#include <deque>

#include "network/evaluate/evaluate.h"
#include "plan/steps.h"
#include "runtime/compare.h"
#include "runtime/preparation.h"

namespace millrace::runtime {
namespace {

using network::Array;

/// Layers of a phase on one of its stage's processors.
struct Part {
  std::size_t stage, phase, replica;
  std::span<const LayerId> layers;

  Part with(std::span<const LayerId> others) const { return {stage, phase, replica, others}; }
};

/// What a part and the plain loops make of the same numbers.
struct Made {
  std::vector<TensorId> tensors;
  std::vector<Array> results;
  double error = 0;
  bool agrees = true;
};

class Walk {
 public:
  Walk(const Suspect& suspect, std::span<const Array> inputs, double tolerance)
      : suspect_(suspect),
        tolerance_(tolerance),
        schedule_(schedule::compile(suspect.plan)),
        prepared_(prepare({suspect.plan, suspect.network, suspect.engines}, schedule_, false)),
        values_(suspect.network.tensors.size()),
        places_(values_.size()) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const TensorId input = suspect.network.inputs[i];
      values_[input.index] = inputs[i];
      places_[input.index] = inputs[i].memory->data();
    }
  }

  Followed go() {
    std::vector<Part> parts = phases();
    while (!parts.empty() && !found_.difference) {
      const auto ready = std::ranges::find_if(parts, [&](const Part& part) { return knows(part); });
      const Part part = *ready;  // phases do not wait for each other in a circle
      parts.erase(ready);
      const std::size_t replicas = suspect_.plan.stages[part.stage].processors.size();
      for (std::size_t r = 0; r < replicas && !found_.difference; ++r)
        go_through({part.stage, part.phase, r, part.layers});
    }
    if (!found_.difference)
      for (const TensorId output : suspect_.network.outputs)
        found_.outputs.push_back(value(output));
    return std::move(found_);
  }

 private:
  std::vector<Part> phases() const {
    std::vector<Part> parts;
    for (std::size_t s = 0; s < suspect_.plan.stages.size(); ++s) {
      const auto& phases = suspect_.plan.stages[s].phases;
      for (std::size_t p = 0; p < phases.size(); ++p)
        if (!phases[p].layers.empty()) parts.push_back({s, p, 0, phases[p].layers});
    }
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

  /// Also as the pipeline runs it, so that what follows gets the pipeline's own numbers.
  void go_through(const Part& phase) {
    engine::Subnet& subnet = as_prepared(phase);
    Made made = make(phase, &subnet);
    const std::size_t before = parted_;
    if (!made.agrees) look_into(phase);
    // What differs as a whole only, and is not parted, gets wrong numbers or misreads them.
    if (!made.agrees && !found_.difference && parted_ == before) differ(phase, made.error);
    if (found_.difference) return;
    keep(std::move(made));
    std::vector<const std::byte*> in;
    for (const engine::Port& port : subnet.inputs()) in.push_back(place_of(port.tensor));
    std::vector<std::byte*> out;
    for (const engine::Port& port : subnet.outputs()) {
      out.push_back(kept_.emplace_back(port.layout.size).data());
      places_[port.tensor.index] = out.back();
    }
    subnet.run(in, out);
    for (std::size_t i = 0; i < out.size() && !found_.difference; ++i)
      if (subnet.outputs()[i].layout.format == "plain")
        take_plain(phase, subnet.outputs()[i].tensor, out[i]);
  }

  /// What the pipeline makes must be what was looked at.
  void take_plain(const Part& phase, TensorId id, const std::byte* data) {
    const Array like = values_[id.index];
    network::Buffer copy(like.memory->size());
    std::copy_n(data, copy.bytes().size(), copy.data());
    values_[id.index] = network::make_array(like.type, like.shape, std::move(copy));
    const double error = compare({{like}}, {{values_[id.index]}}).error;
    if (error > tolerance_) differ(phase, error);
  }

  engine::Subnet& as_prepared(const Part& phase) const {
    const auto actor = std::ranges::find_if(schedule_.actors, [&](const schedule::Actor& each) {
      return each.stage == phase.stage && each.replica == phase.replica;
    });
    const PreparedPhase& prepared =
        prepared_[static_cast<std::size_t>(actor - schedule_.actors.begin())][phase.phase];
    return prepared.of_one ? *prepared.of_one : *prepared.subnet;
  }

  /// As it lies between phases.
  const std::byte* place_of(TensorId id) const {
    const network::Tensor& tensor = suspect_.network[id];
    return tensor.constant ? tensor.constant->memory->data() : places_[id.index];
  }

  /// Parts of a phase, each on what those before it make.
  void look_into(Part part) {
    while (!part.layers.empty()) {
      Made made = make(part);
      std::size_t right = 0, wrong = part.layers.size();
      if (made.agrees) right = wrong;
      while (wrong - right > 1) {
        const std::size_t middle = (right + wrong) / 2;
        Made shorter = make(part.with(part.layers.first(middle)));
        (shorter.agrees ? right : wrong) = middle;
        made = std::move(shorter);
      }
      if (right == 0) return differ(part, made.error);
      if (right < part.layers.size()) made = make(part.with(part.layers.first(right)));
      keep(std::move(made));
      part.layers = part.layers.subspan(right);
      if (!part.layers.empty()) note_amplifier(part.layers.front());
    }
  }

  void keep(Made made) {
    for (std::size_t i = 0; i < made.tensors.size(); ++i)
      values_[made.tensors[i].index] = std::move(made.results[i]);
  }

  void differ(const Part& part, double error) {
    found_.difference = {suspect_.network[part.layers.front()].name,
                         plan::name_of(suspect_.plan.stages[part.stage], part.replica), error};
  }

  void note_amplifier(LayerId layer) {
    ++parted_;
    const std::string& name = suspect_.network[layer].name;
    if (std::ranges::find(found_.amplifiers, name) == found_.amplifiers.end())
      found_.amplifiers.push_back(name);
  }

  /// `prepared`: what it reads lies as that subnet reads it; otherwise plain.
  Made make(const Part& part, const engine::Subnet* prepared = nullptr) const {
    const std::string& engine = suspect_.plan.stages[part.stage].engine;
    const auto subnet = suspect_.engines.at(engine)->prepare(request_for(part, prepared));
    std::vector<Array> given;
    std::vector<const std::byte*> in;
    for (const engine::Port& port : subnet->inputs())
      in.push_back(prepared != nullptr ? place_of(port.tensor)
                                       : given.emplace_back(value(port.tensor)).memory->data());
    std::vector<network::Buffer> buffers;
    std::vector<std::byte*> out;
    for (const engine::Port& port : subnet->outputs())
      out.push_back(buffers.emplace_back(port.layout.size).data());
    subnet->run(in, out);
    Made made;
    const network::Network alone = network_of(part);
    const std::vector<Array> read = inputs_of(alone);
    const std::vector<Array> expected = network::evaluate(alone, read);
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      made.tensors.push_back(subnet->outputs()[i].tensor);
      made.results.push_back(
          network::make_array(expected[i].type, expected[i].shape, std::move(buffers[i])));
    }
    made.error = compare({expected}, {made.results}).error;
    made.agrees = made.error <= tolerance_;
    if (!made.agrees && suspect_.forgives_rounding) {
      const Float64Reference exact(alone, {read}, {expected});
      made.agrees = exact.beside({made.results}).agrees(tolerance_);
    }
    return made;
  }

  network::Network network_of(const Part& part) const {
    engine::Border border = engine::border_of(suspect_.network, part.layers);
    network::Network alone = suspect_.network;
    alone.layers.clear();
    for (const LayerId layer : part.layers) alone.layers.push_back(suspect_.network[layer]);
    alone.inputs = std::move(border.inputs);
    alone.outputs = std::move(border.outputs);
    return alone;
  }

  std::vector<Array> inputs_of(const network::Network& alone) const {
    std::vector<Array> inputs;
    for (const TensorId id : alone.inputs) inputs.push_back(value(id));
    return inputs;
  }

  engine::SubnetRequest request_for(const Part& part, const engine::Subnet* prepared) const {
    const network::Network& network = suspect_.network;
    const engine::Border border = engine::border_of(network, part.layers);
    engine::SubnetRequest request;
    request.network = &network;
    request.processor = suspect_.plan.stages[part.stage].processors[part.replica];
    request.layers.assign(part.layers.begin(), part.layers.end());
    if (prepared != nullptr)
      request.inputs.assign(prepared->inputs().begin(), prepared->inputs().end());
    else
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
  schedule::Schedule schedule_;
  std::vector<PreparedActor> prepared_;   // as in the pipeline
  std::vector<Array> values_;             // by tensor, plain; without memory: not known yet
  std::vector<const std::byte*> places_;  // of the same, as they lie between phases
  std::deque<network::Buffer> kept_;      // what places_ point to
  std::size_t parted_ = 0;                // so often was a phase parted
  Followed found_;
};

}  // namespace

Followed follow(const Suspect& suspect, std::span<const Array> inputs, double tolerance) {
  const plan::Plan plan = plan::without_transfers(suspect.plan, suspect.network);
  return Walk({plan, suspect.network, suspect.engines, suspect.forgives_rounding}, inputs,
              tolerance)
      .go();
}

}  // namespace millrace::runtime
