#pragma once
// The plan of a network: measured, searched, proved, measured again.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "application/application.h"
#include "explore/choose.h"
#include "explore/configuration/search.h"
#include "explore/together.h"
#include "explore/why.h"
#include "plan/plan.h"
#include "plan/plan_file.h"
#include "plan/takeovers.h"
#include "product/planning/precision.h"
#include "product/setup.h"

namespace millrace::product {

struct PlanRequest {
  Setup setup;  // its source may be an application, whose network is planned
  VariantOptions variants = {};
  LossOptions loss = {};
  std::string board = {};    // another one than this machine, with modelled times; empty: this
  std::string limits = {};   // a board file, whose limits hold here
  std::string profile = {};  // a file in place of the kept or measured profile
  int streams = 1;           // of a stage on one processor, at most
  explore::SearchOptions search = {};
  application::ByHand by_hand = {};  // instead of a search, if it is given
  explore::GeneticOptions genetic = {};
  double measure_s = 0.5;  // of each candidate; 0: the predictions decide
  std::optional<Time> max_latency = {};
  std::int64_t max_batch = 16;                  // with a largest latency
  std::optional<Bytes> max_memory = {};         // of the slots; none: the usual
  std::optional<double> max_board_energy = {};  // of a frame on one board, in millijoules
  std::vector<std::string> why = {};            // layers whose place is to be explained
  /// Their network is planned with the first one. Taken from the application's file.
  std::optional<application::Crops> crops = {};
};

/// One search; the last of them decides.
struct PlanAttempt {
  std::optional<explore::PrecisionChoice> precisions = {};  // if there is a budget for the loss
  std::optional<profile::Loss> loss = {};                   // if there are frames and no budget
  std::optional<explore::Choice> choice = {};  // none: no precisions are within the budget
  /// The choice for both networks, if there are crops; `choice` is the first one's part of it.
  std::optional<explore::SharedChoice> shared = {};
};

/// The second network of an application with crops, planned for the same processors.
struct PlannedCrops {
  network::Network network;
  plan::PlanFile file;
  std::int64_t most = 1, runs = 1;  // crops of a frame; as often the network runs for them
  Time bound{}, period{};  // between two frames of the application: predicted; measured, or 0
};

struct PlanResult {
  network::Network network;
  board::Board board;
  std::string engine;
  std::vector<PlanAttempt> attempts;
  std::string refusal;  // why there is no plan: one sentence; empty: there is one
  plan::PlanFile file;
  profile::Profile measured;  // in all precisions asked for
  std::vector<explore::LayerReasons> why;
  std::optional<PlannedCrops> crops = {};
  std::vector<plan::Takeover> takeovers = {};  // for boards that may be lost

  const explore::Choice& choice() const { return *attempts.back().choice; }
};

/// InputError if the request contradicts itself, or nothing can run.
PlanResult make_plan(const PlanRequest& request);

/// Before the work whose result would be lost: InputError if `output` is no place for its plan,
/// or `application` none for an application. Empty: it is not written.
void check_plan_output(const PlanRequest& request, const std::string& output,
                       const std::string& application = "");

}  // namespace millrace::product
