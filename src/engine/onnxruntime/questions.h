#pragma once
// Whether a provider runs a layer: a session of the layer alone answers.
#include <map>
#include <mutex>
#include <string>

#include "base/verdict.h"
#include "engine/onnxruntime/session.h"
#include "network/network.h"

namespace millrace::engine::onnxruntime {

/// Layers of the same operator, attributes, shapes and types have one answer. Thread-safe.
class Questions {
 public:
  Verdict can_run(const Provider& provider, const network::Network& network, LayerId layer,
                  const board::Processor& processor);
  /// Layers that run alone, in one piece: what surrounds a layer may need another form of it.
  Verdict can_run_together(const Provider& provider, const SessionPart& part,
                           const board::Processor& processor);

 private:
  Verdict answer(const Provider& provider, const SessionPart& part,
                 const board::Processor& processor);

  std::mutex mutex_;
  std::map<std::string, Verdict> answers_;
};

}  // namespace millrace::engine::onnxruntime
