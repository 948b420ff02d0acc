#include "runtime/graph/firing.h"

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

}  // namespace millrace::runtime
