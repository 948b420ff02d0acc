#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/yaml.h"
#include "board/read_values.h"
#include "system/read_events.h"
#include "system/read_group_edges.h"
#include "system/read_random_graphs.h"
#include "system/read_task_graph.h"
#include "system/system_file.h"

namespace millrace::system {
namespace {

namespace fs = std::filesystem;

constexpr int format = 1;
constexpr std::array<std::string_view, 13> system_keys{
    "format",          "name",   "board",     "levels",      "overload",     "overhead_ms",
    "release_cost_ms", "groups", "scenarios", "transitions", "random_graphs", "edges", "chains"};
constexpr std::array<std::string_view, 31> group_keys{
    "name",     "model",       "weights",   "size",         "shapes",        "precision",
    "rate_fps", "application", "period_ms", "deadline_ms",  "preprocess_ms", "postprocess_ms",
    "priority", "tasks",       "edges",     "graph",        "code",          "processors",
    "fix",      "times",       "after",     "end_to_end_ms", "jitter_ms",     "offset_ms",
    "sporadic", "burst",       "burst_distance_ms",      "min_distance_ms",
    "aperiodic", "budget_ms",  "budget_every_ms"};
constexpr std::array<std::string_view, 5> time_keys{"on", "precision", "worst_ms", "in_ms",
                                                    "out_ms"};
constexpr std::array<std::string_view, 6> model_keys{"model",  "weights", "size",
                                                     "shapes", "fix",     "precision"};
constexpr std::array<std::string_view, 3> scenario_keys{"name", "groups", "share"};
constexpr std::array<std::string_view, 3> transition_keys{"from", "to", "probability"};
constexpr std::array<std::string_view, 3> overloads{"skip", "stretch", "lower_rate"};
constexpr int most_priority = 1'000'000;
constexpr board::Bounds of_times{0, 1e9, true}, of_overheads{0, 1e9}, of_shares{0, 1};
constexpr board::Bounds of_rates{1e-6, 1e6}, of_periods{1e-3, 1e9};

Time time_of(const YamlView& view, const board::Bounds& bounds) {
  return Time(std::llround(board::read_number(view, bounds) * 1e6));
}

/// The position of what the name refers to.
template <class Items>
std::size_t index_of(const Items& items, const board::Names& names, const YamlView& view) {
  const std::string name = names.refer(view);
  for (std::size_t i = 0; i < items.size(); ++i)
    if (items[i].name == name) return i;
  view.fail(fmt::format("'{}' stands behind this", name));
}

class SystemReader {
 public:
  SystemReader(const YamlView& root, const std::string& file) : root_(root) {
    system_.file = file;
    system_.name = fs::path(file).stem().string();
  }

  System read() {
    if (root_.has("assignments"))
      throw InputError(system_.file,
                       "is a deployment already; to decide anew, name the system it was made from");
    root_.only(system_keys);
    if (const std::int64_t found = root_.at("format").integer(); found != format)
      root_.at("format").fail(fmt::format("found {}, expected {}", found, format));
    if (root_.has("name")) system_.name = root_.at("name").text();
    if (root_.has("board")) {
      system_.board = root_.at("board").name_or_path();
      system_.board_place = root_.at("board").place();
    }
    if (root_.has("levels")) system_.levels = board::read_count(root_.at("levels"), 1, 1000);
    if (root_.has("overload"))
      system_.overload = static_cast<Overload>(board::read_word(root_.at("overload"), overloads));
    if (root_.has("overhead_ms")) system_.overhead = time_of(root_.at("overhead_ms"), of_overheads);
    if (root_.has("release_cost_ms"))
      system_.release_cost = time_of(root_.at("release_cost_ms"), of_overheads);
    if (root_.has("groups") || !root_.has("random_graphs"))
      for (const YamlView& view : root_.at("groups").items()) read_group(view);
    if (root_.has("random_graphs")) make_random_graphs(root_.at("random_graphs"));
    if (root_.has("scenarios"))
      for (const YamlView& view : root_.at("scenarios").items()) read_scenario(view);
    else
      add_scenario_of_all();
    if (root_.has("transitions"))
      for (const YamlView& view : root_.at("transitions").items()) read_transition(view);
    read_group_edges(root_, group_names_, system_);
    check(system_);
    return std::move(system_);
  }

 private:
  void read_group(const YamlView& view) {
    view.only(group_keys);
    Group group;
    group.place = view.place();
    group.name = group_names_.add(view.at("name"));
    read_model(view, group);
    group.graph = read_task_graph(view, group.has_network());
    group.events = read_events(view);
    group.budget = read_budget(view);
    read_rates(view, group);
    read_known_times(view, group);
    if (view.has("after")) group.after = board::read_texts(view.at("after"));
    if (view.has("end_to_end_ms")) group.end_to_end = time_of(view.at("end_to_end_ms"), of_times);
    if (view.has("deadline_ms")) group.deadline = time_of(view.at("deadline_ms"), of_times);
    if (view.has("priority"))
      group.priority = board::read_count(view.at("priority"), -most_priority, most_priority);
    if (view.has("preprocess_ms")) group.preprocess = time_of(view.at("preprocess_ms"), of_times);
    if (view.has("postprocess_ms"))
      group.postprocess = time_of(view.at("postprocess_ms"), of_times);
    system_.groups.push_back(std::move(group));
  }

  void make_random_graphs(const YamlView& view) {
    for (const RandomGraph& options : read_random_graphs(view)) {
      Group group;
      group.place = view.place();
      group.name = group_names_.add(view, fmt::format("graph{}", made_++));
      group.graph = random_graph(options);
      read_rates(view, group);
      system_.groups.push_back(std::move(group));
    }
  }

  void read_model(const YamlView& view, Group& group) const {
    if (view.has("application")) {
      for (const std::string_view key : model_keys)
        if (view.has(key))
          view.at(key).fail("found beside 'application', which says it; remove one of the two");
      group.application = view.at("application").path();
      return;
    }
    if (!view.has("model")) {
      if (!view.has("tasks") && !view.has("graph") && !view.has("times"))
        view.fail("has no 'model', 'application', 'tasks' or 'graph'; give one of them");
      for (const std::string_view key : model_keys)
        if (view.has(key)) view.at(key).fail("found without a 'model'; add it");
      return;
    }
    group.model = formats::read_model_source(view);
    if (view.has("precision")) group.precisions = read_precisions(view.at("precision"));
  }

  static void read_known_times(const YamlView& view, Group& group) {
    if (!view.has("times")) return;
    for (const YamlView& item : view.at("times").items()) {
      item.only(time_keys);
      KnownTime time{item.at("on").scalar(), group.precisions.front(), {}, {}, {}, item.place()};
      if (item.has("precision")) time.precision = board::read_precision(item.at("precision"));
      time.worst = time_of(item.at("worst_ms"), of_times);
      if (item.has("in_ms")) time.in = time_of(item.at("in_ms"), of_overheads);
      if (item.has("out_ms")) time.out = time_of(item.at("out_ms"), of_overheads);
      group.times.push_back(std::move(time));
    }
    if (group.times.empty()) view.at("times").fail("found none, expected one at least");
  }

  static std::vector<board::Precision> read_precisions(const YamlView& view) {
    std::vector<board::Precision> precisions;
    for (const YamlView& item : view.items()) {
      precisions.push_back(board::read_precision(item));
      if (std::ranges::count(precisions, precisions.back()) > 1)
        item.fail(fmt::format("'{}' is given twice; give it once", item.text()));
    }
    if (precisions.empty()) view.fail("found none, expected such as f32");
    return precisions;
  }

  static void read_rates(const YamlView& view, Group& group) {
    if (view.has("rate_fps") == view.has("period_ms"))
      view.fail(view.has("rate_fps")
                    ? "has a 'rate_fps' and a 'period_ms'; give one of the two"
                    : "has neither 'rate_fps' nor 'period_ms'; give one of the two");
    if (view.has("period_ms")) {
      const double period = board::read_number(view.at("period_ms"), of_periods);
      const double rate = 1000 * static_cast<double>(group.events.burst) / period;
      group.rates = {rate, rate};
    } else if (const YamlView rates = view.at("rate_fps"); rates.is_scalar()) {
      const double rate = board::read_number(rates, of_rates);
      group.rates = {rate, rate};
    } else {
      const std::vector<YamlView> ends = rates.items();
      if (ends.size() != 2)
        rates.fail(
            fmt::format("found {} numbers, expected one rate or two, the lowest and the "
                        "highest",
                        ends.size()));
      group.rates = {board::read_number(ends[0], of_rates), board::read_number(ends[1], of_rates)};
    }
  }

  void read_scenario(const YamlView& view) {
    view.only(scenario_keys);
    Scenario scenario{.name = scenario_names_.add(view.at("name")), .groups = {}};
    scenario.place = view.place();
    for (const YamlView& group : view.at("groups").items()) {
      scenario.groups.emplace_back(index_of(system_.groups, group_names_, group));
      if (std::ranges::count(scenario.groups, scenario.groups.back()) > 1)
        group.fail(fmt::format("'{}' is given twice; give it once", group.text()));
    }
    std::ranges::sort(scenario.groups, {}, &GroupId::index);
    if (view.has("share")) scenario.share = board::read_number(view.at("share"), of_shares);
    system_.scenarios.push_back(std::move(scenario));
  }

  void add_scenario_of_all() {
    Scenario all{.name = "all", .groups = {}, .place = root_.place()};
    for (std::size_t g = 0; g < system_.groups.size(); ++g) all.groups.emplace_back(g);
    system_.scenarios.push_back(std::move(all));
  }

  void read_transition(const YamlView& view) {
    view.only(transition_keys);
    Transition transition;
    transition.place = view.place();
    transition.from = ScenarioId(index_of(system_.scenarios, scenario_names_, view.at("from")));
    transition.to = ScenarioId(index_of(system_.scenarios, scenario_names_, view.at("to")));
    for (const Transition& other : system_.transitions)
      if (other.from == transition.from && other.to == transition.to)
        view.fail(fmt::format("found a second transition from '{}' to '{}'; give one of the two",
                              view.at("from").text(), view.at("to").text()));
    if (view.has("probability"))
      transition.probability = board::read_number(view.at("probability"), of_shares);
    system_.transitions.push_back(std::move(transition));
  }

  YamlView root_;
  System system_;
  std::size_t made_ = 0;  // random graphs
  board::Names group_names_{"group"}, scenario_names_{"scenario"};
};

}  // namespace

System read_system(const std::filesystem::path& path) {
  return parse_system(read_file(path), path.string());
}

System parse_system(const std::string& content, const std::string& file) {
  const YamlNode root = parse_yaml(content, file);
  return SystemReader(YamlView(root, file), file).read();
}

System system_in(const nlohmann::json& value, const std::string& file) {
  const YamlNode root = yaml_of(value);
  return SystemReader(YamlView(root, file, "system"), file).read();
}

}  // namespace millrace::system
