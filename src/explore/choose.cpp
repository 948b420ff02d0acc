#include "explore/choose.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "base/error.h"
#include "explore/candidates.h"
#include "explore/configuration/methods.h"
#include "explore/followers.h"
#include "explore/limits.h"
#include "explore/mapping/batching.h"
#include "explore/mapping/board_energy.h"
#include "explore/mapping/memory.h"
#include "explore/mapping/replicas.h"
#include "plan/steps.h"

namespace millrace::explore {
namespace {

SearchResult one_processor(const Problem& problem) {
  SearchResult best;
  for (std::size_t p = 0; p < problem.processors; ++p) {
    SearchResult result;
    result.mapping.processors.assign(problem.layers, ProcessorId(p));
    const std::vector<double> times = processor_times(problem, result.mapping);
    result.bottleneck = *std::max_element(times.begin(), times.end());
    result.fitness = result.bottleneck;
    if (best.mapping.processors.empty() || result.bottleneck < best.bottleneck) best = result;
  }
  best.is_one_processor = true;
  return best;
}

/// Where every faster mapping needs more memory than there is.
void add_by_memory(Candidates& candidates, const SearchCase& given, const network::Network& network,
                   const board::Board& board) {
  const auto mapping = mapping_by_memory(given.problem, network, board);
  if (!mapping) return;
  candidates.add("by memory", given, [&] {
    SearchResult result;
    result.mapping = *mapping;
    const std::vector<double> times = processor_times(given.problem, result.mapping);
    result.bottleneck = *std::ranges::max_element(times);
    result.fitness = result.bottleneck;
    return result;
  });
}

/// Layers of a network may gather different numbers of frames, more and more towards its end.
std::string batches_text(const Batches& batches) {
  const std::set<std::int64_t> sizes(batches.begin(), batches.end());
  if (sizes.empty() || *sizes.rbegin() == 1) return "";
  const std::int64_t least = *sizes.upper_bound(1), most = *sizes.rbegin();
  return fmt::format(", batch {}",
                     least == most ? std::to_string(most) : fmt::format("{} and {}", least, most));
}

std::string options_text(const SearchCase& given) {
  const auto most = std::ranges::max_element(given.streams);
  return batches_text(given.batches) +
         (most == given.streams.end() ? "" : fmt::format(", {} streams", *most));
}

/// The genetic search's result serves the other cases as a start.
void add_searches(Candidates& candidates, const SearchCase& given, const ChooseOptions& options,
                  SearchResult& found) {
  const Problem problem =
      given.streams.empty() ? given.problem : paced(given.problem, given.streams);
  const std::string with = options_text(given);
  candidates.add("one processor" + with, given, [&] { return one_processor(problem); });
  if (options.search != "genetic")
    candidates.add("exact contiguous" + with, given, [&] { return exact_contiguous(problem); });
  if (options.search == "exact") return;
  if (with.empty())
    candidates.add("genetic", given, [&] { return found = genetic(problem, options.genetic); });
  Aim quicker = options.genetic.aim;
  if (quicker.fitness == Fitness::board_energy) quicker.fitness = Fitness::period;
  candidates.add("genetic, improved" + with, given,
                 [&] { return improve(problem, found, quicker); });
  if (!with.empty() || !options.max_board_energy) return;
  GeneticOptions least = options.genetic;
  least.aim.fitness = Fitness::board_energy;
  candidates.add("genetic, least energy", given, [&] { return genetic(problem, least); });
}

/// Groups of `size` processors whose members take turns. Contiguous parts suit them best, since
/// what has replicas must be in one piece.
void add_replicas(Candidates& candidates, SearchCase given, std::size_t size,
                  double& lowest_bound) {
  const Problem groups = in_groups(given.problem, size);
  lowest_bound = std::min(lowest_bound, lower_bound(groups));
  given.replicas = turns_in_groups(given.problem.processors, size);
  candidates.add(fmt::format("{} replicas{}", size, batches_text(given.batches)), given, [&] {
    SearchResult result = exact_contiguous(groups);
    result.mapping = to_first_of_groups(std::move(result.mapping), size);
    return result;
  });
}

/// All processors in one group, and as many smaller ones as there are; with batches the first only.
/// None has more replicas than a plan may.
void add_replicas(Candidates& candidates, const SearchCase& given, double& lowest_bound) {
  const std::size_t all = given.problem.processors;
  const std::size_t most = std::min<std::size_t>(all, plan::most_replicas);
  for (std::size_t size = 2; size <= most; ++size)
    if (size == all || (all % size == 0 && given.batches.empty()))
      add_replicas(candidates, given, size, lowest_bound);
}

std::vector<SearchCase> cases_with_batches(const network::Network& network,
                                           const board::Board& board,
                                           const profile::Profile& profile, std::int64_t most) {
  const Batching batching(network, board, profile);
  std::vector<SearchCase> cases;
  for (const Batches& batches : batching.ways(most))
    cases.push_back({batching.problem(batches), batches, batching.alone().variants});
  return cases;
}

/// With as many streams as are asked for and allowed; nothing if they hide nothing anywhere.
std::optional<SearchCase> case_with_streams(const SearchCase& given, const board::Board& board,
                                            std::int64_t most) {
  SearchCase result = given;
  bool hides = false;
  for (std::size_t p = 0; p < given.problem.processors; ++p) {
    const Problem::Borders borders = given.problem.borders_of(p);
    const bool gains = borders.kernel_ns + borders.launch_ns + borders.border_ns > 0;
    const std::int64_t allowed = most_streams(board, board.processors[p]);
    result.streams.push_back(gains ? std::min(most, allowed) : 1);
    hides = hides || result.streams.back() > 1;
  }
  return hides ? std::optional(std::move(result)) : std::nullopt;
}

/// Candidates that are left out for one reason together: "genetic, exact contiguous: REASON".
std::vector<std::string> by_reason(const std::vector<std::string>& left_out) {
  std::vector<std::pair<std::string, std::string>> found;  // reason, names
  for (const std::string& text : left_out) {
    const std::size_t colon = std::min(text.find(": "), text.size());
    const std::string name = text.substr(0, colon), reason = text.substr(colon);
    const auto same = std::ranges::find(found, reason, &decltype(found)::value_type::first);
    if (same == found.end())
      found.emplace_back(reason, name);
    else
      same->second += ", " + name;
  }
  std::vector<std::string> result;
  for (const auto& [reason, names] : found) result.push_back(names + reason);
  return result;
}

/// Measures the candidates, if that is asked for, and takes the best.
void decide(Choice& choice, Candidates& candidates, const board::Board& board,
            const ChooseOptions& options) {
  choice.left_out = candidates.left_out();
  if (candidates.list().empty())
    throw InputError(board.name, fmt::format("no plan was found that the board can run ({}); try "
                                             "⟨search⟩ auto, or more processors",
                                             fmt::join(by_reason(choice.left_out), "; ")));
  if (options.measure) candidates.measure();
  choice.best = candidates.best();
  choice.candidates = candidates.list();
  choice.in_time = candidates.is_in_time(choice.winner());
}

}  // namespace

bool asks_for_energy(const ChooseOptions& options) {
  return options.max_board_energy || options.genetic.aim.fitness == Fitness::board_energy;
}

Choice choose(const network::Network& network, const board::Board& board,
              const profile::Profile& profile, const ChooseOptions& asked) {
  ChooseOptions options = asked;
  if (options.build.engine.empty() && !profile.processors.empty())
    options.build.engine = profile.processors.front().engine;
  options.genetic.aim.build = options.build;
  if (options.search != "auto" && options.search != "genetic" && options.search != "exact")
    throw InputError("⟨search⟩ " + options.search, "expected auto, genetic or exact");
  if (options.search == "exact") options.genetic.ranks = nullptr;
  lead(options.genetic.ranks, {network, board, profile}, options.build);
  Candidates candidates(network, board, options);
  SearchResult found;
  Choice choice;
  choice.lower_bound = std::numeric_limits<double>::infinity();
  std::vector<SearchCase> cases{{make_problem(network, board, profile)}};
  if (asks_for_energy(options)) cases.front().problem.energy = energy_of(board, options.links);
  check_same(options.genetic.ranks, "its board or its times are", hash_of(cases.front().problem));
  if (options.max_latency) {
    auto more = cases_with_batches(network, board, profile, options.max_batch);
    std::move(more.begin(), more.end(), std::back_inserter(cases));
  }
  if (auto more = case_with_streams(cases.front(), board, options.most_streams))
    cases.push_back(std::move(*more));
  for (const SearchCase& given : cases) {
    add_searches(candidates, given, options, found);
    const bool has_streams = !given.streams.empty();
    choice.lower_bound =
        std::min(choice.lower_bound,
                 lower_bound(has_streams ? paced(given.problem, given.streams) : given.problem));
    if (options.search == "auto" && !has_streams)
      add_replicas(candidates, given, choice.lower_bound);
  }
  if (candidates.list().empty()) add_by_memory(candidates, cases.front(), network, board);
  decide(choice, candidates, board, options);
  return choice;
}

Choice choose_found(const SearchContext& context, const Found& found,
                    const ChooseOptions& options) {
  ChooseOptions with_slots = options;
  with_slots.build.capacity = found.configuration.slots;
  with_slots.size_slots = false;  // the search did
  Candidates candidates(context.network, context.board, with_slots);
  const SearchCase alone{.problem = context.problem};
  candidates.add("one processor", alone, [&] { return one_processor(context.problem); });
  const auto search = [&] {
    SearchResult result;
    result.mapping = mapping_of(context, found.configuration);
    result.method = found.method;
    result.fitness = result.bottleneck = Predictor(context).bottleneck(found.configuration);
    return result;
  };
  candidates.add(found.method, search_case_of(context, found.configuration), search, found.took);
  Choice choice;
  choice.lower_bound = lower_bound(context.problem);
  decide(choice, candidates, context.board, with_slots);
  for (std::size_t i = 0; found.is_wanted && i < choice.candidates.size(); ++i)
    if (choice.candidates[i].name == found.method) choice.best = i;
  choice.in_time = candidates.is_in_time(choice.winner());
  return choice;
}

}  // namespace millrace::explore
