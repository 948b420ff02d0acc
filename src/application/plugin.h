#pragma once
// Processings from shared libraries: docs/detectors.md has a whole example.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "application/processing.h"

namespace millrace::application {

/// Changes with every change of what plug-ins see: this file, processing.h and what it includes.
inline constexpr std::uint32_t plugin_interface = 4;

/// What a plug-in's function gives a pointer to: `millrace_plugin`, extern "C" and without
/// parameters; examples/plugin has one. The first member is read before anything else is touched,
/// and stays what and where it is.
struct Plugin {
  std::uint32_t interface = plugin_interface;  // that it was built with
  void (*add)(Registry& registry) = nullptr;   // adds its processings
};

/// The libraries of an application, and what they offer. What was made from the registry must be
/// gone before this is.
class Plugins {
 public:
  Plugins() = default;
  Plugins(const Plugins&) = delete;
  Plugins& operator=(const Plugins&) = delete;

  /// InputError naming the path if it is no library, has no function `millrace_plugin` or was built
  /// for another interface, or if what it adds is refused. What it adds is checked_processing().
  void load(const std::filesystem::path& path);
  const Registry& registry() const { return registry_; }

 private:
  struct Close {
    void operator()(void* library) const;
  };
  std::vector<std::unique_ptr<void, Close>> libraries_;  // gone after the registry
  Registry registry_;
};

}  // namespace millrace::application
