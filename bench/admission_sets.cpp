// One point of the experiment of bench/papers/variants.py: of random sets of networks whose least
// utilisations add up to a threshold, how many fit on which configurations.
//   admission_sets TIMES THRESHOLD SETS SEED KINDS...
// TIMES is what `millrace plan --method admission --json` says of one instance of each network;
// each of KINDS, such
// as "npu.alone,npu.together,cpu", is a set of configurations, in which the one before is
// contained. With --tables in place of the first of them, how many of the sets that fit on the last
// have a static table, and with which periods.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/random.h"
#include "explore/admission/tabled.h"

namespace {

using namespace millrace;
using explore::AdmissionProblem;
using explore::AdmissionTask;
using Json = nlohmann::json;

/// Periods of cameras, lidars and predictions; one is drawn for each instance.
constexpr std::array periods_ms{20, 25, 33, 40, 50, 66, 100, 200};

struct Board {
  AdmissionProblem problem;        // without tasks
  std::vector<std::string> kinds;  // by processor: "npu.alone"
  std::vector<AdmissionTask> types;
};

Board read_board(const std::string& path) {
  const Json json = read_json(path);
  Board board;
  for (const Json& unit : json["units"]) board.problem.units.push_back(unit["name"]);
  for (const Json& processor : json["processors"]) {
    explore::SharedProcessor added{processor["name"], {}};
    for (const Json& unit : processor["units"]) {
      const auto& names = board.problem.units;
      added.units.push_back(static_cast<std::size_t>(
          std::ranges::find(names, unit.get<std::string>()) - names.begin()));
    }
    board.kinds.push_back(processor["kind"].get<std::string>() +
                          (added.units.size() == 1 ? ".alone" : ".together"));
    board.problem.processors.push_back(std::move(added));
  }
  for (const Json& group : json["groups"]) {
    AdmissionTask type{group["name"], {}, {}, {}, {}};
    for (const Json& variant : group["variants"])
      type.times.push_back(variant.contains("time_ns")
                               ? std::optional<Time>(variant["time_ns"].get<std::int64_t>())
                               : std::nullopt);
    board.types.push_back(std::move(type));
  }
  return board;
}

/// By processor, whether the list has its kind, in this form or in any.
std::vector<bool> allowed(const Board& board, const std::string& list) {
  std::vector<std::string> names;
  std::stringstream stream(list);
  for (std::string name; std::getline(stream, name, ',');) names.push_back(name);
  std::vector<bool> result;
  for (const std::string& kind : board.kinds)
    result.push_back(std::ranges::any_of(names, [&](const std::string& name) {
      return kind == name || kind.substr(0, kind.rfind('.')) == name;
    }));
  return result;
}

/// The problem on these processors; nothing if a task has none.
AdmissionProblem restricted(AdmissionProblem problem, const std::vector<bool>& processors) {
  for (AdmissionTask& task : problem.tasks)
    for (std::size_t p = 0; p < processors.size(); ++p)
      if (!processors[p]) task.times[p].reset();
  return problem;
}

/// Instances of random types until the least utilisations on any processor add up.
AdmissionProblem random_set(const Board& board, const std::vector<bool>& processors,
                            double threshold, Random& random) {
  constexpr int most_in_vain = 10'000;
  AdmissionProblem set = board.problem;
  double sum = 0;
  int in_vain = 0;
  for (;;) {
    AdmissionTask task = board.types[random.below(board.types.size())];
    task.period = std::chrono::milliseconds(periods_ms[random.below(periods_ms.size())]);
    task.deadline = task.period;
    Time best = Time::max();
    for (std::size_t p = 0; p < processors.size(); ++p)
      if (processors[p] && task.times[p]) best = std::min(best, *task.times[p]);
    if (best > task.period) {  // meets no deadline anywhere
      if (++in_vain > most_in_vain)
        throw InputError("TIMES", "no network meets any of its deadlines on these processors");
      continue;
    }
    in_vain = 0;
    sum += seconds(best) / seconds(task.period);
    if (sum > threshold && !set.tasks.empty()) return set;
    set.tasks.push_back(std::move(task));
  }
}

struct Point {
  double threshold = 0;
  int sets = 0;
  std::uint64_t seed = 1;
};

Json experiment(const Board& board, const Point& point, const std::vector<std::string>& lists) {
  const auto [threshold, sets, seed] = point;
  std::vector<std::vector<bool>> processors;
  for (const std::string& list : lists) processors.push_back(allowed(board, list));
  Random random(seed);
  std::vector<int> fitting(lists.size(), 0), unknown(lists.size(), 0);
  std::size_t instances = 0, fitting_instances = 0;
  for (int i = 0; i < sets; ++i) {
    const AdmissionProblem set = random_set(board, processors.back(), threshold, random);
    instances += set.tasks.size();
    bool fits = false;
    for (std::size_t list = 0; list < lists.size(); ++list) {
      if (!fits) {
        const explore::Admission answer =
            solve_program(restricted(set, processors[list]), {explore::AdmissionGoal::any, {}, 5});
        fits = answer.answer == explore::Admission::Answer::fits;
        unknown[list] += answer.answer == explore::Admission::Answer::unknown;
      }
      fitting[list] += fits;
    }
    if (fits) fitting_instances += set.tasks.size();
  }
  return {{"threshold", threshold},
          {"sets", sets},
          {"seed", seed},
          {"instances", instances},
          {"fitting", fitting},
          {"unknown", unknown},
          {"fitting_instances", fitting_instances}};
}

/// Counts of random sets that fit: with a table for the given periods, with shorter ones, or none.
Json tables(const Board& board, const Point& point, const std::string& list) {
  const std::vector<bool> processors = allowed(board, list);
  Random random(point.seed);
  int fitting = 0, as_given = 0, second_best = 0, harmonised = 0, none = 0, unknown = 0;
  for (int i = 0; i < point.sets; ++i) {
    const AdmissionProblem set = random_set(board, processors, point.threshold, random);
    const explore::TabledAdmission found = solve_with_table(
        restricted(set, processors), {explore::AdmissionGoal::total_utilisation, {}, 10});
    if (found.admission.answer != explore::Admission::Answer::fits) continue;
    ++fitting;
    as_given += found.table && !found.is_harmonised;
    second_best += found.table && found.refused > 0;
    harmonised += found.table && found.is_harmonised;
    none += !found.table && found.is_none_proven;
    unknown += !found.table && !found.is_none_proven;
  }
  return {{"threshold", point.threshold},
          {"sets", point.sets},
          {"fitting", fitting},
          {"as_given", as_given},
          {"harmonised", harmonised},
          {"second_best", second_best},
          {"no_table", none},
          {"not_known", unknown}};
}

}  // namespace

int main(int count, char** words) {
  if (count < 6) {
    fmt::print(stderr, "usage: admission_sets TIMES THRESHOLD SETS SEED KINDS...\n");
    return 2;
  }
  try {
    const std::vector<std::string> lists(words + 5, words + count);
    const Point point{std::atof(words[2]), std::atoi(words[3]),
                      std::strtoull(words[4], nullptr, 10)};
    const Board board = read_board(words[1]);
    const Json answer = lists.front() == "--tables" ? tables(board, point, lists.back())
                                                    : experiment(board, point, lists);
    fmt::print("{}\n", answer.dump());
  } catch (const InputError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
