#pragma once
// No exception of OpenVINO leaves the engine as it is.
#include <exception>
#include <string>

#include "base/error.h"

namespace millrace::engine::openvino {

/// The last line of what OpenVINO says: those before name its sources.
std::string reason_of(const std::exception& error);

/// What the work gives; what OpenVINO throws as an EngineError that begins with the place.
template <class Work>
auto guarded(const std::string& place, const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const InputError&) {
    throw;
  } catch (const EngineError&) {
    throw;
  } catch (const std::exception& error) {
    throw EngineError(place + ": OpenVINO reports '" + reason_of(error) + "'");
  }
}

}  // namespace millrace::engine::openvino
