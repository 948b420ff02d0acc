#pragma once
// Plans that take over when boards are lost; they stand in the file of the first plan.
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "plan/plan_file.h"

namespace millrace::plan {

struct Takeover {
  std::vector<std::string> without;  // the boards that it does not use, ascending
  PlanFile file;
};

/// As write_plan().
void write_plan(const std::filesystem::path& path, const PlanOf& first,
                std::span<const Takeover> takeovers);

/// In the order in which they were written; none: the file has none. As read_plan().
std::vector<Takeover> read_takeovers(const std::filesystem::path& path,
                                     const network::Network& network);

/// The first that does without all of them; null: there is none.
const Takeover* takeover_without(std::span<const Takeover> takeovers,
                                 const std::vector<std::string>& lost);

}  // namespace millrace::plan
