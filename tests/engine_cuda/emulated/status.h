#pragma once
// The numbers of the driver's errors, as far as the emulation reports them.

namespace emulated {

enum Status : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  not_initialized = 3,
  no_device = 100,
  invalid_device = 101,
  invalid_image = 200,
  invalid_context = 201,
  invalid_handle = 400,
  illegal_state = 401,
  not_found = 500,
  illegal_address = 700,
  launch_failed = 719,
  capture_unsupported = 900,
  capture_invalidated = 901,
  captured_event = 907,
  capture_wrong_thread = 908,
};

struct StatusText {
  int status;
  const char* name;
  const char* text;
};

/// Null for a number that the emulation never reports.
const StatusText* text_of(int status);

}  // namespace emulated
