#pragma once
// Devices and their contexts. Most calls need a context that is current in the calling thread.

struct ContextObject {
  int device = 0;
};

namespace emulated {

int initialize();
bool is_initialized();
/// not_initialized or invalid_device, or else success.
int check_device(int device);
/// not_initialized or invalid_context, or else success.
int check_context();

/// The only one of the device, for all who ask for it.
int retain_context(ContextObject** context, int device);
/// Sets the context of the calling thread; null: none.
int set_context(ContextObject* context);

/// The call's Status, if there is a context.
template <class Call>
int in_context(const Call& call) {
  const int status = check_context();
  return status == 0 ? call() : status;
}

}  // namespace emulated
