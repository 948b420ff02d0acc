#include "present/text/candidates.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/steps.h"
#include "present/text/table.h"

namespace millrace::present {
namespace {

std::string nanoseconds_text(double ns) {
  return millrace::to_text(Time(static_cast<std::int64_t>(ns)));
}

bool has_period(const explore::Candidate& c) { return c.evidence.period != Time{}; }

/// Predicted among measured ones: with a mark.
std::string marked_rate_text(const explore::Candidate& c, bool has_measured) {
  const Time period = has_period(c) ? c.evidence.period : explore::predicted_period(c);
  return (has_measured && !has_period(c) ? "~" : "") + four_digits(1 / seconds(period));
}

std::vector<std::string> cells_of(const explore::Candidate& c, double lower_bound,
                                  bool has_measured) {
  return {c.name,
          nanoseconds_text(c.search.bottleneck),
          fmt::format("{:.1f} %", 100 * (c.search.bottleneck / lower_bound - 1)),
          millrace::to_text(c.bound),
          has_period(c) ? millrace::to_text(c.evidence.period) : "-",
          marked_rate_text(c, has_measured),
          std::to_string(plan::actors_in(c.plan)),
          std::to_string(plan::phases_in(c.plan)),
          millrace::to_text(c.search_time),
          c.search.epochs > 0 ? std::to_string(c.search.epochs) : ""};
}

}  // namespace

std::string candidates_text(const explore::Choice& choice) {
  constexpr std::ptrdiff_t place = 6;
  const bool timed = choice.winner().latency != Time{};
  std::vector<Table::Column> columns{{"search", Align::left},
                                     {"slowest stage"},
                                     {"above lower bound"},
                                     {"per frame: predicted"},
                                     {"measured"},
                                     {"frames/s"},
                                     {"stages"},
                                     {"phases"},
                                     {"search time"},
                                     {"epochs"}};
  if (timed) columns.insert(columns.begin() + place, {"latency"});
  Table table(columns);
  const auto& all = choice.candidates;
  const bool has_measured = std::ranges::any_of(all, has_period);
  for (const explore::Candidate& c : all) {
    std::vector<std::string> cells = cells_of(c, choice.lower_bound, has_measured);
    if (timed) cells.insert(cells.begin() + place, millrace::to_text(c.latency));
    table.add(std::move(cells));
  }
  return table.text() +
         (has_measured && !std::ranges::all_of(all, has_period)
              ? "~: predicted, the others are measured\n"
              : "") +
         fmt::format("lower bound: no mapping has a slowest stage below {}\n",
                     nanoseconds_text(choice.lower_bound));
}

}  // namespace millrace::present
