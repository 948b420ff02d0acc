#include "explore/system/pareto.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "explore/evolution/lexicase.h"
#include "explore/evolution/nsga2.h"

namespace millrace::explore {
namespace {

std::size_t cuts_of(const MappingOption& option) { return option.stages.size() - 1; }

/// Which of two candidates with equal objectives is kept: the simpler one.
bool comes_first(const GroupPlan& a, const GroupPlan& b) {
  const auto key = [](const GroupPlan& plan) {
    return std::pair(plan.configuration.stages.size(), plan.configuration);
  };
  return key(a) < key(b);
}

/// What was asked so far; each candidate once.
class Asked {
 public:
  Asked(const GroupSpace& space, const GroupObjective& objective, Ranks* ranks)
      : space_(space), objective_(objective), ranks_(ranks) {}

  /// A gene for the option, and one for each cut of the longest one.
  Genome sizes() const {
    std::size_t most = 0;
    for (const MappingOption& option : space_.options) most = std::max(most, cuts_of(option));
    Genome sizes(1 + most, static_cast<std::uint32_t>(space_.cuts.size()));
    sizes.front() = static_cast<std::uint32_t>(space_.options.size());
    return sizes;
  }

  /// Equal cuts move on. Nothing if there are too few positions.
  std::optional<Configuration> decoded(const Genome& genome) const {
    Configuration result;
    const MappingOption& option = space_.options[genome[0]];
    result.stages = option.stages;
    if (cuts_of(option) > space_.cuts.size()) return std::nullopt;
    std::set<std::size_t> cuts;
    for (std::size_t cut = 0; cut < cuts_of(option); ++cut) {
      std::size_t at = genome[1 + cut];
      while (!cuts.insert(space_.cuts[at]).second) at = (at + 1) % space_.cuts.size();
    }
    result.cuts.assign(cuts.begin(), cuts.end());
    return result;
  }

  /// Those that are new are shared by the ranks.
  void ask(const std::vector<Configuration>& configurations) { ask(configurations, ranks_); }
  void ask(const std::vector<Configuration>& configurations, Ranks* ranks) {
    std::vector<Configuration> wanted;
    for (const Configuration& configuration : configurations)
      if (known_.try_emplace(configuration).second) wanted.push_back(configuration);
    const std::vector<Numbers> found = shared_out(ranks, wanted.size(), [&](std::size_t w) {
      std::optional<GroupPlan>& plan = plans_[wanted[w]] = objective_(wanted[w]);
      return plan ? objectives_of(*plan) : Numbers{};
    });
    for (std::size_t w = 0; w < wanted.size(); ++w) known_[wanted[w]] = found[w];
  }

  /// Nothing where one cannot run.
  std::vector<std::vector<double>> ask(std::span<const Genome> genomes, Ranks* ranks) {
    std::vector<Configuration> wanted;
    for (const Genome& genome : genomes)
      if (auto configuration = decoded(genome)) wanted.push_back(std::move(*configuration));
    ask(wanted, ranks);
    std::vector<std::vector<double>> result;
    for (const Genome& genome : genomes) {
      const auto configuration = decoded(genome);
      result.push_back(configuration ? known_.at(*configuration) : Numbers{});
    }
    return result;
  }

  GroupFront front() {
    GroupFront result{{}, known_.size()};
    for (const Configuration& configuration : best()) {
      const auto [plan, is_new] = plans_.try_emplace(configuration);
      if (is_new) plan->second = objective_(configuration);  // another rank asked
      result.plans.push_back(*plan->second);
    }
    result.plans = non_dominated(std::move(result.plans));
    return result;
  }

  /// Each option with its cuts spread evenly: where a search begins.
  std::vector<Genome> starts() const {
    std::vector<Genome> result;
    for (std::uint32_t option = 0; option < space_.options.size(); ++option) {
      Genome genome(sizes().size(), 0);
      genome[0] = option;
      const std::size_t count = cuts_of(space_.options[option]);
      for (std::size_t cut = 0; cut < count; ++cut)
        genome[1 + cut] = static_cast<std::uint32_t>(space_.cuts.size() * (cut + 1) / (count + 1));
      if (!space_.cuts.empty() || count == 0) result.push_back(genome);
    }
    return result;
  }

  std::size_t count() const { return known_.size(); }
  Ranks* ranks() const { return ranks_; }

 private:
  /// None dominates another, but some may be equal.
  std::vector<Configuration> best() const {
    std::vector<std::pair<const Numbers*, const Configuration*>> all;
    for (const auto& [configuration, values] : known_)
      if (!values.empty()) all.emplace_back(&values, &configuration);
    std::ranges::stable_sort(all, [](const auto& a, const auto& b) { return *a.first < *b.first; });
    std::vector<const Numbers*> front;
    std::vector<Configuration> result;
    for (const auto& [values, configuration] : all) {
      if (std::ranges::any_of(front, [&](const auto* other) { return dominates(*other, *values); }))
        continue;
      if (front.empty() || *front.back() != *values) front.push_back(values);
      result.push_back(*configuration);
    }
    return result;
  }

  const GroupSpace& space_;
  const GroupObjective& objective_;
  Ranks* const ranks_;
  std::map<Configuration, Numbers> known_;                   // objectives; none: it cannot run
  std::map<Configuration, std::optional<GroupPlan>> plans_;  // of those that were asked here
};

constexpr double too_large = 1e15;   // for what cannot run
constexpr std::size_t at_once = 64;  // candidates of all, shared by the ranks

/// Which objectives the candidates have, and a first front.
std::size_t objectives_of_starts(Asked& asked) {
  std::size_t found = 0;
  // Each rank asks for all of them, and knows why none can run.
  for (const std::vector<double>& values : asked.ask(asked.starts(), nullptr))
    found = std::max(found, values.size());
  return found;
}

/// The objectives of a genome, all too large where it cannot run.
GenomeCases cases_of(Asked& asked, std::size_t objectives) {
  return [&asked, objectives](std::span<const Genome> genomes) {
    std::vector<std::vector<double>> all = asked.ask(genomes, asked.ranks());
    for (std::vector<double>& values : all)
      if (values.empty()) values.assign(objectives, too_large);
    return all;
  };
}

/// The ends of each objective's range, with room above the worst.
struct Scale {
  std::vector<double> least, most;
  explicit Scale(const GroupFront& front) {
    for (const GroupPlan& plan : front.plans) {
      const std::vector<double> values = objectives_of(plan);
      if (least.empty()) least = most = values;
      for (std::size_t i = 0; i < values.size(); ++i) {
        least[i] = std::min(least[i], values[i]);
        most[i] = std::max(most[i], values[i]);
      }
    }
  }
  /// 0 to 1, and objectives that do not vary are left out.
  std::vector<double> scaled(const GroupPlan& plan) const {
    const std::vector<double> values = objectives_of(plan);
    std::vector<double> result;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (most[i] > least[i])
        result.push_back(std::min(1.1, (values[i] - least[i]) / (most[i] - least[i])));
    return result;
  }
};

double hypervolume_of(const GroupFront& front, const Scale& scale) {
  std::vector<Point> points;
  for (const GroupPlan& plan : front.plans) points.push_back(scale.scaled(plan));
  if (points.empty() || points.front().empty()) return points.empty() ? 0 : 1;
  const Point reference(points.front().size(), 1.1);
  return hypervolume(std::move(points), reference);
}

/// The processors that can run a layer that takes time.
std::vector<std::size_t> useful_processors(const Problem& problem) {
  std::vector<std::size_t> result;
  for (std::size_t p = 0; p < problem.processors; ++p)
    if (std::ranges::any_of(problem.time, [p](const std::vector<double>& layer) {
          return layer[p] > 0 && std::isfinite(layer[p]);
        }))
      result.push_back(p);
  return result;
}

}  // namespace

GroupSpace group_space(const SearchContext& context) {
  const Problem& problem = context.problem;
  const std::vector<std::size_t> useful = useful_processors(problem);
  const auto is_useful = [&](const ProcessorGroup& stage) {
    return stage.size() == 1 && std::ranges::count(useful, stage.front().index) > 0;
  };
  GroupSpace space;
  for (MappingOption& option : mapping_options(context.board))
    if (std::ranges::all_of(option.stages, is_useful)) space.options.push_back(std::move(option));
  const auto runs_everywhere = [&](std::size_t layer) {
    return std::ranges::all_of(
        useful, [&](std::size_t p) { return std::isfinite(problem.time[layer][p]); });
  };
  const auto takes_no_time = [&](std::size_t layer) {
    return std::ranges::all_of(useful, [&](std::size_t p) { return problem.alone[layer][p] == 0; });
  };
  for (const std::size_t cut : cut_positions(problem))
    if ((runs_everywhere(cut) || runs_everywhere(cut + 1)) && !takes_no_time(cut + 1))
      space.cuts.push_back(cut);
  return space;
}

double size_of(const GroupSpace& space) {
  double sum = 0;
  for (const MappingOption& option : space.options) {
    double count = 1;
    for (std::size_t cut = 0; cut < cuts_of(option); ++cut)
      count *= (static_cast<double>(space.cuts.size()) - static_cast<double>(cut)) /
               static_cast<double>(cut + 1);
    sum += std::max(0.0, std::round(count));
  }
  return sum;
}

std::vector<GroupPlan> non_dominated(std::vector<GroupPlan> plans) {
  std::ranges::sort(plans, [](const GroupPlan& a, const GroupPlan& b) {
    const auto one = objectives_of(a), other = objectives_of(b);
    return one != other ? one < other : comes_first(a, b);
  });
  std::vector<GroupPlan> result;
  std::vector<std::vector<double>> values;
  for (GroupPlan& plan : plans) {  // by the first objective: none is dominated by a later one
    const std::vector<double> own = objectives_of(plan);
    if (std::ranges::any_of(
            values, [&](const auto& other) { return other == own || dominates(other, own); }))
      continue;
    values.push_back(own);
    result.push_back(std::move(plan));
  }
  return result;
}

GroupFront nsga2_front(const GroupSpace& space, const GroupObjective& objective,
                       const FrontOptions& options) {
  Asked asked(space, objective, options.ranks);
  const std::size_t objectives = objectives_of_starts(asked);
  if (objectives == 0 || space.cuts.empty()) return asked.front();
  Nsga2 search(asked.sizes(), cases_of(asked, objectives),
               {.population = std::max<std::size_t>(options.population, 8), .seed = options.seed});
  std::size_t in_vain = 0, before = 0;
  for (std::size_t generation = 0; generation < options.generations; ++generation) {
    if (options.stop && options.stop()) break;
    search.next_generation();
    in_vain = asked.count() > before ? 0 : in_vain + 1;
    before = asked.count();
    if (options.progress)
      options.progress(
          static_cast<double>(generation + 1) / static_cast<double>(options.generations),
          asked.count());
    if (options.patience > 0 && in_vain >= options.patience) break;
  }
  return asked.front();
}

GroupFront lexicase_front(const GroupSpace& space, const GroupObjective& objective,
                          const FrontOptions& options) {
  Asked asked(space, objective, options.ranks);
  const std::size_t objectives = objectives_of_starts(asked);
  if (objectives == 0 || space.cuts.empty()) return asked.front();
  LexicaseOptions lexicase{options.population, options.generations, options.patience, options.seed};
  lexicase.start = asked.starts();
  lexicase.stop = [&](std::size_t generation) {
    if (options.progress)
      options.progress(static_cast<double>(generation) / static_cast<double>(options.generations),
                       asked.count());
    return options.stop && options.stop();
  };
  lexicase_search(asked.sizes(), cases_of(asked, objectives), lexicase);
  return asked.front();
}

GroupFront exhaustive_front(const GroupSpace& space, const GroupObjective& objective,
                            const FrontOptions& options) {
  Asked asked(space, objective, options.ranks);
  const double all = size_of(space);
  std::vector<Configuration> some;
  const auto ask_for_some = [&] {
    asked.ask(std::exchange(some, {}));
    if (options.progress) options.progress(static_cast<double>(asked.count()) / all, asked.count());
  };
  for (const MappingOption& option : space.options) {
    if (cuts_of(option) > space.cuts.size()) continue;
    std::vector<std::size_t> chosen(cuts_of(option));
    for (std::size_t c = 0; c < chosen.size(); ++c) chosen[c] = c;
    for (;;) {
      if (options.stop && options.stop()) return asked.front();
      Configuration& configuration = some.emplace_back(Configuration{option.stages, {}});
      for (const std::size_t c : chosen) configuration.cuts.push_back(space.cuts[c]);
      if (some.size() == at_once) ask_for_some();
      std::size_t at = chosen.size();  // the last that can move on
      while (at > 0 && chosen[at - 1] == space.cuts.size() - chosen.size() + at - 1) --at;
      if (at == 0) break;
      ++chosen[at - 1];
      for (std::size_t c = at; c < chosen.size(); ++c) chosen[c] = chosen[c - 1] + 1;
    }
  }
  ask_for_some();
  return asked.front();
}

std::span<const NamedFrontMethod> front_methods() {
  static constexpr std::array<NamedFrontMethod, 3> methods{
      {{"nsga2", nsga2_front}, {"lexicase", lexicase_front}, {"exhaustive", exhaustive_front}}};
  return methods;
}

const NamedFrontMethod* front_method_named(const std::string& name) {
  const auto found = std::ranges::find(front_methods(), name, &NamedFrontMethod::name);
  return found == front_methods().end() ? nullptr : &*found;
}

FrontQuality quality_of(const GroupFront& front, const GroupFront& exact) {
  FrontQuality quality;
  std::set<std::vector<double>> found;
  for (const GroupPlan& plan : front.plans) found.insert(objectives_of(plan));
  for (const GroupPlan& plan : exact.plans)
    quality.missed += found.contains(objectives_of(plan)) ? 0 : 1;
  const Scale scale(exact);
  const double all = hypervolume_of(exact, scale);
  quality.hypervolume = all > 0 ? hypervolume_of(front, scale) / all : 1;
  return quality;
}

}  // namespace millrace::explore
