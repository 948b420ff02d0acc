#include "explore/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>
#include <utility>

#include "analysis/link_energy.h"
#include "analysis/rate.h"
#include "base/quantity.h"
#include "board/power.h"
#include "explore/fallback.h"
#include "explore/limits.h"
#include "explore/mapping/memory.h"
#include "plan/capacities.h"
#include "plan/steps.h"

namespace millrace::explore {
namespace {

constexpr double noise = 0.01;           // of measurements, at least
constexpr std::int64_t most_unlike = 8;  // times the fastest copy's time, of the slowest
constexpr double most_noise = 0.03;  // at most, for fewer processors: more is too much to give away
constexpr double most_noise_of_as_many = 0.1;  // for as many: a busy machine tells no more

bool uses_int8(const std::vector<board::Variant>& variants) {
  return std::any_of(variants.begin(), variants.end(),
                     [](const board::Variant& v) { return v.precision == board::Precision::int8; });
}

/// Variant of each layer on its processor; empty if the engine's own choice is the best everywhere.
std::vector<board::Variant> variants_of(const VariantsByProcessor& variants,
                                        const plan::Mapping& mapping) {
  std::vector<board::Variant> result;
  for (std::size_t i = 0; i < variants.size(); ++i)
    result.push_back(variants[i][mapping.processors[i].index]);
  const bool own = std::all_of(result.begin(), result.end(),
                               [](const board::Variant& v) { return v == board::Variant{}; });
  return own ? std::vector<board::Variant>{} : result;
}

/// The mapping with every processor that has replicas replaced by that of this one.
plan::Mapping of_replica(plan::Mapping mapping, const SearchCase& given, std::size_t replica) {
  for (ProcessorId& processor : mapping.processors)
    if (const auto found = given.replicas.find(processor); found != given.replicas.end())
      if (const std::size_t turn = replica % (1 + found->second.size()); turn > 0)
        processor = found->second[turn - 1];
  return mapping;
}

/// As few slots as keep the plan's throughput at the predicted times, and the slack, or as much of
/// it as there is memory for; if there is none for the fewest, those of the rule stay.
void size_slots(Candidate& candidate, const network::Network& network, std::int64_t slack,
                Bytes most_memory) {
  candidate.smallest = analysis::smallest_slots(
      candidate.plan, network, plan::predicted_times(candidate.plan, candidate.evidence));
  if (!candidate.smallest) return;
  for (; slack >= 0; --slack) {
    plan::Plan sized = plan::with_slots(candidate.plan, candidate.smallest->capacities, slack);
    if (plan::slot_bytes(sized, network) > most_memory) continue;
    candidate.plan = std::move(sized);
    return;
  }
}

Verdict within_memory(const plan::Plan& plan, const network::Network& network, Bytes most) {
  const Bytes needed = plan::slot_bytes(plan, network);
  if (needed <= most) return Verdict::yes();
  return Verdict::no(fmt::format("its buffers need {}, more than ⟨max_memory⟩ {}; allow more",
                                 to_text(needed), to_text(most)));
}

/// First-free replicas, of which none takes so long that all frames would wait for it, as a core
/// beside a GPU would.
bool has_near_copies(const Candidate& candidate) {
  if (!plan::is_first_free(candidate.plan) || candidate.evidence.replicas.empty()) return false;
  const auto [fastest, slowest] = std::ranges::minmax_element(candidate.evidence.replicas, {},
                                                              &plan::ReplicaEvidence::predicted);
  return fastest->predicted > Time{} && slowest->predicted <= most_unlike * fastest->predicted;
}

/// First-free replicas of unlike speed get so many slots that the fast ones need not wait for a
/// frame of the slowest.
void add_slots_for_unlike(Candidate& candidate, const network::Network& network,
                          const plan::PhaseTimes& times) {
  plan::Plan& plan = candidate.plan;
  if (!has_near_copies(candidate) || times.empty()) return;
  const std::int64_t round = plan::round_of(plan);
  const std::int64_t most = most_unlike * plan.stages.front().replicas();
  const std::int64_t enough = std::min(analysis::enough_in_flight(plan, network, times), most);
  std::vector<std::int64_t> capacities;
  for (const plan::Channel& channel : plan.channels)
    capacities.push_back(std::max(channel.capacity, (enough + round - 1) / round * round));
  plan = plan::with_slots(plan, capacities, 0);
}

Time slowest_stage(const Candidate& candidate) {
  Time slowest{};
  std::size_t actor = 0;
  for (const plan::Stage& stage : candidate.plan.stages)
    for (std::int64_t r = 0; r < stage.replicas(); ++r)
      slowest =
          std::max(slowest, candidate.evidence.replicas[actor++].predicted / stage.replicas());
  return slowest;
}

/// Measured, or else predicted.
double period_of(const Candidate& c) {
  return seconds(c.evidence.period != Time{} ? c.evidence.period : predicted_period(c));
}

}  // namespace

Time predicted_period(const Candidate& candidate) {
  if (!has_near_copies(candidate)) return candidate.bound;
  const auto times = plan::predicted_times(candidate.plan, candidate.evidence);
  return times.empty() ? candidate.bound : analysis::period_of_copies(candidate.plan, times);
}

plan::Evidence predicted(const plan::Plan& plan, const plan::Mapping& mapping,
                         const SearchCase& given) {
  std::vector<plan::Mapping> by_replica;
  const auto replicas = static_cast<std::size_t>(plan::replicas_of(plan));
  for (std::size_t r = 0; r < replicas; ++r) by_replica.push_back(of_replica(mapping, given, r));
  return predicted(given.problem, plan, by_replica);
}

plan::Variants variants_for(const Problem& problem, const plan::Mapping& mapping,
                            const network::Calibration* calibration) {
  plan::Variants result{variants_of(problem.variants, mapping)};
  if (calibration != nullptr && uses_int8(result.variants)) result.calibration = *calibration;
  return result;
}

void Candidates::add(const std::string& name, const SearchCase& given,
                     const std::function<SearchResult()>& search, Time before) {
  const auto start = std::chrono::steady_clock::now();
  Candidate candidate;
  candidate.name = name;
  candidate.search = search();
  candidate.search_time = before + (std::chrono::steady_clock::now() - start);
  if (!std::isfinite(candidate.search.bottleneck)) {
    const auto refusals = first_refusals({network_, board_, given.problem, options_.build});
    left_out_.push_back(name + ": " + (refusals.empty() ? "not possible" : refusals.front()));
    if (refusals.size() > 1)
      left_out_.back() += fmt::format("; {} processors refuse layers", refusals.size());
    return;
  }
  if (const Verdict verdict = without_fallback(candidate.search.mapping, given); !verdict) {
    left_out_.push_back(name + ": " + verdict.reason());
    return;
  }
  if (!given.batches.empty())
    candidate.batch = *std::max_element(given.batches.begin(), given.batches.end());
  build_plan(candidate, given);
  if (const Verdict verdict = within_limits(candidate.plan, board_); !verdict) {
    left_out_.push_back(name + ": " + verdict.reason());
    return;
  }
  if (const Verdict verdict = within_memories(candidate.plan, network_, board_); !verdict) {
    left_out_.push_back(name + ": " + verdict.reason());
    return;
  }
  if (const Verdict verdict = within_memory(candidate.plan, network_, options_.build.most_memory);
      !verdict) {
    left_out_.push_back(name + ": " + verdict.reason());
    return;
  }
  if (const Verdict verdict = within_energy(candidate); !verdict) {
    left_out_.push_back(name + ": " + verdict.reason());
    return;
  }
  auto variants = variants_for(given.problem, candidate.search.mapping, options_.calibration);
  variants.one_frame = variants_of(given.one_frame_variants, candidate.search.mapping);
  if (variants.one_frame.empty() && !given.one_frame_variants.empty())
    variants.one_frame.resize(given.problem.layers);
  if (variants.one_frame == variants.variants) variants.one_frame.clear();
  candidate.plan = plan::with_variants(candidate.plan, std::move(variants));
  list_.push_back(std::move(candidate));
}

Verdict Candidates::without_fallback(const plan::Mapping& mapping, const SearchCase& given) const {
  if (options_.fallback) return Verdict::yes();
  const std::vector<Fallback> found = fallbacks(given.problem, mapping);
  return found.empty()
             ? Verdict::yes()
             : Verdict::no(text_of(found, {network_, board_, given.problem, options_.build}));
}

void Candidates::build_plan(Candidate& candidate, const SearchCase& given) const {
  plan::BuildOptions options = options_.build;
  options.batches = given.batches;
  options.replicas = given.replicas;
  options.streams = given.layer_streams;
  if (options.streams.empty() && !given.streams.empty())
    for (const ProcessorId processor : candidate.search.mapping.processors)
      options.streams.push_back(given.streams[processor.index]);
  options.times = &candidate.built;
  candidate.plan = plan::build(network_, board_, candidate.search.mapping, options);
  candidate.evidence = predicted(candidate.plan, candidate.search.mapping, given);
  if (options_.size_slots)
    size_slots(candidate, network_, options_.slack, options_.build.most_memory);
  const auto times = plan::predicted_times(candidate.plan, candidate.evidence);
  add_slots_for_unlike(candidate, network_, times);
  candidate.bound =
      analysis::period_bound(candidate.plan, network_, times).value_or(slowest_stage(candidate));
  if (asks_for_energy(options_)) candidate.largest = energy_of(candidate);
  if (!options_.max_latency) return;
  candidate.latency =
      analysis::latency_bound(candidate.plan, network_, times, candidate.bound).value_or(Time{});
}

board::DeviceEnergy Candidates::energy_of(const Candidate& candidate) const {
  const auto times = plan::busy_times(candidate.plan, candidate.evidence);
  std::vector<board::BusyProcessor> busy;
  for (const board::Processor& processor : board_.processors)
    if (const auto time = times.find(processor.name); time != times.end())
      busy.push_back({processor, seconds(time->second)});
  auto energies = board::energy_per_frame(board_, busy, seconds(candidate.bound));
  std::ranges::move(analysis::link_energy(candidate.plan, network_, options_.links),
                    std::back_inserter(energies));
  return board::largest_energy(energies);
}

Verdict Candidates::within_energy(const Candidate& candidate) const {
  const double found = candidate.largest.together_mj();
  if (!options_.max_board_energy || found <= *options_.max_board_energy) return Verdict::yes();
  return Verdict::no(fmt::format(
      "{} would draw {} mJ for a frame, more than ⟨max_board_energy⟩ {}; allow more",
      candidate.largest.device, four_digits(found), four_digits(*options_.max_board_energy)));
}

std::vector<Candidate*> Candidates::promising() {
  constexpr double near = 1.25;
  std::vector<Candidate*> order;
  for (Candidate& candidate : list_)
    if (is_in_time(candidate) && !is_needless(candidate)) order.push_back(&candidate);
  std::stable_sort(order.begin(), order.end(),
                   [](const Candidate* a, const Candidate* b) { return a->bound < b->bound; });
  const double farthest = order.empty() ? 0 : near * seconds(order.front()->bound);
  std::erase_if(order, [&](const Candidate* candidate) {  // copies are faster than their bound
    return seconds(candidate->bound) > farthest && !plan::is_first_free(candidate->plan);
  });
  return order;
}

void Candidates::measure(const std::vector<Candidate*>& chosen) {
  constexpr std::size_t most = 6;
  std::vector<plan::Assessed> plans;
  std::vector<std::pair<Candidate*, std::size_t>> measured;
  for (Candidate* candidate : chosen) {
    const auto alike = std::find_if(plans.begin(), plans.end(), [&](const plan::Assessed& each) {
      return each.plan.stages == candidate->plan.stages &&
             each.plan.variants == candidate->plan.variants;
    });
    if (alike == plans.end() && plans.size() >= most && !plan::is_first_free(candidate->plan))
      continue;
    measured.emplace_back(candidate, alike - plans.begin());
    if (alike == plans.end()) plans.push_back({candidate->plan, candidate->evidence});
  }
  if (plans.empty()) return;
  const std::vector<plan::Measured> results = results_of(plans);
  for (const auto& [candidate, number] : measured) {
    candidate->doubt = results.at(number).doubt;
    candidate->evidence.period = results[number].period;
    for (std::size_t a = 0; a < candidate->evidence.replicas.size(); ++a)
      candidate->evidence.replicas[a].measured = results[number].stages[a];
  }
}

std::vector<plan::Measured> Candidates::results_of(std::span<const plan::Assessed> plans) const {
  if (!is_large_for(network_, board_)) return options_.measure(plans);
  std::vector<plan::Measured> results;
  for (std::size_t i = 0; i < plans.size(); ++i)
    results.push_back(options_.measure(plans.subspan(i, 1)).front());
  return results;
}

void Candidates::measure() {
  measure(promising());
  // A pipeline whose stages wait for each other may be slower than one processor is predicted to
  // be: then both are measured.
  Candidate& fastest = list_[best()];
  for (Candidate& candidate : list_) {
    const bool is_alone = plan::actors_in(candidate.plan) == 1 && is_in_time(candidate);
    if (!is_alone || candidate.evidence.period != Time{}) continue;
    if (candidate.bound < fastest.evidence.period) return measure({&fastest, &candidate});
  }
}

bool Candidates::is_needless(const Candidate& candidate) const {
  // Copies do not wait for their turn: beside a slow one, the others are faster than the bound
  // says.
  const auto times = plan::predicted_times(candidate.plan, candidate.evidence);
  const Time fastest = plan::is_first_free(candidate.plan) && !times.empty()
                           ? *analysis::shortest_period(candidate.plan, network_, times)
                           : candidate.bound;
  return std::any_of(list_.begin(), list_.end(), [&](const Candidate& other) {
    return is_in_time(other) && plan::phases_in(other.plan) < plan::phases_in(candidate.plan) &&
           seconds(other.bound) < (1 + noise) * seconds(fastest);
  });
}

bool Candidates::is_in_time(const Candidate& candidate) const {
  return !options_.max_latency || candidate.latency <= *options_.max_latency;
}

std::size_t Candidates::best() const {
  if (options_.genetic.aim.fitness == Fitness::board_energy) return least_energy();
  std::size_t fastest = 0;
  for (std::size_t i = 1; i < list_.size(); ++i)
    if (is_faster(list_[i], list_[fastest])) fastest = i;
  const auto effort = [](const Candidate& c) {
    // What waits for others suffers from all that disturbs one of them; a prediction knows of none.
    const std::size_t waits = c.evidence.period == Time{} ? 0 : c.plan.channels.size();
    return std::tuple(plan::phases_in(c.plan), waits, c.latency, period_of(c));
  };
  std::size_t best = fastest;
  for (std::size_t i = 0; i < list_.size(); ++i)
    if (is_as_fast(list_[i], list_[fastest]) && effort(list_[i]) < effort(list_[best])) best = i;
  return best;
}

std::size_t Candidates::least_energy() const {
  const auto effort = [this](const Candidate& c) {
    return std::tuple(!is_in_time(c), c.largest.together_mj(), c.bound);
  };
  return static_cast<std::size_t>(std::ranges::min_element(list_, {}, effort) - list_.begin());
}

bool Candidates::is_faster(const Candidate& a, const Candidate& b) const {
  if (is_in_time(a) != is_in_time(b)) return is_in_time(a);
  if (!is_in_time(a)) return a.latency < b.latency;
  const bool is_measured = a.evidence.period != Time{};
  if (is_measured != (b.evidence.period != Time{})) return is_measured;
  return period_of(a) < period_of(b);
}

/// As far as can be told.
bool Candidates::is_as_fast(const Candidate& candidate, const Candidate& fastest) const {
  if (!is_in_time(candidate)) return false;
  if ((candidate.evidence.period != Time{}) != (fastest.evidence.period != Time{})) return false;
  const bool has_fewer = plan::actors_in(candidate.plan) < plan::actors_in(fastest.plan);
  const double doubt =
      std::clamp(candidate.doubt, noise, has_fewer ? most_noise : most_noise_of_as_many);
  return period_of(candidate) <= (1 + doubt) * period_of(fastest);
}

}  // namespace millrace::explore
