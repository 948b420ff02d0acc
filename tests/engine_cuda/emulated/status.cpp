#include "status.h"

#include <algorithm>
#include <iterator>

namespace emulated {
namespace {

// As NVIDIA's driver says it.
constexpr StatusText texts[] = {
    {success, "CUDA_SUCCESS", "no error"},
    {invalid_value, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {out_of_memory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {not_initialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {no_device, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {invalid_device, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {invalid_image, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {invalid_context, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {invalid_handle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {illegal_state, "CUDA_ERROR_ILLEGAL_STATE",
     "the operation cannot be performed in the present state"},
    {not_found, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {illegal_address, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {launch_failed, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {capture_unsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {capture_invalidated, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {captured_event, "CUDA_ERROR_CAPTURED_EVENT",
     "operation not permitted on an event last recorded in a capturing stream"},
    {capture_wrong_thread, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
     "attempt to terminate a thread-local capture sequence from another thread"},
};

}  // namespace

const StatusText* text_of(int status) {
  const auto* const found = std::find_if(std::begin(texts), std::end(texts),
                                         [&](const StatusText& t) { return t.status == status; });
  return found == std::end(texts) ? nullptr : found;
}

}  // namespace emulated
