#pragma once
// Applications on what they name.
#include <functional>
#include <optional>
#include <string>

#include "application/accuracy/accuracy.h"
#include "application/live/observer.h"
#include "application/run.h"
#include "product/application/load.h"
#include "product/loaded.h"

namespace millrace::product {

struct ApplicationRun {
  std::string json;  // a file in place of the application's own output; empty: that
  TraceOptions trace = {};
  /// Called after an interrupt if frames hang in somebody else's code, whose threads cannot be
  /// joined: ends the process. What came out until then is kept, unless it `failed`.
  std::function<void(const std::string& text, bool failed)> leave;
  std::function<void(const std::string&)> line = {};  // hears of each frame in a few words
  application::Observer* observer = nullptr;          // borrowed; null: nobody
  /// Whether the application's file is to be read again: asked now and then. Frames from the next
  /// one on are for what it says then, and none is lost; its input and output stay.
  std::function<bool()> wants_reload = {};
};

struct ApplicationTotals {
  application::Totals totals;
  std::int64_t skipped = 0;  // pictures that cannot be decoded
  bool is_live = false;
  bool has_crops = false;
  std::string nan_layer = {};  // made NaN of numbers, as far as the run noticed; empty: none
  std::optional<application::Accuracy> accuracy = {};  // if there is ground truth
};

/// All frames once; their results go where the application says. InputError or EngineError, as
/// application::Totals::complaint says, by check_complaint; EngineError if it is interrupted.
ApplicationTotals run_application(const RunnableOptions& runnable,
                                  const ApplicationOptions& options, const ApplicationRun& how);
/// Throws what a source or a processing complained of.
void check_complaint(const application::Totals& totals);

}  // namespace millrace::product
