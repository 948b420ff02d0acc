#pragma once
// What was found in a frame, in a few words for people.
#include <cstdint>
#include <string>
#include <vector>

#include "application/sink.h"

namespace millrace::application {

/// Its label; "class 3" if it has none.
std::string class_name(std::int64_t label, const std::vector<std::string>& labels);

/// "street.jpg: 2 x person, 1 x dog" without the end of the line: counts of boxes, the first
/// classes, or the text that was read.
std::string summary_line(const Outcome& outcome, const Labels& labels);

}  // namespace millrace::application
