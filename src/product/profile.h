#pragma once
// Profiles: kept ones where they fit, else measured.
#include <filesystem>

#include "board/board.h"
#include "engine/engine.h"
#include "network/network.h"
#include "product/context.h"
#include "product/setup.h"
#include "profile/measure.h"

namespace millrace::product {

/// The profile in `path`, or `given`, which stands in that file beside others; InputError if it
/// does not fit. `path` empty: the one in the user's cache folder if it fits, else a measured one,
/// which is then stored; what the stored one lacks of the precisions is measured and added.
/// `fresh`: measure in any case. The result has the precisions asked for, and may have others.
struct ProfileSource {
  std::filesystem::path path;
  const profile::Profile* given = nullptr;  // borrowed
  bool fresh = false;
  profile::MeasureOptions measure;
  bool batches = false;  // also what layers gain by working on several frames at once
  millrace::Context context = {};  // without the cache: measured in any case, and not stored
  bool quick = false;    // kept apart from those that plans are made from
};
profile::Profile load_profile(const network::Network& network, const board::Board& board,
                              engine::Engine& engine, const ProfileSource& source);

/// The engines with which the profile was measured, if the setup names none and these can all start
/// here; else engine_of(setup).
std::string engine_of(const Setup& setup, const profile::Profile& measured);

}  // namespace millrace::product
