#pragma once
// Whether a plug-in runs layers on a device: each question is asked once.
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/verdict.h"
#include "engine/plugin/instance.h"
#include "engine/plugin/subnet_view.h"

namespace millrace::engine::plugin {

/// "operator", "attribute", ...; empty for a number that is no reason.
std::string word_of_reason(std::int32_t reason);

/// Thread-safe.
class Questions {
 public:
  explicit Questions(std::shared_ptr<const Instance> instance) : instance_(std::move(instance)) {}
  /// EngineError if the plug-in fails, hangs or gives no reason.
  Verdict can_run(const PluginDevice& device, const Shown& shown);

 private:
  Verdict ask(const PluginDevice& device, std::shared_ptr<const SubnetView> view) const;

  std::shared_ptr<const Instance> instance_;  // sharers: the engine, its subnets
  std::mutex mutex_;
  std::map<std::string, Verdict> answers_;
};

}  // namespace millrace::engine::plugin
