#pragma once
// Work in order. It is done at once, or recorded while the stream is captured. Each object is used
// by one thread at a time, as with the driver.
#include <functional>
#include <optional>
#include <vector>

namespace emulated {

/// Returns a Status.
using Operation = std::function<int()>;
using Graph = std::vector<Operation>;

}  // namespace emulated

// The driver's objects, which only pointers to are known outside.
struct StreamObject {
  std::optional<emulated::Graph> captured;  // while it is
  bool is_spoiled = false;                  // the thread did what no capture allows
};
struct GraphObject {
  emulated::Graph operations;
};
struct ExecutableGraphObject {
  emulated::Graph operations;
};

namespace emulated {

/// The stream may be null: that of the context.
int do_or_record(StreamObject* stream, Operation operation);
/// success, or what a call that concerns all streams returns while this thread captures one.
int refuse_while_capturing();

int begin_capture(StreamObject* stream);
int end_capture(StreamObject* stream, GraphObject** graph);
int launch_graph(const ExecutableGraphObject& graph, const StreamObject* stream);

}  // namespace emulated
