#pragma once
// What was asked of a dataflow graph, for people and for programs.
#include <string>

#include "dataflow/answers.h"

namespace millrace::report {

std::string answers_text(const dataflow::Sdf3File& file, const dataflow::Answers& answers);
std::string answers_json(const dataflow::Sdf3File& file, const dataflow::Answers& answers);

}  // namespace millrace::report
