// The driver's functions for devices and errors. Those of all files with such a name are calls of
// a line or two: what they do is in the other files.
#include <cstdio>

#include "context.h"
#include "memory.h"
#include "settings.h"
#include "status.h"

namespace emulated {
namespace {

constexpr char device_name[] = "Emulated GPU";
constexpr int emulated_version = 12040;  // CUDA 12.4

/// Gives one of the attributes that the engine asks for.
int attribute(int* value, int which, int device) {
  if (const int status = check_device(device); status != success) return status;
  switch (which) {
    case 38:
      *value = 4 << 20;
      return success;  // bytes of the second cache
    case 40:
      *value = copy_engines();
      return success;
    case 75:
      *value = 7;
      return success;  // the compute capability
    case 76:
      *value = 5;
      return success;
    default:
      return invalid_value;
  }
}

int text(int status, const char* StatusText::*which, const char** result) {
  const StatusText* const known = text_of(status);
  *result = known != nullptr ? known->*which : nullptr;
  return known != nullptr ? success : invalid_value;
}

int name_of(int device, char* name, int size) {
  if (const int status = check_device(device); status != success) return status;
  if (size <= 0) return invalid_value;
  std::snprintf(name, static_cast<std::size_t>(size), "%s", device_name);
  return success;
}

int set(std::size_t* value, std::size_t to) {
  *value = to;
  return success;
}

int set_free(std::size_t* free, std::size_t* all) {
  const std::size_t used = allocated_bytes();
  *all = device_memory();
  *free = used < *all ? *all - used : 0;
  return success;
}

}  // namespace
}  // namespace emulated

extern "C" int cuInit(unsigned) { return emulated::initialize(); }
extern "C" int cuDriverGetVersion(int* version) {
  *version = emulated::emulated_version;
  return emulated::success;
}
extern "C" int cuGetErrorName(int status, const char** name) {
  return emulated::text(status, &emulated::StatusText::name, name);
}
extern "C" int cuGetErrorString(int status, const char** text) {
  return emulated::text(status, &emulated::StatusText::text, text);
}

extern "C" int cuDeviceGetCount(int* count) {
  *count = emulated::is_initialized() ? emulated::device_count() : 0;
  return emulated::is_initialized() ? emulated::success : emulated::not_initialized;
}
extern "C" int cuDeviceGet(int* device, int index) {
  *device = index;
  return emulated::check_device(index);
}
extern "C" int cuDeviceGetName(char* name, int size, int device) {
  return emulated::name_of(device, name, size);
}
extern "C" int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  const int status = emulated::check_device(device);
  return status == 0 ? emulated::set(bytes, emulated::device_memory()) : status;
}
extern "C" int cuDeviceGetAttribute(int* value, int which, int device) {
  return emulated::attribute(value, which, device);
}
extern "C" int cuMemGetInfo_v2(std::size_t* free, std::size_t* all) {
  return emulated::in_context([&] { return emulated::set_free(free, all); });
}

extern "C" int cuDevicePrimaryCtxRetain(ContextObject** context, int device) {
  return emulated::retain_context(context, device);
}
extern "C" int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned) {
  return emulated::check_device(device);
}
extern "C" int cuCtxSetCurrent(ContextObject* context) { return emulated::set_context(context); }
