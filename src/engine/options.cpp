#include "engine/options.h"

#include "base/error.h"

namespace millrace::engine {

void refuse_settings(const EngineOptions& options, const std::string& engine) {
  const auto found = options.settings.find(engine);
  if (found == options.settings.end() || found->second.empty()) return;
  throw InputError("⟨engine_option⟩ " + engine + "." + found->second.begin()->first,
                   "the engine has no options; leave it out");
}

}  // namespace millrace::engine
