#pragma once
// In what order which processors can work on a network: the mapping options of Table 3.2 of the
// thesis on JEDI, for any board.
#include <string>
#include <vector>

#include "board/board.h"

namespace millrace::explore {

/// Who runs a stage: one processor, or equal ones that take turns with whole frames.
using ProcessorGroup = std::vector<ProcessorId>;

struct MappingOption {
  std::string name;          // "A" ... "PND-B" where the thesis has one for it, else as text_of
  std::vector<ProcessorGroup> stages;  // along the network
  bool operator==(const MappingOption&) const = default;
};

/// Stages that an option has at most, and options of a board; more stages cost more than they gain.
inline constexpr std::size_t most_stages = 4, most_options = 64;

/// All sequences of up to four stages, the shortest first, where
/// - every processor works once, only an unrestricted one that works first may work last as well;
///   of two processors that are all there is, each may work twice, in turn,
/// - equal processors come in their order, alone or in groups that divide their number, all of one
///   size, as plans have them,
/// - the last stage is on an unrestricted processor: one whose SDK runs all operators, which the
///   ends of networks need.
/// For one GPU and two DLAs these are the thesis's seven.
std::vector<MappingOption> mapping_options(const board::Board& board);

/// "gpu - dla0+dla1 - gpu"
std::string text_of(const std::vector<ProcessorGroup>& stages, const board::Board& board);

}  // namespace millrace::explore
