#pragma once
// Inside the room: what a group's plan asks of the group's tasks. Bounds are those of the tasks,
// but what runs is the plan.
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "deployment/deployment.h"

namespace millrace::deployment {

/// What tasks have to follow of a plan; it is known without the network, too.
struct PlanShape {
  struct Stage {
    std::string name;
    std::vector<std::string> processors;
    std::size_t phases = 0;
  };
  std::vector<Stage> stages;
  /// Pairs of phases of which the second reads what the first writes.
  std::vector<std::pair<plan::Endpoint, plan::Endpoint>> reads;
};

PlanShape shape_of(const plan::Plan& plan);
/// Shape of a plan inside a deployment's file.
PlanShape read_shape(const JsonView& plan);

/// InputError unless each phase has one task, on a processor of its stage and after all that it
/// waits for, and there are tasks before and after the network exactly where the system has them.
void check_plan_tasks(const system::Group& group, const Assignment& assignment,
                      const PlanShape& shape);

}  // namespace millrace::deployment
