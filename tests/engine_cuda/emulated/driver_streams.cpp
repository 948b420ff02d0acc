// The driver's functions for streams, graphs and events.
#include "context.h"
#include "event.h"
#include "status.h"
#include "stream.h"

namespace emulated {
namespace {

template <class Object>
int destroy(Object* object) {
  if (object == nullptr) return invalid_handle;
  delete object;
  return success;
}

int destroy_stream(StreamObject* stream) {
  if (stream != nullptr && stream->captured) return capture_unsupported;
  return destroy(stream);
}

int wait_for(StreamObject* stream) {
  if (stream == nullptr || !stream->captured) return success;
  return refuse_while_capturing();
}

int make_executable(ExecutableGraphObject** made, const GraphObject* graph) {
  if (graph == nullptr) return invalid_value;
  *made = new ExecutableGraphObject{graph->operations};
  return success;
}

int make_event(EventObject** made, unsigned flags) {
  *made = new EventObject;
  (*made)->flags = flags;
  return success;
}

/// In a capture without the flag, the event only says what other streams wait for.
int record_event(EventObject* event, StreamObject* stream, unsigned flags) {
  constexpr unsigned by_graph = 1;
  if (event == nullptr) return invalid_handle;
  const bool is_captured = stream != nullptr && stream->captured;
  if ((flags & by_graph) != 0 && !is_captured) return invalid_value;
  if (is_captured && (flags & by_graph) == 0) {
    event->is_captured = true;
    return success;
  }
  return do_or_record(stream, [event]() -> int {
    record(*event);
    return success;
  });
}

int wait_for(const EventObject* event) {
  if (event == nullptr) return invalid_handle;
  return event->is_captured ? captured_event : success;
}

}  // namespace
}  // namespace emulated

extern "C" int cuStreamCreate(StreamObject** made, unsigned) {
  return emulated::in_context([&]() -> int {
    *made = new StreamObject;
    return emulated::success;
  });
}
extern "C" int cuStreamDestroy_v2(StreamObject* stream) {
  return emulated::in_context([&] { return emulated::destroy_stream(stream); });
}
extern "C" int cuStreamSynchronize(StreamObject* stream) {
  return emulated::in_context([&] { return emulated::wait_for(stream); });
}
extern "C" int cuStreamBeginCapture_v2(StreamObject* stream, int) {
  return emulated::in_context([&] { return emulated::begin_capture(stream); });
}
extern "C" int cuStreamEndCapture(StreamObject* stream, GraphObject** graph) {
  return emulated::in_context([&] { return emulated::end_capture(stream, graph); });
}

extern "C" int cuGraphInstantiateWithFlags(ExecutableGraphObject** made, GraphObject* graph,
                                           unsigned long long) {
  return emulated::in_context([&] { return emulated::make_executable(made, graph); });
}
extern "C" int cuGraphLaunch(ExecutableGraphObject* graph, StreamObject* stream) {
  if (graph == nullptr) return emulated::invalid_value;
  return emulated::in_context([&] { return emulated::launch_graph(*graph, stream); });
}
extern "C" int cuGraphDestroy(GraphObject* graph) { return emulated::destroy(graph); }
extern "C" int cuGraphExecDestroy(ExecutableGraphObject* graph) { return emulated::destroy(graph); }

extern "C" int cuEventCreate(EventObject** made, unsigned flags) {
  return emulated::in_context([&] { return emulated::make_event(made, flags); });
}
extern "C" int cuEventDestroy_v2(EventObject* event) {
  return emulated::in_context([&] { return emulated::destroy(event); });
}
extern "C" int cuEventRecord(EventObject* event, StreamObject* stream) {
  return emulated::in_context([&] { return emulated::record_event(event, stream, 0); });
}
extern "C" int cuEventRecordWithFlags(EventObject* event, StreamObject* stream, unsigned flags) {
  return emulated::in_context([&] { return emulated::record_event(event, stream, flags); });
}
extern "C" int cuEventSynchronize(EventObject* event) { return emulated::wait_for(event); }
extern "C" int cuEventElapsedTime(float* milliseconds, EventObject* begin, EventObject* end) {
  if (begin == nullptr || end == nullptr) return emulated::invalid_handle;
  return emulated::milliseconds_between(milliseconds, *begin, *end);
}
