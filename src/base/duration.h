#pragma once
// Lengths of time, as people write them.
#include <string>

#include "base/units.h"

namespace millrace {

/// "100ms", "0.5s", "250us"; more than 0. InputError naming `place`.
Time read_duration(const std::string& text, const std::string& place);

}  // namespace millrace
