#pragma once
// Applications (.yaml) for the verbs that take models: docs/applications.md.
#include <memory>
#include <string>
#include <vector>

#include "api/loaded.h"
#include "application/accuracy/truth.h"
#include "application/plugin.h"
#include "application/processing.h"
#include "application/run.h"

namespace millrace::api {

struct ApplicationOptions {
  std::string plan;                  // made with `millrace plan APPLICATION`; empty: one processor
  std::vector<std::string> plugins;  // beside those of the file
  std::int64_t frames = 0;           // at most; 0: what the file says
  std::string labels_from = {};      // ground truth, a file or folder; empty: none
};

/// InputError if any of them is given, as `model` is no application.
void refuse_application_options(const ApplicationOptions& options, const std::string& model);

/// If the source is an application, its network and precisions take its place, where nothing else
/// was said.
void use_network_of_application(Setup& setup, VariantOptions& variants);

/// An application and all that it needs to run. Stays where it is: the processings borrow.
struct LoadedApplication {
  application::Application application;
  application::Plugins plugins;
  std::unique_ptr<Loaded> loaded;
  std::unique_ptr<application::Processing> before, after;  // of plug-ins too, so gone before them
  std::optional<application::GroundTruth> truth = {};
  std::unique_ptr<application::Processing> after_for_truth = {};  // if there is any

  std::int64_t batch = 1;  // pictures that the network takes at once
  std::unique_ptr<const network::Network> of_one =
      {};  // as it is for one picture, if it takes more

  /// What sources and processings see.
  const network::Network& network() const { return of_one ? *of_one : loaded->network; }
  application::Parts parts(application::Source& source) const {
    return {&source, before.get(), after.get(), {}, batch};
  }
  /// Of a run whose findings are compared with the ground truth, if there is any.
  application::Parts parts_for_truth(application::Source& source) const {
    return {&source, before.get(), truth ? after_for_truth.get() : after.get(), {}, batch};
  }
};

std::unique_ptr<LoadedApplication> load_application(const RunnableOptions& runnable,
                                                    const ApplicationOptions& options);

/// The same without board, engine and plan, for a network that is open already.
std::unique_ptr<LoadedApplication> load_processing(const std::string& file,
                                                   const ApplicationOptions& options,
                                                   const network::Network& network);

}  // namespace millrace::api
