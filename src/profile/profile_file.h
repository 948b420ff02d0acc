#pragma once
// Profiles on disk: schemas/profile.schema.json.
#include <filesystem>

#include "base/json.h"
#include "base/verdict.h"
#include "profile/measure.h"
#include "profile/profile.h"

namespace millrace::profile {

/// As in the file.
nlohmann::json to_json(const Profile& profile);
nlohmann::json to_json(const Statistics& statistics);

void write_profile(const std::filesystem::path& path, const Profile& profile);
/// InputError naming file and field.
Profile read_profile(const std::filesystem::path& path);
/// The same inside another file.
Profile profile_in(const JsonView& view);
Statistics statistics_in(const JsonView& view);

/// Nanoseconds, at most so many that no sum overflows. InputError with the place.
Time time_in(const JsonView& view);

/// Whether the profile was measured for this network, these processors and this engine; else what
/// differs. `network_hash` from network::hash_of.
struct ProfileKey {
  std::string network_hash;
  const board::Board* board = nullptr;
  std::string engine, engine_version;
};
Verdict fits(const Profile& profile, const ProfileKey& key);

/// Precisions asked for in which a processor was not measured, or was measured under another bound
/// on the error.
std::vector<board::Precision> missing(const Profile& profile, const board::Board& board,
                                      const MeasureOptions& options);

}  // namespace millrace::profile
