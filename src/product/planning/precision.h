#pragma once
// Lower precisions within a budget for the loss of accuracy: what `plan --max-loss` decides.
#include <optional>
#include <string>
#include <vector>

#include "application/frames/frames.h"
#include "explore/precision/precision.h"
#include "network/calibration.h"
#include "product/application/samples.h"
#include "product/context.h"
#include "profile/profile.h"

namespace millrace::product {

struct LossOptions {
  std::string max_loss;     // "1%"; empty: no budget
  std::string calibration;  // a table; empty: made from the frames, if int8 may be used
  application::FrameOptions frames;
  ApplicationFrameOptions application = {};  // whose measure counts; its file is the source's

  bool names_ranges() const { return !calibration.empty() || !frames.inputs.empty(); }
  /// Whether something is measured on frames.
  bool has_frames(const std::vector<board::Precision>& precisions) const;
};

/// Whether the options fit each other and the precisions; InputError says which does not.
void check_loss(const LossOptions& options, const std::vector<board::Precision>& precisions);

/// Who is asked, and for what.
struct PrecisionRequest {
  const network::Network* network = nullptr;  // borrowed, like all that follows
  engine::Engine* engine = nullptr;
  const board::Board* board = nullptr;
  std::vector<board::Precision> precisions;
  const LossOptions* options = nullptr;
  std::uint64_t seed = 1;
  Context context = {};
  const ApplicationSamples* samples = nullptr;  // null: the frames are not an application's
  bool is_here = true;  // the board; else this machine makes the ranges
};

/// The frames of the application, if it has any part in this.
std::unique_ptr<ApplicationSamples> samples_for(const PrecisionRequest& request);

/// The ranges for int8: the table if one is named, else from the frames; none if int8 may not be
/// used. InputError if the table does not fit.
std::optional<network::Calibration> calibration_for(const PrecisionRequest& request);

/// The choice for all layers, within the budget if there is one that is.
explore::PrecisionChoice choose_precisions(const PrecisionRequest& request,
                                           const profile::Profile& measured,
                                           const network::Calibration* calibration);

/// With each layer as the first processor runs it in this profile. None if the options name no
/// frames, or if all layers run in float32.
std::optional<profile::Loss> measured_loss(const PrecisionRequest& request,
                                           const profile::Profile& chosen,
                                           const network::Calibration* calibration);

/// One sentence if the choice is not within the budget: what to do.
std::string missed_budget_text(const PrecisionRequest& request,
                               const explore::PrecisionChoice& choice);

}  // namespace millrace::product
