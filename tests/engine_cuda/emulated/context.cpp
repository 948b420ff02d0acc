#include "context.h"

#include <array>
#include <atomic>

#include "settings.h"
#include "status.h"

namespace emulated {
namespace {

std::atomic<bool> initialized = false;
thread_local const ContextObject* current = nullptr;

}  // namespace

int initialize() {
  if (device_count() == 0) return no_device;
  initialized = true;
  return success;
}

bool is_initialized() { return initialized; }

int check_device(int device) {
  if (!initialized) return not_initialized;
  return device >= 0 && device < device_count() ? success : invalid_device;
}

int check_context() {
  if (!initialized) return not_initialized;
  return current != nullptr ? success : invalid_context;
}

int retain_context(ContextObject** context, int device) {
  static std::array<ContextObject, 8> contexts{{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}}};
  if (const int status = check_device(device); status != success) return status;
  *context = &contexts[static_cast<std::size_t>(device)];
  return success;
}

int set_context(ContextObject* context) {
  if (!initialized) return not_initialized;
  current = context;
  return success;
}

}  // namespace emulated
