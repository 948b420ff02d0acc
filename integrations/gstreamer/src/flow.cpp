#include "flow.h"

#include <algorithm>
#include <cstring>

#include "metas.h"

namespace millrace_gst {
namespace {

GstClockTime now() { return static_cast<GstClockTime>(g_get_monotonic_time()) * GST_USECOND; }

/// A picture of the library, into a frame of the same size.
void copy_pixels(const millrace::Image& image, GstVideoFrame& frame) {
  const bool is_grey = GST_VIDEO_FRAME_FORMAT(&frame) == GST_VIDEO_FORMAT_GRAY8;
  const bool is_bgr = GST_VIDEO_FRAME_FORMAT(&frame) == GST_VIDEO_FORMAT_BGR;
  const std::uint8_t* from = image.rgb();
  for (int y = 0; y < image.height(); ++y) {
    auto* to = static_cast<std::uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0)) +
               std::ptrdiff_t{y} * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0);
    for (int x = 0; x < image.width(); ++x, from += 3) {
      if (is_grey) {
        *to++ = from[1];
        continue;
      }
      *to++ = from[is_bgr ? 2 : 0];
      *to++ = from[1];
      *to++ = from[is_bgr ? 0 : 2];
    }
  }
}

}  // namespace

Flow::Flow(GstElement* element, GstPad* sink, GstPad* source)
    : element_(element), sink_(sink), source_(source) {
  gst_segment_init(&segment_, GST_FORMAT_TIME);
  gst_segment_init(&pushed_segment_, GST_FORMAT_TIME);
}

Flow::~Flow() { clear(); }

void Flow::start(const MillraceSettings& settings) {
  settings_ = settings;
  analysis_ = std::make_unique<Analysis>(settings);
  const std::lock_guard lock(mutex_);
  counts_ = {};
  earliest_ = GST_CLOCK_TIME_NONE;
  latency_ = static_cast<GstClockTime>(analysis_->latency().count());
}

void Flow::stop() {
  clear();
  analysis_.reset();
}

void Flow::fail(const std::exception& error) {
  GST_ELEMENT_ERROR(element_, LIBRARY, FAILED, ("%s", error.what()), (nullptr));
  const std::lock_guard lock(mutex_);
  result_ = GST_FLOW_ERROR;
  moment_.notify_all();
}

// ---- from upstream ----

GstFlowReturn Flow::wait_for_room() {
  std::unique_lock lock(mutex_);
  moment_.wait(lock, [this] {
    return flushing_ || result_ != GST_FLOW_OK || in_flight_ < analysis_->depth();
  });
  if (flushing_) return GST_FLOW_FLUSHING;
  if (result_ != GST_FLOW_OK) return result_;
  return ended_ ? GST_FLOW_EOS : GST_FLOW_OK;
}

GstFlowReturn Flow::chain(GstBuffer* buffer) {
  const GstFlowReturn state = wait_for_room();
  if (state != GST_FLOW_OK || is_late(buffer)) {
    gst_buffer_unref(buffer);
    return state;
  }
  Item item;
  item.entered = now();
  item.info = info_;
  if (const GstFlowReturn flow = submit(buffer); flow != GST_FLOW_OK) {
    gst_buffer_unref(buffer);
    return flow;
  }
  item.object = GST_MINI_OBJECT_CAST(buffer);
  enqueue(item);
  return GST_FLOW_OK;
}

GstFlowReturn Flow::submit(GstBuffer* buffer) {
  if (info_.finfo == nullptr) return GST_FLOW_NOT_NEGOTIATED;  // no caps have come
  GstVideoFrame mapped;
  if (!gst_video_frame_map(&mapped, &info_, buffer, GST_MAP_READ)) {
    GST_ELEMENT_ERROR(element_, STREAM, FORMAT, ("a buffer cannot be read as a picture"),
                      (nullptr));
    return GST_FLOW_ERROR;
  }
  // It holds the buffer: who writes to it meanwhile gets a copy.
  const std::shared_ptr<const GstVideoFrame> frame(
      new GstVideoFrame(mapped), [](const GstVideoFrame* each) {
        auto* const owned = const_cast<GstVideoFrame*>(each);
        gst_video_frame_unmap(owned);
        delete owned;
      });
  try {
    if (analysis_->submit(frame)) return GST_FLOW_OK;
    GST_ELEMENT_ERROR(element_, LIBRARY, FAILED, ("the analysis has ended"), (nullptr));
  } catch (const std::exception& error) {
    fail(error);
  }
  return GST_FLOW_ERROR;
}

void Flow::enqueue(Item item) {
  const std::lock_guard lock(mutex_);
  if (item.is_buffer()) ++in_flight_;
  items_.push_back(item);
  moment_.notify_all();
}

bool Flow::is_late(GstBuffer* buffer) {
  if (!settings_.qos || !GST_BUFFER_PTS_IS_VALID(buffer)) return false;
  {
    const std::lock_guard lock(mutex_);
    if (!GST_CLOCK_TIME_IS_VALID(earliest_)) return false;
    const GstClockTime running =
        gst_segment_to_running_time(&segment_, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer));
    if (!GST_CLOCK_TIME_IS_VALID(running) || running >= earliest_) return false;
    ++counts_.dropped;
  }
  post_quality(buffer);
  return true;
}

void Flow::post_quality(GstBuffer* buffer) {
  std::unique_lock lock(mutex_);
  const GstClockTime time = GST_BUFFER_PTS(buffer);
  GstMessage* const message =
      gst_message_new_qos(GST_OBJECT_CAST(element_), FALSE,
                          gst_segment_to_running_time(&segment_, GST_FORMAT_TIME, time),
                          gst_segment_to_stream_time(&segment_, GST_FORMAT_TIME, time), time,
                          GST_BUFFER_DURATION(buffer));
  gst_message_set_qos_values(message, jitter_, proportion_, 1'000'000);
  gst_message_set_qos_stats(message, GST_FORMAT_BUFFERS, counts_.processed, counts_.dropped);
  lock.unlock();
  gst_element_post_message(element_, message);
}

gboolean Flow::event(GstEvent* event) {
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_FLUSH_START:
      set_flushing(true);
      gst_pad_push_event(source_, event);
      return gst_pad_pause_task(source_);
    case GST_EVENT_FLUSH_STOP:
      gst_pad_push_event(source_, event);
      keep_sticky_events();
      clear();
      return activate_source(true);
    case GST_EVENT_CAPS: {
      GstCaps* caps = nullptr;
      gst_event_parse_caps(event, &caps);
      if (!gst_video_info_from_caps(&info_, caps)) {
        gst_event_unref(event);
        return FALSE;
      }
      break;
    }
    case GST_EVENT_SEGMENT: {
      const std::lock_guard lock(mutex_);
      gst_event_copy_segment(event, &segment_);
      break;
    }
    case GST_EVENT_EOS:
    case GST_EVENT_STREAM_START: {
      const std::lock_guard lock(mutex_);
      ended_ = GST_EVENT_TYPE(event) == GST_EVENT_EOS;
      break;
    }
    default:
      break;
  }
  if (!GST_EVENT_IS_SERIALIZED(event)) return gst_pad_push_event(source_, event);
  Item item;
  item.object = GST_MINI_OBJECT_CAST(event);
  enqueue(item);
  return TRUE;
}

/// Until all that came before is out.
void Flow::drain() {
  std::unique_lock lock(mutex_);
  moment_.wait(lock, [this] {
    return flushing_ || result_ != GST_FLOW_OK || (items_.empty() && !pushing_);
  });
}

gboolean Flow::query(GstQuery* query) {
  drain();
  const gboolean answered = gst_pad_peer_query(source_, query);
  if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION || !analysis_) return answered;
  // Buffers stay here while their frames are analysed.
  const auto more = static_cast<guint>(analysis_->depth());
  for (guint i = 0; answered && i < gst_query_get_n_allocation_pools(query); ++i) {
    GstBufferPool* pool = nullptr;
    guint size = 0, least = 0, most = 0;
    gst_query_parse_nth_allocation_pool(query, i, &pool, &size, &least, &most);
    gst_query_set_nth_allocation_pool(query, i, pool, size, least + more,
                                      most == 0 ? 0 : std::max(most, least + more));
    if (pool != nullptr) gst_object_unref(pool);
  }
  if (!gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr))
    gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  return TRUE;
}

// ---- to downstream ----

bool Flow::wait_for_item(Item& item) {
  std::unique_lock lock(mutex_);
  moment_.wait(lock, [this] { return flushing_ || !items_.empty(); });
  if (flushing_) return false;
  item = items_.front();
  items_.pop_front();
  pushing_ = true;
  return true;
}

void Flow::push_next() {
  Item item;
  if (!wait_for_item(item)) {
    gst_pad_pause_task(source_);
    return;
  }
  const bool is_buffer = item.is_buffer();
  const GstFlowReturn flow = push(item);
  {
    const std::lock_guard lock(mutex_);
    pushing_ = false;
    if (is_buffer) --in_flight_;
    if (result_ == GST_FLOW_OK) result_ = flow;
    moment_.notify_all();
  }
  if (flow != GST_FLOW_OK) end_task(flow);
}

/// Upstream hears of it with its next buffer, unless there is none any more.
void Flow::end_task(GstFlowReturn flow) {
  gst_pad_pause_task(source_);
  bool ended = false;
  {
    const std::lock_guard lock(mutex_);
    ended = ended_;
  }
  if (!ended || (flow != GST_FLOW_NOT_LINKED && flow > GST_FLOW_EOS)) return;
  if (flow != GST_FLOW_EOS) GST_ELEMENT_FLOW_ERROR(element_, flow);
  gst_pad_push_event(source_, gst_event_new_eos());
}

GstFlowReturn Flow::push(Item item) {
  if (item.is_buffer()) return push_buffer(item);
  GstEvent* const event = GST_EVENT_CAST(item.object);
  if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT) {
    const std::lock_guard lock(mutex_);
    gst_event_copy_segment(event, &pushed_segment_);
  }
  gst_pad_push_event(source_, event);
  return GST_FLOW_OK;
}

GstFlowReturn Flow::push_buffer(const Item& item) {
  GstBuffer* buffer = GST_BUFFER_CAST(item.object);
  try {
    auto outcome = analysis_->next();
    if (!outcome) {
      gst_buffer_unref(buffer);
      return GST_FLOW_EOS;
    }
    if (!settings_.draw) outcome->image = {};  // it holds the buffer, which a pool wants back
    add_findings(buffer, item, *outcome);
  } catch (const std::exception& error) {
    gst_buffer_unref(buffer);
    fail(error);
    return GST_FLOW_ERROR;
  }
  note_latency(item.entered);
  return gst_pad_push(source_, buffer);
}

void Flow::add_findings(GstBuffer*& buffer, const Item& item, const millrace::Outcome& outcome) {
  const std::string json = millrace::to_json(outcome.findings, analysis_->labels());
  buffer = gst_buffer_make_writable(buffer);
  add_metas(buffer, outcome.findings, json, analysis_->labels());
  if (settings_.draw) draw(buffer, item, outcome);
  std::unique_lock lock(mutex_);
  const std::uint64_t frame = counts_.processed++;
  lock.unlock();
  if (settings_.post_messages) post_findings(buffer, frame, json);
}

void Flow::draw(GstBuffer* buffer, const Item& item, const millrace::Outcome& outcome) {
  const millrace::Image drawn =
      millrace::draw(outcome.image, outcome.findings, analysis_->labels());
  GstVideoFrame frame;
  if (!gst_video_frame_map(&frame, &item.info, buffer, GST_MAP_WRITE)) return;
  copy_pixels(drawn, frame);
  gst_video_frame_unmap(&frame);
}

void Flow::post_findings(GstBuffer* buffer, std::uint64_t frame, const std::string& json) {
  std::unique_lock lock(mutex_);
  const GstClockTime time = GST_BUFFER_PTS(buffer);
  const GstClockTime running = gst_segment_to_running_time(&pushed_segment_, GST_FORMAT_TIME, time);
  const GstClockTime stream = gst_segment_to_stream_time(&pushed_segment_, GST_FORMAT_TIME, time);
  lock.unlock();
  GstStructure* const structure =
      gst_structure_new("millrace", "frame", G_TYPE_UINT64, frame, "timestamp", GST_TYPE_CLOCK_TIME,
                        time, "stream-time", GST_TYPE_CLOCK_TIME, stream, "running-time",
                        GST_TYPE_CLOCK_TIME, running, "json", G_TYPE_STRING, json.c_str(), nullptr);
  gst_element_post_message(element_, gst_message_new_element(GST_OBJECT_CAST(element_), structure));
}

/// What is reported grows if frames take clearly longer.
void Flow::note_latency(GstClockTime entered) {
  const GstClockTime spent = now() - entered;
  {
    const std::lock_guard lock(mutex_);
    if (spent <= latency_ + latency_ / 4 + GST_MSECOND) return;
    latency_ = spent;
  }
  gst_element_post_message(element_, gst_message_new_latency(GST_OBJECT_CAST(element_)));
}

// ---- from any thread ----

gboolean Flow::activate_source(bool active) {
  if (!active) {
    set_flushing(true);
    return gst_pad_stop_task(source_);
  }
  set_flushing(false);
  return gst_pad_start_task(
      source_, [](gpointer flow) { static_cast<Flow*>(flow)->push_next(); }, this, nullptr);
}

void Flow::set_flushing(bool flushing) {
  const std::lock_guard lock(mutex_);
  flushing_ = flushing;
  if (!flushing) {
    result_ = GST_FLOW_OK;
    ended_ = false;
    earliest_ = GST_CLOCK_TIME_NONE;
  }
  moment_.notify_all();
}

/// No thread pushes. Upstream sends caps and the like once, so a flush must not drop them.
void Flow::keep_sticky_events() {
  const std::lock_guard lock(mutex_);
  for (const Item& item : items_) {
    if (item.is_buffer()) continue;
    GstEvent* const event = GST_EVENT_CAST(item.object);
    const GstEventType type = GST_EVENT_TYPE(event);
    if (GST_EVENT_IS_STICKY(event) && type != GST_EVENT_SEGMENT && type != GST_EVENT_EOS)
      gst_pad_store_sticky_event(source_, event);
  }
}

/// No thread pushes. Results of what is dropped are taken, as the next ones come after them.
void Flow::clear() {
  std::deque<Item> items;
  {
    const std::lock_guard lock(mutex_);
    items.swap(items_);
  }
  for (const Item& item : items) {
    const bool is_buffer = item.is_buffer();
    gst_mini_object_unref(item.object);
    if (!is_buffer) continue;
    const std::lock_guard lock(mutex_);
    --in_flight_;
    try {
      if (analysis_) analysis_->next();
    } catch (const std::exception& error) {
      GST_WARNING_OBJECT(element_, "%s", error.what());
    }
  }
  gst_segment_init(&segment_, GST_FORMAT_TIME);
}

void Flow::note_quality(GstEvent* event) {
  GstClockTime time = 0;
  const std::lock_guard lock(mutex_);
  gst_event_parse_qos(event, nullptr, &proportion_, &jitter_, &time);
  if (!GST_CLOCK_TIME_IS_VALID(time)) {
    earliest_ = GST_CLOCK_TIME_NONE;
    return;
  }
  // Twice as far as it is behind, as sinks expect of who drops.
  const GstClockTimeDiff ahead = jitter_ > 0 ? 2 * jitter_ : jitter_;
  const GstClockTimeDiff at = static_cast<GstClockTimeDiff>(time) + ahead;
  earliest_ = at > 0 ? static_cast<GstClockTime>(at) : GST_CLOCK_TIME_NONE;
}

gboolean Flow::answer_latency(GstQuery* query) {
  if (!gst_pad_peer_query(sink_, query)) return FALSE;
  gboolean live = FALSE;
  GstClockTime least = 0, most = 0;
  gst_query_parse_latency(query, &live, &least, &most);
  const std::lock_guard lock(mutex_);
  least += latency_;
  if (GST_CLOCK_TIME_IS_VALID(most)) most += latency_;
  gst_query_set_latency(query, live, least, most);
  return TRUE;
}

FlowCounts Flow::counts() {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace millrace_gst
