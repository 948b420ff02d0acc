#pragma once
// What stands before and after the network of a group that has an application.
#include <memory>
#include <vector>

#include "application/picture.h"
#include "application/run.h"
#include "explore/system/system_profile.h"
#include "application/loaded/crops_at_work.h"
#include "product/application/load.h"
#include "product/context.h"
#include "system/system.h"

namespace millrace::product {

struct GroupSteps {
  std::unique_ptr<LoadedApplication> application;   // null: the group has a model alone
  std::vector<application::Picture> pictures = {};  // of the application's input, used in turn
  std::unique_ptr<application::CropsAtWork> crops = {};          // null: the application has none
};

/// The steps of the application that the group names; else none.
GroupSteps open_steps(const system::Group& group, const Context& context);

/// The step after the network. Crops are part of it, on the calling thread. A rehearsed frame has
/// as many crops as a frame may have, each of the whole picture, so no frame takes longer.
application::Outcome outcome_of(const GroupSteps& steps, application::Picture picture,
                                const std::vector<network::Array>& outputs, bool is_rehearsed);

/// Worst times of some runs of the steps, on the calling thread: of the pictures, rehearsed, and of
/// outputs that are zero. Precondition: there is an application.
explore::StepTimes times_of_steps(const GroupSteps& steps);

}  // namespace millrace::product
