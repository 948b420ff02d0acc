#pragma once
// What was asked of a dataflow graph, for people and for programs.
#include <string>
#include <vector>

#include "dataflow/answers.h"

namespace millrace::present {

std::string answers_text(const dataflow::Sdf3File& file, const dataflow::Answers& answers);
std::string answers_json(const dataflow::Sdf3File& file, const dataflow::Answers& answers);

/// A sentence for each part that no channel connects with the first.
std::vector<std::string> unconnected_parts(const dataflow::Graph& graph);

}  // namespace millrace::present
