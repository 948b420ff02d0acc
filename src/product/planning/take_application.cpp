#include "product/planning/take_application.h"

#include <fmt/format.h>

#include <algorithm>

#include "application/application_file.h"
#include "base/error.h"
#include "product/application/load.h"
#include "product/planning/crops_plan.h"

namespace millrace::product {
namespace {

/// Without stages by hand their number is what the search may use.
void take_streams(PlanRequest& request) {
  auto& streams = request.by_hand.streams;
  if (request.by_hand.is_given() || streams.empty()) return;
  if (streams.size() > 1)
    throw InputError("⟨streams⟩", fmt::format("found {} numbers, but no ⟨devices⟩; give one, or "
                                              "the stages",
                                              streams.size()));
  request.streams = static_cast<int>(streams.front());
  streams.clear();
}

/// Where the options say nothing else.
void take_mapping(const application::Application& application, PlanRequest& request) {
  if (request.by_hand.is_given() || !application.mapping.is_given()) return;
  if (request.search.method != explore::SearchOptions{}.method) return;  // another is asked for
  std::vector<std::int64_t> streams = std::move(request.by_hand.streams);
  request.by_hand = application.mapping;
  if (!streams.empty()) request.by_hand.streams = std::move(streams);
  for (const board::Precision each : application.mapping.precisions)
    if (std::find(request.variants.precisions.begin(), request.variants.precisions.end(), each) ==
        request.variants.precisions.end())
      request.variants.precisions.push_back(each);
  if (request.board.empty()) request.board = application.mapping.board;
}

}  // namespace

void take_application(PlanRequest& request) {
  LossOptions& loss = request.loss;
  const std::string file = request.setup.source.file;
  if (application::is_application_file(file)) {
    loss.application.file = file;
    const application::Application application = application::read_application(file);
    take_mapping(application, request);
    request.crops = crops_to_plan(application);
  } else if (const char* given = !loss.application.labels_from.empty() ? "⟨labels_from⟩"
                                 : !loss.application.plugins.empty()   ? "⟨plugin⟩"
                                                                       : nullptr)
    throw InputError(given, "is only for applications (.yaml); leave it out");
  use_network_of_application(request.setup, request.variants);
  take_streams(request);
}

}  // namespace millrace::product
