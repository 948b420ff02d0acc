#pragma once
// Releases that were recorded: when frames of which group came, to be simulated, run and analysed.
#include <filesystem>
#include <string>
#include <vector>

#include "system/system.h"

namespace millrace::deployment {

/// By GroupId, each ascending, from the begin of the record. Empty: the group is not in it.
using RecordedReleases = std::vector<std::vector<Time>>;

/// Reads three forms: lines "TIME_S GROUP", with '#' before what is no more read; a trace that
/// `run` or `bench` wrote; or ROS 2's tracing as text: see ros_trace.h. InputError names the line.
RecordedReleases read_recorded(const std::filesystem::path& path, const system::System& system);

/// The system whose groups come as recorded: at all levels with the period, jitter and least
/// distance that bound what was recorded, and with the deadline that they had. A group with fewer
/// than two releases stays as it is.
system::System with_recorded_events(system::System system, const RecordedReleases& recorded);

/// Sentences: for each group what was recorded; and where it breaks the group's own events at the
/// highest level, so that bounds need not hold.
std::vector<std::string> recorded_texts(const system::System& system,
                                        const RecordedReleases& recorded);

}  // namespace millrace::deployment
