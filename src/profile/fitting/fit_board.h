#pragma once
// A board file whose model of times agrees with what is known.
#include <functional>
#include <string>
#include <vector>

#include "profile/profile.h"

namespace millrace::profile {

struct FitOptions {
  std::string file;                 // to write; empty: no fit
  std::string board;                // whose model it is; empty: this machine, its peaks measured
  std::vector<std::string> totals;  // "gpu=7.3ms", for a board that is not at hand
  std::vector<std::string> also;    // further models that are measured
};

/// From published totals of the network in the precision, without measuring anything.
board::Board fit_to_totals(const FitOptions& options, const network::Network& network,
                   board::Precision precision);

/// From measured profiles, one for each network, of processors of this machine.
struct MeasuredNetwork {
  network::Network network;
  Profile profile;
};
/// `this_machine`: with its peaks measured.
board::Board fit_to_profiles(const FitOptions& options,
                             const std::vector<MeasuredNetwork>& measured,
                             const std::function<board::Board()>& this_machine);

}  // namespace millrace::profile
