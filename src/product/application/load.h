#pragma once
// Applications (.yaml) for the verbs that take models: docs/applications.md.
#include <memory>
#include <string>
#include <vector>

#include "application/loaded/loaded.h"
#include "formats/darknet/darknet.h"
#include "product/loaded.h"
#include "product/setup.h"

namespace millrace::product {

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

/// With what a plan for it would be made of.
struct LoadedApplication : application::LoadedApplication {
  /// Plan of the crops' network: made with the plan of the first one, if it has one.
  std::optional<plan::PlanFile> plan_of_crops = {};
  std::optional<Setup> unplanned = {};  // of the network, if it has no plan: one processor runs it
};

std::unique_ptr<LoadedApplication> load_application(const RunnableOptions& runnable,
                                                    const ApplicationOptions& options);

/// Heads of a Darknet configuration or a network of the zoo; other files do not know them.
formats::darknet::Heads known_heads(const formats::ModelSource& model);

/// In float32 for all processors that it may use, if it has no plan.
void plan_here(LoadedApplication& application);

/// The same without board, engine and plan, for a network that is open already.
std::unique_ptr<application::LoadedApplication> load_processing(const std::string& file,
                                                   const ApplicationOptions& options,
                                                   const network::Network& network);

}  // namespace millrace::product
