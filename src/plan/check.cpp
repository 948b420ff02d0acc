#include <fmt/format.h>
#include <fmt/ranges.h>

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

std::string space_text(const std::string& space) {
  return space.empty() ? "the host's memory" : fmt::format("'{}'", space);
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
  std::set<std::string> names;
  for (const Stage& stage : plan.stages) {
    if (!names.insert(stage.name).second)
      throw InputError(stage.name, "two stages have this name; each needs its own");
    if (stage.processors.empty())
      throw InputError(stage.name, "has no processor; give at least one");
    for (std::size_t r = 0; stage.processors.size() > 1 && r < stage.processors.size(); ++r)
      if (const std::string name = name_of(stage, r); !names.insert(name).second)
        throw InputError(name, "a stage and a replica have this name; each needs its own");
    for (const board::Processor& processor : stage.processors)
      if (processor.cores.empty() && processor.kind == board::ProcessorKind::cpu)
        throw InputError(stage.name, fmt::format("its processor '{}' has no cores; give at least "
                                                 "one",
                                                 processor.name));
  }
}

/// Its tensor is one of the network, as the reader of plans found it by its name.
void check_transfer(const Phase& phase, const std::string& place) {
  const Transfer& transfer = *phase.transfer;
  if (!phase.layers.empty())
    throw InputError(place, "has layers beside a transfer; give each a phase of its own");
  if (transfer.from.empty() == transfer.to.empty())
    throw InputError(place, fmt::format("transfers from {} to {}, expected from or to the host's "
                                        "memory",
                                        space_text(transfer.from), space_text(transfer.to)));
  if (phase.batch != 1)
    throw InputError(place, "is a transfer with a batch; transfers have none, so leave it out");
}

void check_phase(const Plan& plan, const Phase& phase, const std::string& place) {
  if (phase.transfer) check_transfer(phase, place);
  if (phase.layers.empty() && !phase.transfer)
    throw InputError(place, "has no layers; remove it");
  if (phase.offset < 0 || phase.offset > largest_capacity)
    throw InputError(place, fmt::format("found an offset of {} frames, expected 0 to "
                                        "{}",
                                        phase.offset, largest_capacity));
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
      note_layers(plan, stage.phases[p], place_of(stage, p), seen);
    }
  }
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (seen[i].empty())
      throw InputError(plan.layer_names[i], "this layer is in no stage; put it into a phase");
}

void check_replicas(const Plan& plan, const Stage& stage) {
  const std::int64_t replicas = stage.replicas();
  if (replicas > most_replicas)
    throw InputError(
        stage.name, fmt::format("found {} replicas, expected at most {}", replicas, most_replicas));
  if (stage.dispatch == Dispatch::first_free && (replicas == 1 || plan.stages.size() > 1))
    throw InputError(stage.name,
                     "shares its frames first free, which only replicas of the whole network can; "
                     "choose round robin");
}

void check_offsets(const Stage& stage) {
  const std::int64_t replicas = stage.replicas();
  for (const Phase& phase : stage.phases)
    if (phase.offset % replicas != 0)
      throw InputError(stage.name, fmt::format("found an offset of {} frames, expected a multiple "
                                               "of {}, the number of its replicas",
                                               phase.offset, replicas));
}

void check_all_replicas(const Plan& plan) {
  std::vector<std::int64_t> numbers;
  for (const Stage& stage : plan.stages) {
    check_replicas(plan, stage);
    numbers.push_back(stage.replicas());
  }
  if (replicas_of(plan) > most_replicas)
    throw InputError(plan.network_name,
                     fmt::format("its stages have {} replicas, so the same ones meet again after "
                                 "more than {} frames; choose numbers that divide each other",
                                 fmt::join(numbers, ", "), most_replicas));
  for (const Stage& stage : plan.stages) check_offsets(stage);
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

/// Transfers each once; what stages with batches read and write is the host's.
void check_spaces(const Plan& plan, const network::Network& network) {
  std::set<std::pair<TensorId, std::string>> seen;
  for (const Stage& stage : plan.stages)
    for (std::size_t p = 0; p < stage.phases.size(); ++p) {
      const Phase& phase = stage.phases[p];
      if (phase.batch > 1 && !stage.space.empty())
        throw InputError(place_of(stage, p),
                         fmt::format("has a batch, but its stage works in the memory {}; leave the "
                                     "'space' of the stage out",
                                     space_text(stage.space)));
      if (phase.transfer && !seen.insert({phase.transfer->tensor, phase.transfer->to}).second)
        throw InputError(place_of(stage, p),
                         fmt::format("'{}' is transferred to {} twice; remove one",
                                     network[phase.transfer->tensor].name,
                                     space_text(phase.transfer->to)));
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

/// What a channel that the phases need says of them.
void check_ends(const Plan& plan, const Channel& channel, const std::string& place) {
  if (channel.to.is_outside()) return;
  const Phase& reader = plan.stages[channel.to.stage].phases[channel.to.phase];
  if (reader.transfer && reader.transfer->from != channel.space)
    throw InputError(place, fmt::format("the transfer looks for it in {}, but it lies in {}; "
                                        "remove the transfer, or mend its 'from'",
                                        space_text(reader.transfer->from),
                                        space_text(channel.space)));
  if (channel.from.stage == channel.to.stage && channel.from.phase >= channel.to.phase)
    throw InputError(place, "the reader stands before the phase that makes it; swap them");
}

/// A phase writes a tensor once, into one memory.
void check_one_space(const std::vector<Channel>& channels, const network::Network& network) {
  std::map<std::tuple<std::size_t, std::size_t, std::size_t>, std::string> spaces;
  for (const Channel& channel : channels) {
    const auto [first, fresh] = spaces.try_emplace(
        {channel.tensor.index, channel.from.stage, channel.from.phase}, channel.space);
    if (!fresh && first->second != channel.space)
      throw InputError(network[channel.tensor].name,
                       fmt::format("is read in {} and in {}, but written once; add a transfer from "
                                   "one to the other",
                                   space_text(first->second), space_text(channel.space)));
  }
}

void check_offset(const Plan& plan, const Channel& channel, const std::string& place) {
  const std::int64_t offset = offset_of(plan, channel);
  if (offset < 0)
    throw InputError(place, fmt::format("its reader is {} frames ahead of its writer; give the "
                                        "reader a larger offset",
                                        -offset));
  const std::int64_t replicas = replicas_of(plan, channel);
  // At the start a part of the channel may have a token of every `replicas` frames.
  if (replicas > 1 &&
      (channel.capacity % replicas != 0 || channel.capacity <= rounded_up(offset, replicas)))
    throw InputError(place, fmt::format("found a capacity of {}, expected a multiple of {}, the "
                                        "number of replicas, that is larger than the offset of {} "
                                        "frames",
                                        channel.capacity, replicas, offset));
  if (channel.capacity <= offset)
    throw InputError(place, fmt::format("its reader has an offset of {} frames, so a capacity of "
                                        "{} is too small; give it at least {}",
                                        offset, channel.capacity, offset + 1));
  for (const Endpoint& end : {channel.from, channel.to}) {
    if (end.is_outside()) continue;
    const Stage& stage = plan.stages[end.stage];
    const std::int64_t batch = stage.phases[end.phase].batch;
    const std::int64_t least = rounded_up(stage.replicas() * batch, replicas);
    if (channel.capacity < least)
      throw InputError(place, fmt::format("{} works on {} frames at once, so a capacity of {} is "
                                          "too small; give it at least {}",
                                          text_of(plan, end), batch, channel.capacity, least));
  }
}

void check_channels(const Plan& plan, const network::Network& network) {
  const auto place = [&](const Channel& channel) {
    const bool known = channel.tensor.index < network.tensors.size();
    return fmt::format("channel of '{}' from {} to {}",
                       known ? network[channel.tensor].name : "an unknown tensor",
                       text_of(plan, channel.from), text_of(plan, channel.to));
  };
  std::set<ChannelKey> there;
  std::map<ChannelKey, std::string> needed;  // the memory in which it lies
  const std::vector<Channel> expected = needed_channels(plan, network);
  for (const Channel& channel : expected) {
    needed[key_of(channel)] = channel.space;
    check_ends(plan, channel, place(channel));
  }
  check_one_space(expected, network);
  std::map<std::pair<TensorId, std::string>, std::int64_t> capacities;
  for (const Channel& channel : plan.channels) {
    const auto wanted = needed.find(key_of(channel));
    if (wanted == needed.end())
      throw InputError(place(channel), "no layers need this channel; remove it");
    if (wanted->second != channel.space)
      throw InputError(place(channel), fmt::format("lies in {}, expected {}; mend its 'space'",
                                                   space_text(channel.space),
                                                   space_text(wanted->second)));
    if (!there.insert(key_of(channel)).second) throw InputError(place(channel),
                                                                "is there twice; remove one");
    if (channel.capacity < 1 || channel.capacity > largest_capacity)
      throw InputError(place(channel),
                       fmt::format("found a capacity of {} frames, expected 1 to {}",
                                   channel.capacity, largest_capacity));
    check_offset(plan, channel, place(channel));
    const auto [first, fresh] =
        capacities.try_emplace({channel.tensor, channel.space}, channel.capacity);
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
                       "⟨calibration⟩");
  const std::string hash = plan.calibration ? plan.calibration->network : "";
  if (plan.calibration && hash != plan.network_hash)
    throw InputError("calibration", fmt::format("was made for another network ({}) than the plan "
                                                "({}); run `millrace calibrate` for this network",
                                                hash, plan.network_hash));
}

}  // namespace

void check(const Plan& plan, const network::Network& network) {
  check_network(plan, network);
  check_processors(plan);
  check_layers(plan);
  check_all_replicas(plan);
  check_batches(plan, network);
  check_order(plan, network);
  check_spaces(plan, network);
  check_channels(plan, network);
  check_variants(plan, network);
}

}  // namespace millrace::plan
