#include "explore/configuration/search.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <sstream>
#include <tuple>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "base/quantity.h"
#include "explore/configuration/journal.h"
#include "explore/configuration/processing.h"
#include "explore/fallback.h"
#include "explore/followers.h"

namespace millrace::explore {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t usual_candidates = 400;

bool is_measured(const SearchOptions& options) { return options.objective == "measured"; }

/// The thesis calls it Base(G) and Base(D).
bool is_baseline(const SearchOptions& options) { return options.method == "one-processor"; }

Processing processing_of(const SearchPlace& place, const SearchOptions& options) {
  const plan::ProcessingTimes& times = place.processing;
  return {times.pre, times.post, cores_of(place.board), times.reading, is_baseline(options)};
}

void add_processing_facts(Facts& facts, const plan::ProcessingTimes& times) {
  if (times.pre + times.post <= Time{}) return;
  const auto add = [&](const char* name, std::int64_t value) {
    if (value > 0) facts.emplace_back(name, std::to_string(value));
  };
  add("pre_ns", times.pre.count());
  add("post_ns", times.post.count());
  add("reading_ns", times.reading.count());
  add("processing_frames", times.frames);
}

Facts facts_of(const SearchPlace& place, const SearchOptions& options, const Problem& problem) {
  const auto or_usual = [](const auto& value, const char* usual) {
    return value ? fmt::format("{}", *value) : std::string(usual);
  };
  Facts facts{{"method", options.method},
              {"objective", options.objective.value_or("simulated")},
              {"network", network::hash_of(place.network)},
              {"board", board::hash_of(place.board)},
              {"times", hash_of(problem)},
              {"precision", options.precision},
              {"seed", std::to_string(options.seed)},
              {"threshold", or_usual(options.threshold, "lowered")},
              {"top", or_usual(options.top, "10")},
              {"allowed_loss", or_usual(options.allowed_loss, "0.01")},
              {"fallback", options.fallback ? "yes" : "no"}};
  add_processing_facts(facts, place.processing);
  if (options.streams > 1) facts.emplace_back("streams", std::to_string(options.streams));
  if (options.option) facts.emplace_back("option", Hasher().add(*options.option).digits());
  if (options.start) facts.emplace_back("start", Hasher().add(*options.start).digits());
  return facts;
}

std::string fact_text(const Facts& facts) {
  std::string text;
  for (const auto& [name, value] : facts) text += name + "=" + value + " ";
  return text;
}

/// The first rank's.
std::optional<Journal> journal_of(Ranks* ranks, const SearchOptions& options, const Facts& facts,
                                  const SearchContext& search_context) {
  if (is_follower(ranks)) return std::nullopt;
  if (options.resume) return Journal::resume(*options.resume, facts, search_context);
  if (options.log) return Journal(*options.log, facts, search_context);
  return std::nullopt;
}

/// On all ranks, what the first one's journal holds.
std::map<Configuration, Score> known_in(const std::optional<Journal>& journal, Ranks* ranks,
                                        const SearchOptions& options,
                                        const SearchContext& search_context) {
  if (!options.resume) return {};
  const std::string text = of_first(ranks, [&] { return read_file(*options.resume); });
  return journal ? journal->known() : Journal::known_in(text, *options.resume, search_context);
}

Objective objective_of(const SearchPlace& place, const SearchOptions& options,
                       const SearchContext& search_context) {
  const Processing processing = processing_of(place, options);
  if (!is_measured(options))
    return with_processing(place.objectives.simulated(search_context, options.jobs.value_or(1)),
                           place.board, processing);
  if (!place.objectives.measured)
    throw InputError("⟨objective⟩ measured",
                     "a board that is not this machine cannot be measured; use ⟨objective⟩ "
                     "simulated");
  if (options.jobs.value_or(1) > 1)
    throw InputError("⟨jobs⟩",
                     "candidates that are measured at the same time disturb each other; use "
                     "⟨jobs⟩ only with ⟨objective⟩ simulated");
  return with_processing(place.objectives.measured(search_context), place.board, processing);
}

/// "20,53": the last layers of stages.
std::vector<std::size_t> cuts_in(const std::string& text, std::size_t layers) {
  std::vector<std::size_t> cuts;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    const bool is_number = !word.empty() && word.size() < 10 &&
                           std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
    if (!is_number || std::stoul(word) + 1 >= layers ||
        (!cuts.empty() && std::stoul(word) <= cuts.back()))
      throw InputError("⟨start⟩ " + text,
                       fmt::format("expected random, ascending last layers of stages from 0 to {}, "
                                   "such as 20,53, or the journal of a search",
                                   layers < 2 ? 0 : layers - 2));
    cuts.push_back(std::stoul(word));
  }
  return cuts;
}

/// The best tuple of each option that the journal knows.
StartTuples tuples_in(const std::string& path, const SearchContext& context) {
  std::vector<std::pair<Configuration, double>> best;
  for (const auto& [configuration, score] : Journal::read(path, context)) {
    const auto here = std::ranges::find_if(best, [&, stages = &configuration.stages](auto& each) {
      return each.first.stages == *stages;
    });
    if (here == best.end())
      best.emplace_back(configuration, score.throughput);
    else if (score.throughput > here->second)
      *here = {configuration, score.throughput};
  }
  StartTuples tuples;
  for (const auto& [configuration, throughput] : best)
    tuples.emplace_back(configuration.stages, configuration.cuts);
  return tuples;
}

/// InputError if the board has no such option.
std::string name_of_option(const std::string& name, const SearchContext& search_context) {
  std::vector<std::string> names;
  for (const MappingOption& each : mapping_options(search_context.board))
    names.push_back(each.name);
  if (std::ranges::find(names, name) != names.end()) return name;
  throw InputError("⟨option⟩ " + name,
                   fmt::format("these processors have the mapping options {}; give one of them, or "
                               "leave it out",
                               fmt::join(names, ", ")));
}

MethodOptions method_options(const SearchPlace& place, const SearchOptions& options,
                             const SearchContext& search_context) {
  MethodOptions result;
  const Processing processing = processing_of(place, options);
  result.limits.streams = options.streams;
  if (processing.pre > Time{}) result.limits.pre_threads = processing.cores;
  if (processing.post > Time{}) result.limits.post_threads = processing.cores;
  result.random_start = options.start == "random";
  if (options.start && !result.random_start) {
    std::error_code ignored;
    result.starts = std::filesystem::is_regular_file(*options.start, ignored)
                        ? tuples_in(*options.start, search_context)
                        : StartTuples{{{}, cuts_in(*options.start, search_context.problem.layers)}};
  }
  if (options.option) result.option = name_of_option(*options.option, search_context);
  if (options.method == "fine-tuner" && result.starts.empty())
    throw InputError("⟨search⟩ fine-tuner",
                     "it needs cuts that stay: give ⟨start⟩ with last layers of stages, such as "
                     "20,53, or with the journal of another search");
  result.seed = options.seed;
  result.threshold = options.threshold;
  if (options.top) result.top = *options.top;
  if (options.allowed_loss) result.allowed_loss = *options.allowed_loss;
  return result;
}

/// "" or, where that was asked for, what stood in the way.
std::string without_fallback(const SearchContext& search_context) {
  if (search_context.fallback) return "";
  return fmt::format(" without fallback ({})", fmt::join(first_refusals(search_context), "; "));
}

void note_processing(const SearchPlace& place, const Processing& processing, const Score& score) {
  if (processing.each() <= Time{}) return;
  if (processing.in_sequence)
    return place.context.note(fmt::format(
        "pre-processing, network and post-processing of a frame run one after the other: {} "
        "frames/s",
        four_digits(score.throughput)));
  place.context.note(fmt::format(
      "pre- and post-processing take {} of a core for each frame, so {} core{} "
      "allow{} {} frames/s",
      millrace::to_text(processing.each()), processing.cores, processing.cores == 1 ? "" : "s",
      processing.cores == 1 ? "s" : "", four_digits(most_with(processing, place.board, score))));
}

/// How much was looked at; where a device takes whole subnets, what its SDK would have to build.
void note_candidates(const SearchPlace& place, const SearchOptions& options,
                     const CandidateCache& cache) {
  const bool by_subnet = std::ranges::any_of(place.board.devices, [](const board::Device& device) {
    return device.limits.granularity == board::Granularity::subnet;
  });
  std::vector<std::string> engines;
  if (by_subnet)
    for (const auto& [device, count] : subnets_of(cache))
      engines.push_back(fmt::format("{} for {}", count, device));
  place.context.note(
      fmt::format("{}: {} candidates of {:.0f} tuples of cuts{}{}", options.method, cache.count(),
                  tuples_of(cache.context()),
                  engines.empty() ? "" : "; to measure them, engines: ", fmt::join(engines, ", ")));
}

/// What a plan does not say of itself.
void note_parameters(const SearchPlace& place, const Configuration& found, const Score& score) {
  std::string text = fmt::format("fine-tuned: {} slots", found.slots);
  if (!found.streams.empty()) text += fmt::format(", streams {}", fmt::join(found.streams, ","));
  if (found.pre_threads > 0) text += fmt::format(", {} pre-processing threads", found.pre_threads);
  if (found.post_threads > 0)
    text += fmt::format(", {} post-processing threads", found.post_threads);
  place.context.note(fmt::format("{}: {} frames/s", text, four_digits(score.throughput)));
}

/// What the chosen plan passes beside pre- and post-processing; nothing if there is none.
std::optional<double> application_fps(const SearchPlace& place, const Choice& choice,
                                      const Processing& processing, const Score& found) {
  const Candidate& winner = choice.winner();
  if (processing.each() <= Time{} || winner.plan.stages.empty()) return std::nullopt;
  if (!winner.search.is_one_processor) return found.throughput;
  Score alone{1 / seconds(winner.bound), {}};
  for (const board::Processor& processor : place.board.processors)
    alone.utilisation.push_back(
        processor.name == winner.plan.stages.front().processors.front().name ? 1 : 0);
  return std::min(alone.throughput, most_with(processing, place.board, alone));
}

/// What one processor passes if nothing overlaps; nothing if there is no pre- or post-processing.
std::optional<double> baseline_fps(const Choice& choice, const Processing& processing) {
  const auto alone = std::ranges::find_if(
      choice.candidates, [](const Candidate& each) { return each.search.is_one_processor; });
  if (processing.each() <= Time{} || alone == choice.candidates.end()) return std::nullopt;
  return 1 / seconds(processing.each() + alone->bound);
}

}  // namespace

std::vector<std::string> search_names() {
  std::vector<std::string> names{"auto", "genetic", "exact"};
  for (const NamedMethod& method : methods()) names.emplace_back(method.name);
  return names;
}

namespace {

/// Not all searches over configurations refine cuts, or tune the other numbers.
void refuse_options_of_cut_points(const SearchOptions& options) {
  static const std::vector<std::string> searching{"cut-points", "tuning-genetic"};
  static const std::vector<std::string> tuning{"cut-points", "tuning-genetic", "fine-tuner"};
  const std::array<std::tuple<bool, const char*, const std::vector<std::string>*>, 5> given{
      {{options.threshold.has_value(), "⟨threshold⟩", &searching},
       {options.top.has_value(), "⟨top⟩", &searching},
       {options.allowed_loss.has_value(), "⟨allowed_loss⟩", &tuning},
       {options.option.has_value(), "⟨option⟩", &tuning},
       {options.start.has_value(), "⟨start⟩", &tuning}}};
  for (const auto& [is_given, name, users] : given)
    if (is_given && std::ranges::find(*users, options.method) == users->end())
      throw InputError(name,
                       fmt::format("⟨search⟩ {} does not use it; give ⟨search⟩ cut-points, or "
                                   "leave it out",
                                   options.method));
}

}  // namespace

bool is_configuration_search(const SearchOptions& options) {
  if (method_named(options.method) != nullptr) {
    refuse_options_of_cut_points(options);
    return true;
  }
  const bool given[] = {options.objective.has_value(),    options.time_limit.has_value(),
                        options.candidates.has_value(),   options.jobs.has_value(),
                        options.log.has_value(),          options.resume.has_value(),
                        options.threshold.has_value(),    options.top.has_value(),
                        options.allowed_loss.has_value(), options.pre_time.has_value(),
                        options.post_time.has_value(),    options.start.has_value(),
                        options.option.has_value()};
  const char* names[] = {"⟨objective⟩",    "⟨search_time⟩", "⟨candidates⟩", "⟨jobs⟩",
                         "⟨log⟩",          "⟨resume⟩",      "⟨threshold⟩",  "⟨top⟩",
                         "⟨allowed_loss⟩", "⟨pre_time⟩",    "⟨post_time⟩",  "⟨start⟩",
                         "⟨option⟩"};
  for (std::size_t i = 0; i < std::size(given); ++i)
    if (given[i])
      throw InputError(names[i],
                       fmt::format("⟨search⟩ {} does not use it; give ⟨search⟩ cut-points "
                                   "or another search over configurations, or leave it out",
                                   options.method));
  return false;
}

Choice search_configurations(const SearchPlace& place, const SearchOptions& options,
                             const ChooseOptions& choose) {
  const Problem problem = make_problem(place.network, place.board, place.profile);
  const SearchContext search_context{place.network, place.board, problem, choose.build,
                                     options.fallback};
  CandidateCacheOptions budget;
  budget.one_by_one = is_measured(options);
  budget.ranks = is_measured(options) ? nullptr : place.context.ranks;
  lead(budget.ranks, place, choose.build);
  const Facts facts = facts_of(place, options, problem);
  check_same(budget.ranks, "its board, its times or a file is", fact_text(facts));
  std::optional<Journal> journal = journal_of(budget.ranks, options, facts, search_context);
  budget.candidates = options.candidates.value_or(usual_candidates);
  budget.known = known_in(journal, budget.ranks, options, search_context);
  const InterruptGuard interrupt(place.context.interrupt);
  const auto start = Clock::now();
  const Time limit =
      options.time_limit ? read_duration(*options.time_limit, "⟨search_time⟩") : Time::max();
  budget.stop = [&] {
    interrupt.check();
    if (!options.time_limit) return false;
    return !of_first(budget.ranks, [&] {
              return std::string(Clock::now() - start > limit ? "late" : "");
            }).empty();
  };
  const auto work = place.context.begin("searching");
  std::int64_t count = 0;
  double best = 0;
  budget.note = [&](const Configuration& candidate, const Score& score, bool again) {
    if (journal && !again) journal->add(candidate, score);
    best = std::max(best, score.throughput);
    work->show(static_cast<double>(++count) / static_cast<double>(budget.candidates),
               fmt::format("{} candidates, best {} frames/s", count, four_digits(best)));
  };
  CandidateCache cache(search_context, objective_of(place, options, search_context), budget);
  const auto found =
      method_named(options.method)->run(cache, method_options(place, options, search_context));
  if (!found)
    throw InputError(place.board.name,
                     fmt::format("⟨search⟩ {} found no plan that the board can run{}; try another "
                                 "search, or more processors",
                                 options.method, without_fallback(search_context)));
  note_candidates(place, options, cache);
  const Processing processing = processing_of(place, options);
  note_processing(place, processing, cache[*found]);
  note_parameters(place, *found, cache[*found]);
  Choice choice = choose_found(
      search_context,
      {options.method, *found, cache.count(), Clock::now() - start, options.option.has_value()},
      choose);
  choice.application_fps = application_fps(place, choice, processing, cache[*found]);
  choice.baseline_fps = baseline_fps(choice, processing);
  choice.pre_threads = found->pre_threads;
  choice.post_threads = found->post_threads;
  return choice;
}

}  // namespace millrace::explore
