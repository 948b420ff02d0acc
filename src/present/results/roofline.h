#pragma once
// How far stages are from the limit: docs/methods/roofline.md.
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "board/board.h"
#include "board/peaks.h"
#include "profile/views/roofline.h"

namespace millrace::present {

std::string peaks_text(const std::vector<board::Processor>& processors,
                       const std::vector<board::Peaks>& peaks);
std::string rooflines_text(const profile::Rooflines& rooflines);

nlohmann::json peaks_json(const board::Peaks& peaks);
nlohmann::json rooflines_json(const profile::Rooflines& rooflines);

}  // namespace millrace::present
