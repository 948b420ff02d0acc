#include <condition_variable>
#include <map>
#include <mutex>

#include "engine/plugin/check/subject.h"

namespace millrace::engine::plugin::check {
namespace {

/// By the number that stands in for an address: those that are gone are told nothing.
struct AllEvents {
  struct Told {
    int count = 0;
    std::int32_t failed = 0;
  };
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::uintptr_t, Told> by_number;
  std::uintptr_t last = 0;
};

/// Never destroyed: threads of a plug-in may come late.
AllEvents& all_events() {
  static AllEvents& all = *new AllEvents;
  return all;
}

}  // namespace

Events::Events() {
  AllEvents& all = all_events();
  const std::lock_guard lock(all.mutex);
  number_ = ++all.last;
  all.by_number[number_] = {};
}

Events::~Events() {
  AllEvents& all = all_events();
  const std::lock_guard lock(all.mutex);
  all.by_number.erase(number_);
}

void* Events::user() const { return reinterpret_cast<void*>(number_); }

int Events::count() const {
  AllEvents& all = all_events();
  const std::lock_guard lock(all.mutex);
  return all.by_number[number_].count;
}

std::int32_t Events::wait_after(int count) const {
  AllEvents& all = all_events();
  std::unique_lock lock(all.mutex);
  all.changed.wait(lock, [&] { return all.by_number[number_].count > count; });
  return all.by_number[number_].failed;
}

void Events::done(void* user, std::int32_t failed) {
  AllEvents& all = all_events();
  const std::lock_guard lock(all.mutex);
  const auto at = all.by_number.find(reinterpret_cast<std::uintptr_t>(user));
  if (at == all.by_number.end()) return;
  ++at->second.count;
  at->second.failed = failed;
  all.changed.notify_all();
}

}  // namespace millrace::engine::plugin::check
