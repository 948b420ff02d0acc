#pragma once
// What the operating system takes from real-time threads, and what it tells of it.
#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.h"
#include "base/verdict.h"

namespace millrace::runtime {

/// Keeps all pages of the process in memory, now and later, from first to last construction and
/// destruction; then no thread waits for a page.
class LockedMemory {
 public:
  LockedMemory();
  ~LockedMemory();
  LockedMemory(const LockedMemory&) = delete;
  LockedMemory& operator=(const LockedMemory&) = delete;

  /// Whether the system allowed it, or what would.
  const Verdict& verdict() const { return verdict_; }

 private:
  Verdict verdict_;
};

/// The calling thread goes before all ordinary threads of the machine while this lives, if that is
/// asked for and allowed. Threads that it starts are ordinary.
class UrgentStart {
 public:
  explicit UrgentStart(bool is_asked_for);
  ~UrgentStart();
  UrgentStart(const UrgentStart&) = delete;
  UrgentStart& operator=(const UrgentStart&) = delete;

 private:
  bool is_changed_ = false;
  int policy_before_ = 0;
};

/// Since this process was begun; in steps of 10 ms. Zero where the system does not tell.
Time age_of_this_process();

/// How long all real-time threads of a core may run in each `period`; the rest is for others.
struct Throttling {
  Time runtime{}, period{};
  double share() const { return seconds(runtime) / seconds(period); }
};

/// Nothing: there is no limit, or the system does not tell.
std::optional<Throttling> real_time_throttling();

/// What a hypervisor has taken of a core since the system began; in steps of 10 ms. Zero where the
/// kernel does not count it.
Time stolen_from(int core);
/// The same of several.
Time stolen_from(const std::vector<int>& cores);

/// The resident memory of this process.
Bytes resident_memory();

}  // namespace millrace::runtime
