// Systems with known bounds, from publications and other tools.
#include <gtest/gtest.h>

#include <cmath>

#include "base/json.h"
#include "realtime/analysis.h"
#include "realtime/files/task_file.h"
#include "support/shared.h"

namespace millrace::realtime {
namespace {

using Json = nlohmann::json;

Json oracle(const char* name) {
  return read_json(millrace::test::shared_folder() / "oracles/wcrt" / name)["cases"];
}

TaskFile file_of(const Json& system) {
  return task_file_of(parse_yaml(system.dump(), "case.json"), "case.json");
}

Time ticks(const Json& value, const TimeUnit& unit) {
  return Time(std::llround(value.get<double>() * static_cast<double>(unit.ticks)));
}

TaskId task_named(const TaskSystem& system, const std::string& name) {
  for (std::size_t t = 0; t < system.tasks.size(); ++t)
    if (system.tasks[t].name == name) return TaskId(t);
  return {};
}

/// `responses`: by task.
void expect_responses(const TaskFile& file, const Bounds& bounds, const Json& responses) {
  for (const auto& [name, known] : responses.items()) {
    const TaskId task = task_named(file.system, name);
    ASSERT_TRUE(task.valid()) << name;
    EXPECT_EQ(bounds.tasks[task.index].response, ticks(known, file.unit)) << name;
  }
}

void expect_at_least(const TaskFile& file, const Bounds& bounds, const Json& simulated) {
  for (const auto& [name, seen] : simulated["local_max_observed"].items())
    EXPECT_GE(bounds.tasks[task_named(file.system, name).index].response, ticks(seen, file.unit))
        << name;
}

/// The points between which limited preemption may happen, as kernels.
void add_kernels(const Json& known, TaskSystem& system) {
  for (std::size_t t = 0; t < system.tasks.size(); ++t) {
    const Time last(known["tasks"][t]["last_np_segment"].get<int>());
    const Time longest(known["tasks"][t]["max_np_segment"].get<int>());
    Task& task = system.tasks[t];
    Time left = task.worst - last;
    for (; left > Time{}; left -= std::min(left, longest))
      task.kernels.push_back(std::min(left, longest));
    task.kernels.push_back(last);
  }
}

TEST(Oracle, tasks_on_one_resource_have_the_known_bounds) {
  MILLRACE_NEEDS_SHARED("oracles/wcrt/single_resource.json");
  int checked = 0;
  for (Json known : oracle("single_resource.json")) {
    SCOPED_TRACE(known["id"].get<std::string>());
    const bool is_limited = known["scheduler"] == "limited-preemptive FP";
    if (is_limited) known["scheduler"] = "SPNP";
    TaskFile file = file_of(known);
    if (is_limited) add_kernels(known, file.system);
    const bool whole = known["convention"].get<std::string>().starts_with("INTEGER");
    const Bounds bounds = analyse(file.system, {.whole_ticks = whole});
    for (std::size_t t = 0; t < file.system.tasks.size(); ++t) {
      const Json& wcrt = known["expected_wcrt"][t];
      EXPECT_EQ(bounds.tasks[t].response, wcrt.is_null() ? unbounded : ticks(wcrt, file.unit))
          << file.system.tasks[t].name;
    }
    ++checked;
  }
  EXPECT_EQ(checked, 25);
}

TEST(Oracle, chains_have_the_known_bounds) {
  MILLRACE_NEEDS_SHARED("oracles/wcrt/chains_multi_resource.json");
  for (const Json& known : oracle("chains_multi_resource.json")) {
    SCOPED_TRACE(known["id"].get<std::string>());
    const TaskFile file = file_of(known["system"]);
    const Json& expected = known["expected"];
    const auto bounds = [&](Propagation propagation) {
      return analyse(file.system, {.propagation = propagation, .precedence = false});
    };
    expect_responses(file, bounds(Propagation::jitter), expected["pycpa_jitter"]["local_wcrt"]);
    expect_responses(file, bounds(Propagation::jitter_and_distance),
                     expected["pycpa_jitter_dmin"]["local_wcrt"]);
    const Bounds tight = bounds(Propagation::windows);
    expect_responses(file, tight, expected["pycpa_busy_window"]["local_wcrt"]);
    expect_at_least(file, tight, known["simulated_lower_bound"]);
  }
}

TEST(Oracle, holistic_bounds_of_chains_are_known) {
  MILLRACE_NEEDS_SHARED("oracles/wcrt/chains_multi_resource.json");
  for (const Json& known : oracle("chains_multi_resource.json")) {
    SCOPED_TRACE(known["id"].get<std::string>());
    const TaskFile file = file_of(known["system"]);
    const Json& holistic = known["expected"]["mast_holistic"];
    const bool is_exact = !holistic.contains("NOTE");
    const Bounds bounds = analyse(file.system, {.precedence = false});
    for (const auto& [name, wcrt] : holistic["global_wcrt"].items()) {
      const Time found = bounds.tasks[task_named(file.system, name).index].completion;
      if (is_exact)
        EXPECT_EQ(found, ticks(wcrt, file.unit)) << name;
      else
        EXPECT_LE(found, ticks(wcrt, file.unit)) << name;
    }
  }
}

TEST(Oracle, fifo_chains_have_the_known_bounds) {
  MILLRACE_NEEDS_SHARED("oracles/wcrt/chains_fifo.json");
  for (const Json& known : oracle("chains_fifo.json")) {
    SCOPED_TRACE(known["id"].get<std::string>());
    const TaskFile file = file_of(known["system"]);
    expect_responses(
        file, analyse(file.system, {.propagation = Propagation::jitter, .precedence = false}),
        known["expected"]["helper_cpa_jitter"]["local_wcrt"]);
    expect_responses(file,
                     analyse(file.system, {.propagation = Propagation::jitter_and_distance,
                                           .precedence = false}),
                     known["expected"]["helper_cpa_jitter_dmin"]["local_wcrt"]);
    expect_at_least(file, analyse(file.system), known["simulated_lower_bound"]);
  }
}

TEST(Oracle, transactions_have_the_holistic_bounds_and_precedence_lowers_them) {
  MILLRACE_NEEDS_SHARED("oracles/wcrt/holistic_verified.json");
  for (const Json& known : oracle("holistic_verified.json")) {
    SCOPED_TRACE(known["id"].get<std::string>());
    const TaskFile file = file_of(known["system"]);
    const Bounds holistic = analyse(file.system, {.precedence = false});
    const Bounds tight = analyse(file.system);
    const Json& expected = known["expected"]["holistic"]["global_wcrt"];
    for (std::size_t f = 0; f < file.system.flows.size(); ++f) {
      const Flow& flow = file.system.flows[f];
      const Json& steps = known["system"]["flows"][f]["steps"];
      for (std::size_t s = 0; s < steps.size(); ++s) {
        const Json& event = expected[flow.name][steps[s]["out_event"].get<std::string>()];
        const Time known_bound = ticks(event["wcrt"], file.unit);
        const TaskId task = flow.tasks[s];
        EXPECT_EQ(holistic.tasks[task.index].completion, known_bound) << file.system[task].name;
        EXPECT_LE(tight.tasks[task.index].completion, known_bound) << file.system[task].name;
      }
    }
  }
}

}  // namespace
}  // namespace millrace::realtime
