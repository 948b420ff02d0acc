#pragma once
// The steps from a mapping to a plan, in their order. Each is a function from plan to plan.
#include <set>
#include <span>
#include <string>
#include <vector>

#include "plan/build.h"

namespace millrace::plan {

/// Frames per channel, and of offset; more is a mistake.
inline constexpr std::int64_t largest_capacity = 1'000'000;
/// Frames that a phase may work on at once.
inline constexpr std::int64_t largest_batch = 256;
/// Replicas of a stage, and the least common multiple of those of all stages.
inline constexpr std::int64_t most_replicas = 64;

/// The next multiple, or the number itself if it is one.
constexpr std::int64_t rounded_up(std::int64_t number, std::int64_t multiple_of) {
  return (number + multiple_of - 1) / multiple_of * multiple_of;
}

/// What the steps may look at.
struct Material {
  const network::Network& network;
  const board::Board& board;
  const Mapping& mapping;
  const BuildOptions& options;
  network::Topology topology;
};

/// `fault`: what is wrong with the plan after the step, a sentence; empty: nothing. Builds for
/// debugging ask it after each step; a fault is a mistake in the step.
struct Step {
  const char* name;
  Plan (*run)(Plan, const Material&);
  std::string (*fault)(const Plan&, const Material&);
};
/// All of them, in their order.
std::span<const Step> build_steps();

// Each with what holds after it.

/// Hash and names of the network.
std::string fault_of_names(const Plan& plan, const Material& material);
Plan note_network(Plan plan, const Material& material);

/// One stage per processor of the board, its layers cut into phases so that no phase waits for
/// itself through another processor, and where batches change.
Plan cut_into_phases(Plan plan, const Material& material);
std::string fault_of_phases(const Plan& plan, const Material& material);

/// Where a processor has streams: a stage for the phases with each number of them.
Plan split_by_streams(Plan plan, const Material& material);

/// Stages that have layers, in the order of their first layers, with names.
Plan drop_empty_stages(Plan plan, const Material& material);
std::string fault_of_stages(const Plan& plan, const Material& material);

/// Replicas of stages on the processors asked for.
Plan add_replicas(Plan plan, const Material& material);
std::string fault_of_replicas(const Plan& plan, const Material& material);

/// A channel for every tensor that is needed beyond its phase.
Plan connect_phases(Plan plan, const Material& material);
std::string fault_of_channels(const Plan& plan, const Material& material);

/// Where a device has a memory of its own: its stages read and write there, and what comes from
/// elsewhere, or goes there, is transferred, by stages on the device's copy engines if it has some,
/// else within its stages if tensors stay in its memory. Not for stages with batches, and not where
/// whoever is free takes a frame: they move their tensors within their own runs.
Plan add_transfers(Plan plan, const Material& material);
/// The same plan where stages move their tensors within their own runs: without transfers, and in
/// the host's memory. Offsets and capacities are set anew only where they are too small.
Plan without_transfers(Plan plan, const network::Network& network);
std::string fault_of_transfers(const Plan& plan, const Material& material);

/// Gives each phase an offset one frame larger than what it reads from other stages.
Plan set_offsets(Plan plan, const Material& material);
std::string fault_of_offsets(const Plan& plan, const Material& material);

/// As many slots per tensor as keep the pipeline at full speed.
Plan size_channels(Plan plan, const Material& material);
std::string fault_of_capacities(const Plan& plan, const Material& material);

/// By how many frames the channel's reader is behind its writer. The caller submits at offset 0 and
/// collects at the largest offset of all.
std::int64_t offset_of(const Plan& plan, const Channel& channel);

/// The least common multiple of the numbers of replicas: after so many frames the same replicas
/// meet again. No more is counted than just above most_replicas.
std::int64_t replicas_of(const Plan& plan);
/// The same of the stages that the channel connects.
std::int64_t replicas_of(const Plan& plan, const Channel& channel);

/// The names of processors that several actors have: streams, or stages beside streams.
std::set<std::string> shared_processors(const Plan& plan);

/// The replicas of all stages, and their phases.
std::size_t actors_in(const Plan& plan);
std::size_t phases_in(const Plan& plan);

/// The largest batch of its phases.
std::int64_t batch_of(const Plan& plan);

/// Whether replicas of the whole network take the next frames, as many as their largest batch,
/// whenever they are free.
bool is_first_free(const Plan& plan);

/// The stage and phase of each layer. Precondition: each layer is in the plan once.
std::vector<Endpoint> places_of_layers(const Plan& plan);

/// The channels that the plan's phases need, by tensor, then by reader.
std::vector<Channel> needed_channels(const Plan& plan, const network::Network& network);

}  // namespace millrace::plan
