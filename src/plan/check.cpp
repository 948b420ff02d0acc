#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/error.h"
#include "network/batch.h"
#include "plan/steps.h"

namespace millrace::plan {
namespace {

std::string place_of(const Stage& stage, std::size_t phase) {
  return fmt::format("{}, phase {}", stage.name, phase);
}

void check_network(const Plan& plan, const network::Network& network) {
  if (plan.layer_names.size() != network.layers.size())
    throw InputError(network.name,
                     fmt::format("the plan is for {} layers, the network has {}; make "
                                 "a new plan",
                                 plan.layer_names.size(), network.layers.size()));
  for (std::size_t i = 0; i < network.layers.size(); ++i)
    if (plan.layer_names[i] != network.layers[i].name)
      throw InputError(network.name,
                       fmt::format("layer {} is '{}' in the plan, '{}' in the network; make a new "
                                   "plan",
                                   i, plan.layer_names[i], network.layers[i].name));
}

void check_processors(const Plan& plan) {
  std::map<int, std::string> owners;
  std::set<std::string> names;
  for (const Stage& stage : plan.stages) {
    if (!names.insert(stage.name).second)
      throw InputError(stage.name, "two stages have this name; each needs its own");
    if (stage.processor.cores.empty() && stage.processor.kind == board::ProcessorKind::cpu)
      throw InputError(stage.name, fmt::format("its processor '{}' has no cores; give at least one",
                                               stage.processor.name));
    for (int core : stage.processor.cores) {
      const auto [owner, fresh] = owners.try_emplace(core, stage.name);
      if (!fresh)
        throw InputError(stage.name,
                         fmt::format("core {} is used by {} too; each core can hold one "
                                     "stage",
                                     core, owner->second));
    }
  }
}

void check_phase(const Plan& plan, const Phase& phase, const std::string& place) {
  if (phase.layers.empty()) throw InputError(place, "has no layers; remove it");
  if (phase.lag < 0 || phase.lag > largest_capacity)
    throw InputError(place, fmt::format("found an offset (lag) of {} frames, expected 0 to "
                                        "{}", phase.lag,
                                        largest_capacity));
  for (std::size_t i = 0; i < phase.layers.size(); ++i) {
    if (phase.layers[i].index >= plan.layer_names.size())
      throw InputError(place, "names a layer that the network does not have; remove it");
    if (i > 0 && phase.layers[i] <= phase.layers[i - 1])
      throw InputError(place, fmt::format("'{}' stands after '{}', but the network computes it "
                                          "earlier; swap them",
                                          plan.layer_names[phase.layers[i].index],
                                          plan.layer_names[phase.layers[i - 1].index]));
  }
}

void check_batch(const Plan& plan, const network::Network& network, const Phase& phase,
                 const std::string& place) {
  if (phase.batch < 1 || phase.batch > largest_batch)
    throw InputError(place, fmt::format("found a batch of {} frames, expected 1 to {}", phase.batch,
                                        largest_batch));
  if (phase.batch > 1 && turns_of(plan) > 1 && !is_shared(plan))
    throw InputError(place,
                     "has a batch, but stages of this plan have replicas; set all batches to 1, or "
                     "remove the replicas");
  if (const std::int64_t largest = batch_of(plan); largest % phase.batch != 0)
    throw InputError(place, fmt::format("its batch of {} frames does not divide {}, the largest "
                                        "batch of the plan; choose a divisor",
                                        phase.batch, largest));
  if (phase.batch == 1) return;
  for (const LayerId layer : phase.layers)
    if (const Verdict verdict = network::can_batch(network, layer); !verdict)
      throw InputError(place, fmt::format("'{}' cannot work on {} frames at once: {}; put it into "
                                          "a phase with a batch of 1",
                                          network[layer].name, phase.batch, verdict.reason()));
}

void check_batches(const Plan& plan, const network::Network& network) {
  for (const Stage& stage : plan.stages)
    for (std::size_t p = 0; p < stage.phases.size(); ++p)
      check_batch(plan, network, stage.phases[p], place_of(stage, p));
}

void note_layers(const Plan& plan, const Phase& phase, const std::string& place,
                 std::vector<std::string>& seen) {
  for (LayerId layer : phase.layers) {
    if (!seen[layer.index].empty())
      throw InputError(place, fmt::format("has the layer '{}', but {} has it too; remove one",
                                          plan.layer_names[layer.index], seen[layer.index]));
    seen[layer.index] = place;
  }
}

void check_layers(const Plan& plan) {
  std::vector<std::string> seen(plan.layer_names.size());
  for (const Stage& stage : plan.stages) {
    if (stage.phases.empty()) throw InputError(stage.name, "has no phases; remove it");
    for (std::size_t p = 0; p < stage.phases.size(); ++p) {
      check_phase(plan, stage.phases[p], place_of(stage, p));
      if (stage.turn.index == 0) note_layers(plan, stage.phases[p], place_of(stage, p), seen);
    }
  }
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (seen[i].empty())
      throw InputError(plan.layer_names[i], "this layer is in no stage; put it into a phase");
}

void check_turn(const Plan& plan, const Stage& stage) {
  const auto [index, of] = stage.turn;
  if (of < 1 || of > most_replicas || index < 0 || index >= of)
    throw InputError(stage.name, fmt::format("is replica {} of {} (turn); expected a number from "
                                             "0, below the number of replicas, which is 1 to {}",
                                             index, of, most_replicas));
  if (of == 1) return;
  if (const std::int64_t turns = turns_of(plan); of != turns)
    throw InputError(stage.name, fmt::format("has {} replicas, but another stage has {}; give all "
                                             "replicated stages the same number",
                                             of, turns));
  if (stage.phases.size() != 1 && !is_shared(plan))
    throw InputError(stage.name, fmt::format("is a replica with {} phases, but a replica of a part "
                                             "of the network has 1 phase; join its layers to 1 "
                                             "phase",
                                             stage.phases.size()));
  for (const Phase& phase : stage.phases)
    if (phase.lag % of != 0)
      throw InputError(stage.name, fmt::format("found an offset (lag) of {} frames, expected a "
                                               "multiple of {}; its {} replicas share frames round "
                                               "robin",
                                               phase.lag, of, of));
}

/// But for what they take.
bool are_alike(const Stage& a, const Stage& b) {
  const auto same = [](const Phase& x, const Phase& y) {
    return x.layers == y.layers && x.lag == y.lag && x.batch == y.batch;
  };
  return a.engine == b.engine &&
         std::equal(a.phases.begin(), a.phases.end(), b.phases.begin(), b.phases.end(), same);
}

/// Of a stage that is the first in turn: that all others are there, and like it.
void check_replicas(const Plan& plan, const Stage& first) {
  std::vector<bool> there(static_cast<std::size_t>(first.turn.of));
  for (const Stage& stage : plan.stages) {
    if (stage.turn.of == 1 || stage.phases.front().layers != first.phases.front().layers) continue;
    const auto index = static_cast<std::size_t>(stage.turn.index);
    if (there[index])
      throw InputError(stage.name, fmt::format("has the same number {} (turn) as another replica; "
                                               "give each its own", index));
    there[index] = true;
    if (!are_alike(stage, first))
      throw InputError(stage.name, fmt::format("is a replica of {}, but its engine, offset (lag), "
                                               "batch or layers differ; make them equal",
                                               first.name));
  }
  const auto missing = std::find(there.begin(), there.end(), false);
  if (missing != there.end())
    throw InputError(first.name, fmt::format("replica {} (turn) of this stage is missing; add it",
                                             missing - there.begin()));
}

void check_all_replicas(const Plan& plan) {
  for (const Stage& stage : plan.stages) check_turn(plan, stage);
  for (const Stage& stage : plan.stages) {
    if (stage.turn.of == 1) continue;
    const bool known = std::any_of(plan.stages.begin(), plan.stages.end(), [&](const Stage& first) {
      return first.turn.of > 1 && first.turn.index == 0 &&
             first.phases.front().layers == stage.phases.front().layers;
    });
    if (!known) throw InputError(stage.name,
                                 "is a replica, but replica 0 (turn) with the same layers is "
                                 "missing; add it");
    if (stage.turn.index == 0) check_replicas(plan, stage);
  }
}

void check_order(const Plan& plan, const network::Network& network) {
  const std::vector<Endpoint> places = places_of_layers(plan);
  const network::Topology topology = network::topology(network);
  for (std::size_t i = 0; i < network.layers.size(); ++i)
    for (LayerId before : topology.predecessors[i]) {
      const Endpoint &from = places[before.index], &to = places[i];
      if (from.stage == to.stage && from.phase > to.phase)
        throw InputError(
            place_of(plan.stages[to.stage], to.phase),
            fmt::format("'{}' needs the result of '{}', which comes only in phase {}",
                        plan.layer_names[i], plan.layer_names[before.index], from.phase));
    }
}

using ChannelKey = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t, std::size_t>;

ChannelKey key_of(const Channel& channel) {
  return {channel.tensor.index, channel.from.stage, channel.from.phase, channel.to.stage,
          channel.to.phase};
}

std::string text_of(const Plan& plan, const Endpoint& end) {
  if (end.is_outside()) return "outside";
  if (end.stage >= plan.stages.size()) return fmt::format("stage number {}", end.stage);
  return place_of(plan.stages[end.stage], end.phase);
}

void check_lag(const Plan& plan, const Channel& channel, const std::string& place) {
  const std::int64_t lag = lag_of(plan, channel);
  if (lag < 0)
    throw InputError(place, fmt::format("its reader is {} frames ahead of its writer; give the "
                                        "reader a larger offset (lag)",
                                        -lag));
  const std::int64_t turns = turn_of(plan, channel).of;
  if (turns > 1 &&
      (channel.capacity % turns != 0 || channel.capacity / turns <= initial_tokens(plan, channel)))
    throw InputError(place, fmt::format("found a capacity of {}, expected a multiple of {}, the "
                                        "number of replicas, that is larger than the offset of {} "
                                        "frames",
                                        channel.capacity, turns, lag));
  if (channel.capacity <= lag)
    throw InputError(place, fmt::format("its reader has an offset of {} frames, so a capacity of "
                                        "{} is too small; give it at least {}",
                                        lag, channel.capacity, lag + 1));
  for (const Endpoint& end : {channel.from, channel.to}) {
    if (end.is_outside()) continue;
    const std::int64_t batch = turns * plan.stages[end.stage].phases[end.phase].batch;
    if (channel.capacity < batch)
      throw InputError(place,
                       fmt::format("{} works on {} frames at once, so a capacity of {} is "
                                   "too small; give it at least {}",
                                   text_of(plan, end), batch / turns, channel.capacity, batch));
  }
}

void check_channels(const Plan& plan, const network::Network& network) {
  const auto place = [&](const Channel& channel) {
    const bool known = channel.tensor.index < network.tensors.size();
    return fmt::format("channel of '{}' from {} to {}",
                       known ? network[channel.tensor].name : "an unknown tensor",
                       text_of(plan, channel.from), text_of(plan, channel.to));
  };
  std::set<ChannelKey> needed, there;
  const std::vector<Channel> expected = needed_channels(plan, network);
  for (const Channel& channel : expected) needed.insert(key_of(channel));
  std::map<TensorId, std::int64_t> capacities;
  for (const Channel& channel : plan.channels) {
    if (!needed.contains(key_of(channel)))
      throw InputError(place(channel), "no layers need this channel; remove it");
    if (!there.insert(key_of(channel)).second) throw InputError(place(channel),
                                                                "is there twice; remove one");
    if (channel.capacity < 1 || channel.capacity > largest_capacity)
      throw InputError(place(channel),
                       fmt::format("found a capacity of {} frames, expected 1 to {}",
                                   channel.capacity, largest_capacity));
    check_lag(plan, channel, place(channel));
    const auto [first, fresh] = capacities.try_emplace(channel.tensor, channel.capacity);
    if (!fresh && first->second != channel.capacity)
      throw InputError(place(channel), fmt::format("has a capacity of {}, but another channel of "
                                                   "the same tensor has {}; they share slots, so "
                                                   "make them equal",
                                                   channel.capacity, first->second));
  }
  for (const Channel& channel : expected)
    if (!there.contains(key_of(channel)))
      throw InputError(place(channel), "this channel is missing; add it");
}

void check_variants(const Plan& plan, const network::Network& network) {
  const std::size_t layers = network.layers.size();
  for (const auto* variants : {&plan.variants, &plan.one_frame_variants})
    if (!variants->empty() && variants->size() != layers)
      throw InputError(network.name, fmt::format("the plan has {} variants for {} layers; give one "
                                                 "for each, or none",
                                                 variants->size(), layers));
  const std::vector<Endpoint> places = places_of_layers(plan);
  for (std::size_t i = 0; i < plan.variants.size(); ++i)
    if (plan.variants[i].precision == board::Precision::int8 && !plan.calibration &&
        !is_simulated(plan.stages[places[i].stage]))
      throw InputError(network.layers[i].name,
                       "is planned in int8, but the plan has no calibration; plan again with "
                       "--calibration");
  const std::string hash = plan.calibration ? plan.calibration->network : "";
  if (plan.calibration && hash != plan.origin.network)
    throw InputError("calibration", fmt::format("was made for another network ({}) than the plan "
                                                "({}); run `millrace calibrate` for this network",
                                                hash, plan.origin.network));
}

}  // namespace

void check(const Plan& plan, const network::Network& network) {
  check_network(plan, network);
  check_processors(plan);
  check_layers(plan);
  check_all_replicas(plan);
  check_batches(plan, network);
  check_order(plan, network);
  check_channels(plan, network);
  check_variants(plan, network);
}

}  // namespace millrace::plan
