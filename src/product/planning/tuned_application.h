#pragma once
// An application with what a search found for it: docs/methods/search.md.
#include <filesystem>
#include <string>

#include "product/planning/make_plan.h"

namespace millrace::product {

/// Where the plan lies, and where the application is to lie.
struct TunedFiles {
  std::string plan, application;
};

/// The application of the request as its file has it, but with the plan, the threads of pre- and
/// post-processing, and the size and shapes (batch) that were planned. Says that it was written.
void write_tuned_application(const PlanRequest& request, const PlanResult& result,
                             const TunedFiles& files);

/// Before the work: InputError if there is no application, no plan file, or it would be written to
/// another folder, where its paths would mean other files, or over the application itself.
void check_tuned_application(const PlanRequest& request, const TunedFiles& files);

}  // namespace millrace::product
