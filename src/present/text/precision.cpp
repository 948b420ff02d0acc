#include "present/text/precision.h"

#include <fmt/format.h>

#include <algorithm>

#include "present/text/table.h"

namespace millrace::present {
namespace {

std::string hundredths_text(double share) { return fmt::format("{:.2f} %", 100 * share); }

std::string error_text(double error) { return fmt::format("{:.3g} %", 100 * error); }

std::string time_text(double ns) { return millrace::to_text(Time(static_cast<std::int64_t>(ns))); }

}  // namespace

std::string precisions_text(const network::Network& network,
                            const explore::PrecisionChoice& choice) {
  Table table({{"layer", Align::left},
               {"in", Align::left},
               {"saves"},
               {"loss"},
               {"mean error"},
               {"largest error"},
               {"taken", Align::left}});
  for (const explore::LoweringCost& cost : choice.costs) {
    const explore::Lowering& low = cost.lowering;
    table.add({network[low.layer].name, board::to_text(low.precision), time_text(low.saved_ns),
               hundredths_text(cost.loss.changed_share()), error_text(cost.loss.mean_error),
               error_text(cost.loss.largest_error),
               choice.precisions[low.layer.index] == low.precision ? "yes" : "no"});
  }
  return table.text() + fmt::format("together: saves {} per frame; {}\n",
                                    time_text(choice.saved_ns), loss_text(choice.loss));
}

std::string loss_text(const profile::Loss& loss) {
  if (loss.fall)
    return fmt::format(
        "the {} falls by {} on {} frames, {} of {} are no longer right; the outputs are off by {} "
        "on average and {} at most",
        loss.measure, hundredths_text(*loss.fall), loss.frames, loss.changed, loss.answers,
        error_text(loss.mean_error), error_text(loss.largest_error));
  return fmt::format(
      "{} of {} answers ({}) on {} frames change, the outputs are off by {} on average and {} at "
      "most",
      loss.changed, loss.answers, hundredths_text(loss.changed_share()), loss.frames,
      error_text(loss.mean_error), error_text(loss.largest_error));
}

}  // namespace millrace::present
