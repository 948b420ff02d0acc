#pragma once
// A plug-in under test, in the child process: its functions are called directly.
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/plugin/check/cases.h"
#include "engine/plugin/check/child.h"
#include "engine/plugin/instance.h"
#include "engine/plugin/subnet_view.h"

namespace millrace::engine::plugin::check {

struct Tested {
  std::filesystem::path file;
  std::map<std::string, std::string> settings;  // of the user
};

std::shared_ptr<const Instance> open(const Tested& tested);

/// The whole network of a case, as the device sees it. Borrows the case.
SubnetView view_of(const Case& test, const PluginDevice& device, const Instance& instance);

struct Answer {
  std::int32_t reason = millrace_runs;
  std::size_t node = 0;
  std::string text;
  bool operator==(const Answer&) const = default;
};
/// EngineError if the call fails.
Answer ask(const Instance& instance, const PluginDevice& device, const SubnetView& view);

using Results = std::vector<network::Array>;

/// What MillraceRun::done was told. It may be called at any time, also when this is gone.
class Events {
 public:
  Events();
  ~Events();
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  void* user() const;
  int count() const;
  /// Waits until there are more than so many. What the last one said.
  std::int32_t wait_after(int count) const;
  static void done(void* user, std::int32_t failed);

 private:
  std::uintptr_t number_;
};

/// A loaded case. EngineError if the plug-in fails.
class Program {
 public:
  Program(const Instance& instance, const PluginDevice& device, const Case& test);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// What is wrong with the outputs that it announced; empty: nothing.
  std::string wrong_shapes() const;
  /// Writes the outputs into memory of this object, which later calls reuse.
  void run(const std::vector<network::Array>& inputs, MillraceLayerTime* times = nullptr);
  /// A copy of what the memory holds now.
  Results results() const;
  /// How often more than once for a run the device said that it was done.
  int events_too_many();
  /// Whether something was written around the outputs.
  bool wrote_beyond() const;
  std::size_t told_bytes() const { return loading_.weight_bytes + loading_.working_bytes; }
  /// What this object itself holds for it.
  std::size_t own_bytes() const;

 private:
  void load();
  void place_buffers();
  void run_until_done(MillraceRun& run);

  const Instance& instance_;
  const PluginDevice& device_;
  const network::Network& network_;
  std::optional<SubnetView> view_;
  void* blob_ = nullptr;
  MillraceLoading loading_{};
  std::vector<network::Buffer> guarded_;          // outputs with a margin on both sides
  std::vector<MillraceBuffer> inputs_, outputs_;  // as run() gets them
  Events events_;
  int runs_ = 0;  // that were done
};

}  // namespace millrace::engine::plugin::check
