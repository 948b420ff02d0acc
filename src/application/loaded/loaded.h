#pragma once
// An application and all that it needs to run.
#include <cstdint>
#include <memory>
#include <optional>

#include "application/accuracy/truth.h"
#include "application/application.h"
#include "application/plugin.h"
#include "application/processing.h"
#include "application/run.h"
#include "network/network.h"
#include "runtime/loaded/loaded.h"

namespace millrace::application {

/// Stays where it is: the processings borrow.
struct LoadedApplication {
  Application application;
  Plugins plugins;
  std::unique_ptr<runtime::Loaded> loaded;
  std::unique_ptr<Processing> before, after;  // of plug-ins too, so gone before them
  std::optional<GroundTruth> truth = {};
  std::unique_ptr<Processing> after_for_truth = {};  // if there is any

  std::int64_t batch = 1;  // pictures that the network takes at once
  std::unique_ptr<const network::Network> of_one =
      {};  // as it is for one picture, if it takes more
  /// The second network of an application with crops; it has no source. None: there are no crops.
  std::unique_ptr<LoadedApplication> of_crops = {};

  /// What sources and processings see.
  const network::Network& network() const { return of_one ? *of_one : loaded->network; }
  Parts parts(Source& source) const {
    return {&source, before.get(), after.get(), {}, batch};
  }
  /// Parts of a run whose findings are compared with the ground truth, if there is any.
  Parts parts_for_truth(Source& source) const {
    return {&source, before.get(), truth ? after_for_truth.get() : after.get(), {}, batch};
  }
};

}  // namespace millrace::application
