#pragma once
// Buffers and events on their way through the element: in order, several frames at once.
#include <gst/gst.h>
#include <gst/video/video.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "analysis.h"
#include "settings.h"

namespace millrace_gst {

struct FlowCounts {
  std::uint64_t processed = 0, dropped = 0;  // dropped: too late for who is downstream
};

/// chain(), event() and query() come from the thread of upstream; push_next() is called again and
/// again by the task of the source pad; the rest by any thread. Pads and element are borrowed.
class Flow {
 public:
  Flow(GstElement* element, GstPad* sink, GstPad* source);
  ~Flow();

  /// Throws millrace::Error.
  void start(const MillraceSettings& settings);
  void stop();

  GstFlowReturn chain(GstBuffer* buffer);
  gboolean event(GstEvent* event);
  /// A query that is in line with buffers.
  gboolean query(GstQuery* query);

  void push_next();
  gboolean activate_source(bool active);
  void set_flushing(bool flushing);
  /// From downstream: it falls behind, or does not any more.
  void note_quality(GstEvent* event);
  gboolean answer_latency(GstQuery* query);
  FlowCounts counts();

 private:
  /// A buffer or an event.
  struct Item {
    GstMiniObject* object = nullptr;
    GstVideoInfo info = {};    // of a buffer
    GstClockTime entered = 0;  // by the system's clock
    bool is_buffer() const { return GST_IS_BUFFER(object); }
  };

  GstFlowReturn wait_for_room();
  GstFlowReturn submit(GstBuffer* buffer);
  void enqueue(Item item);
  bool is_late(GstBuffer* buffer);
  void post_quality(GstBuffer* buffer);
  bool wait_for_item(Item& item);
  GstFlowReturn push(Item item);
  GstFlowReturn push_buffer(const Item& item);
  void add_findings(GstBuffer*& buffer, const Item& item, const millrace::Outcome& outcome);
  void draw(GstBuffer* buffer, const Item& item, const millrace::Outcome& outcome);
  void post_findings(GstBuffer* buffer, std::uint64_t frame, const std::string& json);
  void note_latency(GstClockTime entered);
  void end_task(GstFlowReturn flow);
  void drain();
  void keep_sticky_events();
  void clear();
  void fail(const std::exception& error);

  GstElement* const element_;
  GstPad* const sink_;
  GstPad* const source_;
  MillraceSettings settings_;
  std::unique_ptr<Analysis> analysis_;
  GstVideoInfo info_ = {};  // touched by upstream's thread

  std::mutex mutex_;  // of all that follows
  std::condition_variable moment_;
  std::deque<Item> items_;
  std::int64_t in_flight_ = 0;  // buffers from chain() to the end of their push
  bool pushing_ = false, flushing_ = true, ended_ = false;
  GstFlowReturn result_ = GST_FLOW_OK;             // of downstream
  GstSegment segment_ = {}, pushed_segment_ = {};  // of what comes, and of what goes
  GstClockTime earliest_ = GST_CLOCK_TIME_NONE;    // running time from which frames are in time
  gdouble proportion_ = 1;
  GstClockTimeDiff jitter_ = 0;
  GstClockTime latency_ = 0;  // that is reported
  FlowCounts counts_;
};

}  // namespace millrace_gst
