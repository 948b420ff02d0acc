#pragma once
// Two groups on one core of the sample board, whose releases cost something.
#include "support/sample_deployment.h"

namespace millrace::test {

/// "high" takes 5 of each 20 ms, "low" 30 of each 100.
inline Deployment releasing_deployment(Time release_cost) {
  Deployment result;
  const auto add = [&](const char* name, double fps, Time worst, std::int64_t priority) {
    system::Group group{.name = name, .model = {}, .rates = {fps, fps}};
    result.system.groups.push_back(std::move(group));
    Assignment assignment{.tasks = {}, .priority = priority};
    assignment.tasks = {{.name = "stage0", .processor = "core0", .worst = worst, .average = worst}};
    result.assignments.push_back(std::move(assignment));
  };
  add("high", 50, ms(5), 2);
  add("low", 10, ms(30), 1);
  result.system.name = "releasing";
  result.system.scenarios = {{"all", {system::GroupId(0), system::GroupId(1)}}};
  result.system.release_cost = release_cost;
  return result;
}

}  // namespace millrace::test
