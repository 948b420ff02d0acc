#pragma once
// A model's layers, measured or modelled, and boards that are fitted to them.
#include <optional>
#include <string>
#include <vector>

#include "product/setup.h"
#include "profile/fitting/fit_board.h"
#include "profile/profile.h"

namespace millrace::product {

struct ProfileRequest {
  Setup setup;
  VariantOptions variants = {};
  profile::FitOptions fit = {};       // its board: modelled times, unless a file is fitted
  std::string output = {};   // a file for the profile; empty: none
  std::string subnet = {};   // "FIRST:LAST": these layers as one piece, and nothing else
  int warmup = 2, least = 10;  // runs
  double duration_s = 0.5;     // for each processor, at least
  bool fresh = false, batches = false;
};

struct RangeTimes {
  std::string processor;
  profile::Statistics times;
};

struct ProfileResult {
  std::optional<profile::Profile> profile = {};  // not of a subnet, nor of published times
  std::vector<RangeTimes> subnet = {};
  std::size_t subnet_layers = 0;
  std::optional<board::Board> fitted = {};  // as it was written
};

/// Writes the files that the request names. InputError if one of them is read too.
ProfileResult profile_model(const ProfileRequest& request);

}  // namespace millrace::product
