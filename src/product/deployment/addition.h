#pragma once
// A deployment that is to run beside another one, which runs: whether it fits, and then it runs.
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "deployment/script.h"
#include "product/deployment/deliveries.h"
#include "product/deployment/loaded_deployment.h"
#include "runtime/controller/controller.h"

namespace millrace::product {

/// What became of a step of a script that adds a deployment.
struct Addition {
  Time at{};         // from the start, as the script says
  std::string file;  // of the deployment
  std::vector<std::string> groups = {};
  std::string refusal = {};  // why it does not run; empty: it does
  Time took{};               // to read, to decide, and to make ready
};

/// All that was added to a run. Stays where it is, and outlives the controller.
class RunningDeployment {
 public:
  /// All borrowed.
  struct Use {
    const TaskSources& tasks;
    const Context& context;
    Deliveries* deliveries;           // what is added gets its input from there
    application::Observer* observer;  // null: nobody
  };
  RunningDeployment(const LoadedDeployment& first, const Use& use) : first_(first), use_(use) {}

  /// Adds the step's deployment if every deadline of all groups holds by the analysis, in each
  /// scenario at each level. What is wrong with the file is a refusal too.
  void add(runtime::Controller& controller, const deployment::ScriptStep& step);

  /// With what was added.
  const deployment::Deployment& deployment() const {
    return joined_.empty() ? first_.deployment : joined_.back();
  }
  const std::vector<Addition>& additions() const { return additions_; }

 private:
  void add(runtime::Controller& controller, Addition& addition);

  const LoadedDeployment& first_;
  const Use use_;
  std::vector<std::unique_ptr<LoadedDeployment>> loaded_;
  std::deque<deployment::Deployment> joined_;
  std::vector<Addition> additions_;
};

}  // namespace millrace::product
