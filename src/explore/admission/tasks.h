#pragma once
// What is to be decided: tasks with times on all configurations.
#include <functional>

#include "base/operation/context.h"
#include "explore/admission/decide.h"
#include "profile/profile.h"

namespace millrace::explore {

/// This machine's cores, alone and all of a device together, which engines can be measured on.
Elements elements_of_this_machine(const board::Board& board);

/// How a network ran fastest, as a whole.
struct MeasuredVariant {
  VariantTime time;
  std::vector<board::Variant> layers;
};
MeasuredVariant fastest_measured(const profile::Profile& profile,
                                 const std::vector<board::Precision>& precisions);

/// What groups are asked about.
struct AdmissionQuestion {
  const AdmitOptions& options;  // borrowed, like the board
  const board::Board& board;
  std::function<const network::Network&(const system::Group&)> network_of;
  /// The times of the group's network on a board of one processor; not asked if they are modelled.
  std::function<profile::Profile(const network::Network&, const system::Group&,
                                 const board::Board&)>
      measure;
  Context context = {};
};

/// The groups asked for, behind no other tasks of the decision. InputError for what is no network
/// alone, and for times on what the board has not.
void add_tasks(const AdmissionQuestion& question, AdmitDecision& decision);

}  // namespace millrace::explore
