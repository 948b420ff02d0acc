#include "product/deployment/deliveries.h"

#include <exception>
#include <filesystem>
#include <utility>

#include "analysis/responses.h"
#include "base/error.h"
#include "base/file.h"

namespace millrace::product {
namespace {

namespace fs = std::filesystem;
using application::Output;

bool is_empty(const Output& output) {
  return output.json.empty() && output.images.empty() && output.video.empty() &&
         output.maps.empty();
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder))
    throw InputError(folder.string(), "cannot be made as a folder for results");
}

}  // namespace

Output Deliveries::output_of(const application::Application& application,
                             const std::string& group) const {
  Output output = application.output;
  if (request_.folder.empty()) return output;
  if (group.find('/') != std::string::npos)
    throw InputError("group '" + group + "'",
                     "its results cannot have its name, which has a '/'; name it otherwise");
  const fs::path folder = request_.folder;
  if (is_empty(output)) {
    make_folder(folder);
    output.json = (folder / (group + ".jsonl")).string();
    return output;
  }
  make_folder(folder / group);
  for (std::string* const path : {&output.json, &output.images, &output.video, &output.maps})
    if (!path->empty() && *path != standard_output) *path = (folder / group / *path).string();
  return output;
}

void Deliveries::add_group(LoadedDeployment& loaded, std::size_t group) {
  auto ends = request_.ends(loaded, group);
  by_group_.push_back(nullptr);
  loaded.live.push_back(nullptr);
  if (!ends) return;
  const auto* const of = loaded.steps[group].application.get();
  application::DeliveryOptions options{loaded.deployment.system.groups[group].name, ends->policy};
  options.take = std::move(ends->take);
  options.observer = request_.observer;
  options.note = [context = request_.context](const std::string& text) { context.note(text); };
  if (of != nullptr && (!request_.folder.empty() || request_.writes_named)) {
    options.output = output_of(of->application, options.group);
    options.writes = !is_empty(options.output);
    application::Application written = of->application;
    written.output = options.output;
    std::string lines;
    for (Output output : outputs_by_input(written)) {
      if (output.json == standard_output) output.json.clear();
      // The lines of all inputs go to one place.
      if (output.json == std::exchange(lines, output.json)) output.json.clear();
      request_.read.refuse(output);
    }
  }
  deliveries_.push_back(
      std::make_unique<application::Delivery>(of, loaded.networks[group], std::move(options)));
  by_group_.back() = deliveries_.back().get();
  loaded.live.back() = deliveries_.back()->feed();
}

void Deliveries::add(LoadedDeployment& loaded, const deployment::Deployment& all) {
  loaded.live.clear();
  for (const GroupSteps& steps : loaded.steps)
    if (steps.application) request_.read.add(steps.application->application);
  for (std::size_t g = 0; g < loaded.steps.size(); ++g) add_group(loaded, g);
  if (loaded.edges) {
    for (std::size_t g = 0; g < loaded.live.size(); ++g)
      loaded.live[g] = loaded.edges->around(g, loaded.live[g]);
    edges_.push_back(loaded.edges.get());
  }
  set_bounds(all, loaded.board);
}

void Deliveries::keep_first(std::size_t groups) { by_group_.resize(groups); }

void Deliveries::set_bounds(const deployment::Deployment& all, const board::Board& board) {
  bounds_.assign(by_group_.size(), {});
  for (std::size_t s = 0; s < all.system.scenarios.size(); ++s)
    for (std::int64_t level = 0; level < all.system.levels; ++level) {
      const auto of = analysis::response_bounds(all, board, {system::ScenarioId(s), level});
      for (std::size_t g = 0; g < bounds_.size(); ++g) bounds_[g].push_back(of[g]);
    }
  for (std::size_t g = 0; g < bounds_.size(); ++g)
    if (by_group_[g] != nullptr) by_group_[g]->set_bounds(bounds_[g]);
}

application::DeploymentAtWork Deliveries::at_work(const deployment::Deployment& all,
                                                  const runtime::Controller& controller) const {
  application::DeploymentAtWork work{all.system.name, controller};
  for (std::size_t g = 0; g < all.system.groups.size(); ++g) {
    work.groups.push_back({all.system.groups[g].name});
    if (g >= by_group_.size()) continue;
    work.groups.back().delivery = by_group_[g];
    work.groups.back().bounds = bounds_[g];
  }
  return work;
}

void Deliveries::begin() {
  for (application::GroupEdges* const each : edges_) each->begin();
  for (; begun_ < deliveries_.size(); ++begun_) deliveries_[begun_]->begin();
}

void Deliveries::close() {
  for (const auto& delivery : deliveries_) delivery->close();
}

std::vector<std::map<std::size_t, application::ChainTimes>> Deliveries::chain_times() const {
  if (edges_.empty()) return {};
  return edges_.front()->times();
}

std::vector<application::DeliveryTotals> Deliveries::finish() {
  std::vector<application::DeliveryTotals> totals;
  std::exception_ptr first;
  for (const auto& delivery : deliveries_) {
    try {
      totals.push_back(delivery->finish());
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
  return totals;
}

}  // namespace millrace::product
