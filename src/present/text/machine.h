#pragma once
// Boards and this machine, for people.
#include <optional>
#include <string>

#include "product/engines.h"

namespace millrace::present {

/// This machine, with its engines and the devices that they reach, and with its peaks if they were
/// measured.
std::string machine_text(const board::Board& board,
                         const std::optional<product::MeasuredPeaks>& measured,
                         const product::Context& context);
/// The shipped ones.
std::string boards_text();

}  // namespace millrace::present
