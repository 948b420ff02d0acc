#pragma once
// Boards, this machine, and what is kept or written on it, for people and for programs:
// schemas/board_report.schema.json, boards.schema.json, cache.schema.json and bundle.schema.json.
#include <optional>
#include <string>

#include "product/cache.h"
#include "product/engines.h"
#include "product/planning/bundle.h"

namespace millrace::present {

/// Another board.
std::string board_json(const board::Board& board);

/// This machine, with its engines and the devices that they reach, and with its peaks if they were
/// measured.
std::string machine_text(const board::Board& board,
                         const std::optional<product::MeasuredPeaks>& measured,
                         const product::Context& context);
std::string machine_json(const board::Board& board,
                         const std::optional<product::MeasuredPeaks>& measured,
                         const product::Context& context);

/// The shipped ones.
std::string boards_text();
std::string boards_json();

/// `cleared`: null where nothing was to go.
std::string cache_json(const product::CacheContents& cache, const product::ClearedCache* cleared);
std::string bundle_json(const std::string& folder, const product::Bundle& bundle);

}  // namespace millrace::present
