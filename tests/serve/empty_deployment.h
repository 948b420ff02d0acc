#pragma once
// A deployment without groups, which observers may ask.
#include "application/live/observer.h"
#include "board/board.h"
#include "deployment/deployment.h"
#include "runtime/controller/controller.h"

namespace millrace::test {

struct EmptyDeployment {
  deployment::Deployment deployment = {};
  board::Board board = {};
  runtime::Controller controller{
      deployment, board, {}, {.pin = false, .priorities = false, .lock_memory = false}};

  application::DeploymentAtWork at_work() const { return {"robot", controller}; }
};

}  // namespace millrace::test
