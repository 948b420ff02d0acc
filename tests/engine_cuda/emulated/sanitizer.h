#pragma once
// Tells the sanitizers that the stack changes; without them these functions are empty. They are
// always inlined, as the thread sanitizer would else see them end on another stack.
#include <cstddef>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EMULATED_ADDRESS_SANITIZER
#endif
#if __has_feature(thread_sanitizer)
#define EMULATED_THREAD_SANITIZER
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define EMULATED_ADDRESS_SANITIZER
#endif
#if defined(__SANITIZE_THREAD__)
#define EMULATED_THREAD_SANITIZER
#endif

#ifdef EMULATED_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef EMULATED_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace emulated {

/// What the sanitizers know of one stack.
struct SanitizedStack {
  const void* begin = nullptr;
  std::size_t bytes = 0;
  [[maybe_unused]] void* objects = nullptr;  // where the address sanitizer keeps its variables
  [[maybe_unused]] void* thread = nullptr;   // as the thread sanitizer sees it
};

[[gnu::always_inline]] inline void prepare([[maybe_unused]] SanitizedStack& stack) {
#ifdef EMULATED_THREAD_SANITIZER
  stack.thread = __tsan_create_fiber(0);
#endif
}

[[gnu::always_inline]] inline void before_change([[maybe_unused]] SanitizedStack& left,
                                                 [[maybe_unused]] const SanitizedStack& entered) {
#ifdef EMULATED_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(&left.objects, entered.begin, entered.bytes);
#endif
#ifdef EMULATED_THREAD_SANITIZER
  left.thread = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(entered.thread, 0);
#endif
}

/// Learns where the stack that was left lies.
[[gnu::always_inline]] inline void after_change([[maybe_unused]] SanitizedStack& entered,
                                                [[maybe_unused]] SanitizedStack& left) {
#ifdef EMULATED_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(entered.objects, &left.begin, &left.bytes);
#endif
}

}  // namespace emulated
