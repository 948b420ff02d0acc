#include "stream.h"

#include <mutex>
#include <utility>

#include "settings.h"
#include "status.h"

namespace emulated {
namespace {

thread_local StreamObject* captured_here = nullptr;

/// Counts launches as long as the same launch is to fail.
bool launch_fails() {
  static std::mutex lock;
  static std::size_t launches = 0, failing = 0;
  const std::lock_guard guard(lock);
  if (const std::size_t now = failing_launch(); now != failing) {
    failing = now;
    launches = 0;
  }
  return failing != 0 && ++launches >= failing;
}

}  // namespace

int do_or_record(StreamObject* stream, Operation operation) {
  if (stream == nullptr) {
    const int status = refuse_while_capturing();
    return status == success ? operation() : status;
  }
  if (!stream->captured) return operation();
  if (stream->is_spoiled) return capture_invalidated;
  stream->captured->push_back(std::move(operation));
  return success;
}

int refuse_while_capturing() {
  if (captured_here == nullptr) return success;
  captured_here->is_spoiled = true;
  return capture_unsupported;
}

int begin_capture(StreamObject* stream) {
  if (stream == nullptr) return capture_unsupported;
  if (stream->captured || captured_here != nullptr) return illegal_state;
  stream->captured.emplace();
  stream->is_spoiled = false;
  captured_here = stream;
  return success;
}

int end_capture(StreamObject* stream, GraphObject** graph) {
  *graph = nullptr;
  if (stream == nullptr || !stream->captured) return illegal_state;
  if (captured_here != stream) return capture_wrong_thread;
  captured_here = nullptr;
  Graph operations = std::move(*stream->captured);
  stream->captured.reset();
  if (stream->is_spoiled) return capture_invalidated;
  *graph = new GraphObject{std::move(operations)};
  return success;
}

int launch_graph(const ExecutableGraphObject& graph, const StreamObject* stream) {
  if (stream != nullptr && stream->captured) return capture_unsupported;
  if (launch_fails()) return launch_failed;
  for (const Operation& operation : graph.operations)
    if (const int status = operation(); status != success) return status;
  return success;
}

}  // namespace emulated
