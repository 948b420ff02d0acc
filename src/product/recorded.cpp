#include "product/recorded.h"

#include "base/error.h"

namespace millrace::product {

Recorded read_recorded(const std::string& file, const plan::Plan& plan) {
  const Trace trace = read_chrome_trace(file);
  try {
    Recorded recorded;
    recorded.firings = simulate::recording_of(trace, plan);
    recorded.means = simulate::mean_durations(recorded.firings, plan);
    recorded.result = simulate::result_of(trace, plan);
    return recorded;
  } catch (const InputError& error) {
    throw InputError(file, error.what());
  }
}

}  // namespace millrace::product
