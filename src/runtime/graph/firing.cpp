#include "runtime/graph/firing.h"

#include <algorithm>

#include "base/error.h"

namespace millrace::runtime {

void fire_named(const Fire& fire, const Firing& firing, const std::string& what) {
  try {
    fire(firing);
  } catch (const InputError& error) {
    throw InputError(what, error.what());
  } catch (const std::exception& error) {
    throw EngineError(what + ": " + error.what());
  } catch (...) {
    throw EngineError(what + ": threw something that is no std::exception");
  }
}

bool has_only_empty_inputs(const Firing& firing) {
  return !firing.filled_inputs.empty() &&
         std::ranges::all_of(firing.filled_inputs, [](std::span<const std::uint8_t> tokens) {
           return std::ranges::all_of(tokens, [](std::uint8_t token) { return token == 0; });
         });
}

void leave_outputs_empty(const Firing& firing) {
  for (const std::span<std::uint8_t> tokens : firing.filled_outputs)
    std::ranges::fill(tokens, std::uint8_t{0});
}

}  // namespace millrace::runtime
