// The element by GStreamer's own test library: what upstream and downstream may ask of it and do to
// it, one after the other.
//
//   CONFIG=app.yaml PLAN=app.plan.json harness_test
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>

#include <string>

namespace {

constexpr int width = 64, height = 48;
constexpr GstClockTime period = 40 * GST_MSECOND;
const char* const rgb = "video/x-raw,format=RGB,width=64,height=48,framerate=25/1";

const char* variable(const char* name) {
  const char* const value = g_getenv(name);
  return value != nullptr ? value : "";
}

GstElement* make_element() {
  GstElement* const element = gst_element_factory_make("millrace", nullptr);
  fail_unless(element != nullptr, "no element 'millrace'");
  g_object_set(element, "config", variable("CONFIG"), "plan", variable("PLAN"), nullptr);
  return element;
}

/// The element between two pads, with a bus.
struct Harness {
  explicit Harness(const char* caps = rgb) {
    GstElement* const element = make_element();
    harness = gst_harness_new_with_element(element, "sink", "src");
    bus = gst_bus_new();
    gst_element_set_bus(element, bus);
    gst_object_unref(element);
    if (caps != nullptr) gst_harness_set_src_caps_str(harness, caps);
  }
  ~Harness() {
    gst_element_set_bus(harness->element, nullptr);
    gst_object_unref(bus);
    gst_harness_teardown(harness);
  }
  Harness(const Harness&) = delete;
  Harness& operator=(const Harness&) = delete;

  GstFlowReturn push(int frame, int rows = height) {
    GstBuffer* const buffer = gst_buffer_new_allocate(nullptr, gsize{3} * width * rows, nullptr);
    gst_buffer_memset(buffer, 0, static_cast<guint8>(frame), gsize{3} * width * rows);
    GST_BUFFER_PTS(buffer) = frame * period;
    GST_BUFFER_DURATION(buffer) = period;
    return gst_harness_push(harness, buffer);
  }
  /// The number of the frame that comes out.
  int pull() {
    GstBuffer* const buffer = gst_harness_pull(harness);
    fail_unless(buffer != nullptr, "no buffer comes out");
    const int frame = static_cast<int>(GST_BUFFER_PTS(buffer) / period);
    gst_buffer_unref(buffer);
    return frame;
  }
  guint64 stat(const char* name) {
    GstStructure* stats = nullptr;
    guint64 value = 0;
    g_object_get(harness->element, "stats", &stats, nullptr);
    fail_unless(gst_structure_get_uint64(stats, name, &value));
    gst_structure_free(stats);
    return value;
  }
  /// Until a message of this type comes.
  bool has_message(GstMessageType type) {
    GstMessage* const message = gst_bus_timed_pop_filtered(bus, GST_SECOND, type);
    if (message != nullptr) gst_message_unref(message);
    return message != nullptr;
  }
  bool has_event(GstEventType type) {
    bool found = false;
    while (GstEvent* const event = gst_harness_try_pull_event(harness)) {
      found = found || GST_EVENT_TYPE(event) == type;
      gst_event_unref(event);
    }
    return found;
  }

  GstHarness* harness = nullptr;
  GstBus* bus = nullptr;
};

}  // namespace

GST_START_TEST(a_buffer_keeps_its_memory_and_its_times) {
  Harness of;
  GstBuffer* in = gst_buffer_new_allocate(nullptr, gsize{3} * width * height, nullptr);
  GST_BUFFER_PTS(in) = 3 * period;
  GST_BUFFER_DURATION(in) = period;
  const GstMemory* const memory = gst_buffer_peek_memory(in, 0);
  fail_unless_equals_int(gst_harness_push(of.harness, in), GST_FLOW_OK);
  GstBuffer* const out = gst_harness_pull(of.harness);
  fail_unless(gst_buffer_peek_memory(out, 0) == memory, "the picture was copied");
  fail_unless_equals_uint64(GST_BUFFER_PTS(out), 3 * period);
  fail_unless_equals_uint64(GST_BUFFER_DURATION(out), period);
  fail_unless(gst_buffer_get_custom_meta(out, "MillraceFindingsMeta") != nullptr, "no findings");
  fail_unless(of.has_message(GST_MESSAGE_ELEMENT));
  gst_buffer_unref(out);
}
GST_END_TEST

GST_START_TEST(caps_are_those_of_both_sides) {
  Harness of(nullptr);
  gst_harness_set_sink_caps_str(of.harness, "video/x-raw,format=BGR,width=[16,640]");
  GstCaps* const asked = gst_pad_peer_query_caps(of.harness->srcpad, nullptr);
  GstCaps* const expected = gst_caps_from_string("video/x-raw,format=BGR,width=[16,640]");
  fail_unless(gst_caps_is_subset(asked, expected), "more than downstream takes");
  fail_unless(!gst_caps_is_empty(asked));
  gst_caps_unref(asked);
  gst_caps_unref(expected);
}
GST_END_TEST

GST_START_TEST(a_format_that_it_lacks_is_refused) {
  Harness of("video/x-raw,format=I420,width=64,height=48,framerate=25/1");
  fail_unless(of.push(0) < GST_FLOW_OK);
  fail_unless_equals_int(static_cast<int>(gst_harness_buffers_received(of.harness)), 0);
}
GST_END_TEST

GST_START_TEST(a_buffer_without_caps_is_not_negotiated) {
  Harness of(nullptr);
  gst_harness_set_forwarding(of.harness, FALSE);
  gst_pad_push_event(of.harness->srcpad, gst_event_new_stream_start("s"));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_pad_push_event(of.harness->srcpad, gst_event_new_segment(&segment));
  GstBuffer* const buffer = gst_buffer_new_allocate(nullptr, 16, nullptr);
  fail_unless_equals_int(gst_pad_push(of.harness->srcpad, buffer), GST_FLOW_NOT_NEGOTIATED);
}
GST_END_TEST

GST_START_TEST(caps_change_between_two_buffers) {
  Harness of;
  fail_unless_equals_int(of.push(0), GST_FLOW_OK);
  gst_harness_set_src_caps_str(of.harness,
                               "video/x-raw,format=RGB,width=64,height=24,framerate=25/1");
  fail_unless_equals_int(of.push(1, 24), GST_FLOW_OK);
  fail_unless_equals_int(of.pull(), 0);
  fail_unless_equals_int(of.pull(), 1);
  GstCaps* const caps = gst_pad_get_current_caps(of.harness->sinkpad);
  GstVideoInfo info;
  fail_unless(gst_video_info_from_caps(&info, caps));
  fail_unless_equals_int(GST_VIDEO_INFO_HEIGHT(&info), 24);
  gst_caps_unref(caps);
}
GST_END_TEST

GST_START_TEST(its_latency_is_added_to_that_of_upstream) {
  Harness of;
  gst_harness_set_upstream_latency(of.harness, 0);
  const GstClockTime own = gst_harness_query_latency(of.harness);
  fail_unless(own > 0 && own < GST_SECOND, "own latency: %" GST_TIME_FORMAT, GST_TIME_ARGS(own));
  gst_harness_set_upstream_latency(of.harness, 20 * GST_MSECOND);
  fail_unless_equals_uint64(gst_harness_query_latency(of.harness), own + 20 * GST_MSECOND);
}
GST_END_TEST

GST_START_TEST(frames_that_are_too_late_are_dropped_and_told) {
  Harness of;
  fail_unless_equals_int(of.push(0), GST_FLOW_OK);
  fail_unless_equals_int(of.pull(), 0);
  // Downstream is two periods behind at frame 1.
  gst_harness_push_upstream_event(
      of.harness, gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2.0, 2 * period, 1 * period));
  for (int frame = 1; frame < 5; ++frame) fail_unless_equals_int(of.push(frame), GST_FLOW_OK);
  fail_unless(of.has_message(GST_MESSAGE_QOS));
  fail_unless_equals_uint64(of.stat("dropped"), 4);
  fail_unless_equals_int(of.push(5), GST_FLOW_OK);  // in time: 1 + 2 * 2 periods
  fail_unless_equals_int(of.pull(), 5);
  g_object_set(of.harness->element, "qos", FALSE, nullptr);  // from the next start on
  fail_unless_equals_uint64(of.stat("processed"), 2);
}
GST_END_TEST

GST_START_TEST(the_end_comes_after_all_buffers) {
  Harness of;
  for (int frame = 0; frame < 9; ++frame) fail_unless_equals_int(of.push(frame), GST_FLOW_OK);
  fail_unless(gst_harness_push_event(of.harness, gst_event_new_eos()));
  for (int frame = 0; frame < 9; ++frame) fail_unless_equals_int(of.pull(), frame);
  for (int i = 0; i < 1000 && !GST_PAD_IS_EOS(of.harness->sinkpad); ++i) g_usleep(1000);
  fail_unless(of.has_event(GST_EVENT_EOS));
  fail_unless_equals_int(of.push(9), GST_FLOW_EOS);
}
GST_END_TEST

GST_START_TEST(several_buffers_are_on_their_way) {
  Harness of;
  GstPad* const source = gst_element_get_static_pad(of.harness->element, "src");
  const gulong block = gst_pad_add_probe(
      source, static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER),
      [](GstPad*, GstPadProbeInfo*, gpointer) { return GST_PAD_PROBE_OK; }, nullptr, nullptr);
  fail_unless_equals_int(of.push(0), GST_FLOW_OK);
  fail_unless_equals_int(of.push(1), GST_FLOW_OK);  // returns though nothing has come out
  fail_unless_equals_int(static_cast<int>(gst_harness_buffers_received(of.harness)), 0);
  gst_pad_remove_probe(source, block);
  fail_unless_equals_int(of.pull(), 0);
  fail_unless_equals_int(of.pull(), 1);
  gst_object_unref(source);
}
GST_END_TEST

GST_START_TEST(a_flush_drops_what_is_on_its_way_and_no_more) {
  Harness of;
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  for (int round = 0; round < 50; ++round) {
    for (int frame = 0; frame < 3; ++frame) of.push(100 * round + frame);
    fail_unless(gst_harness_push_event(of.harness, gst_event_new_flush_start()));
    fail_unless_equals_int(of.push(100 * round + 50), GST_FLOW_FLUSHING);
    fail_unless(gst_harness_push_event(of.harness, gst_event_new_flush_stop(TRUE)));
    while (GstBuffer* const buffer = gst_harness_try_pull(of.harness)) gst_buffer_unref(buffer);
    fail_unless(gst_harness_push_event(of.harness, gst_event_new_segment(&segment)));
    fail_unless_equals_int(of.push(100 * round + 99), GST_FLOW_OK);
    fail_unless_equals_int(of.pull(), 100 * round + 99);
  }
}
GST_END_TEST

GST_START_TEST(caps_outlive_a_flush_that_follows_them_at_once) {
  for (int round = 0; round < 20; ++round) {
    Harness of;
    GstPad* const source = gst_element_get_static_pad(of.harness->element, "src");
    gst_harness_push_event(of.harness, gst_event_new_flush_start());
    gst_harness_push_event(of.harness, gst_event_new_flush_stop(TRUE));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    gst_harness_push_event(of.harness, gst_event_new_segment(&segment));
    fail_unless_equals_int(of.push(1), GST_FLOW_OK);
    fail_unless_equals_int(of.pull(), 1);
    GstCaps* const caps = gst_pad_get_current_caps(source);
    fail_unless(caps != nullptr, "caps are lost in round %d", round);
    gst_caps_unref(caps);
    gst_object_unref(source);
  }
}
GST_END_TEST

GST_START_TEST(what_downstream_refuses_comes_back_to_upstream) {
  const std::string text = std::string("millrace config=") + variable("CONFIG") +
                           " plan=" + variable("PLAN") + " ! identity error-after=3";
  GstHarness* const harness = gst_harness_new_parse(text.c_str());
  gst_harness_set_src_caps_str(harness, rgb);
  GstFlowReturn flow = GST_FLOW_OK;
  for (int frame = 0; frame < 50 && flow == GST_FLOW_OK; ++frame)
    flow = gst_harness_push(harness,
                            gst_buffer_new_allocate(nullptr, gsize{3} * width * height, nullptr));
  fail_unless_equals_int(flow, GST_FLOW_ERROR);
  gst_harness_teardown(harness);
}
GST_END_TEST

GST_START_TEST(a_buffer_that_is_too_small_is_an_error) {
  Harness of;
  const GstFlowReturn flow =
      gst_harness_push(of.harness, gst_buffer_new_allocate(nullptr, 16, nullptr));
  fail_unless_equals_int(flow, GST_FLOW_ERROR);
  fail_unless(of.has_message(GST_MESSAGE_ERROR));
}
GST_END_TEST

GST_START_TEST(a_file_that_is_not_there_is_an_error_before_the_first_buffer) {
  GstElement* const element = gst_element_factory_make("millrace", nullptr);
  GstBus* const bus = gst_bus_new();
  gst_element_set_bus(element, bus);
  g_object_set(element, "config", "none.yaml", nullptr);
  fail_unless_equals_int(gst_element_set_state(element, GST_STATE_PAUSED),
                         GST_STATE_CHANGE_FAILURE);
  GstMessage* const message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  GError* error = nullptr;
  fail_unless(message != nullptr, "nobody is told");
  gst_message_parse_error(message, &error, nullptr);
  fail_unless(std::string(error->message).find("none.yaml") != std::string::npos, "%s",
              error->message);
  g_error_free(error);
  gst_message_unref(message);
  gst_element_set_state(element, GST_STATE_NULL);
  gst_element_set_bus(element, nullptr);
  gst_object_unref(bus);
  gst_object_unref(element);
}
GST_END_TEST

GST_START_TEST(it_starts_again_after_it_was_stopped) {
  Harness of;
  for (int round = 0; round < 3; ++round) {
    fail_unless_equals_int(of.push(0), GST_FLOW_OK);
    fail_unless_equals_int(of.pull(), 0);
    fail_unless_equals_uint64(of.stat("processed"), 1);
    gst_element_set_state(of.harness->element, GST_STATE_NULL);
    gst_harness_play(of.harness);
    gst_harness_set_src_caps_str(of.harness, rgb);
  }
}
GST_END_TEST

static Suite* millrace_suite() {
  Suite* const suite = suite_create("millrace");
  TCase* const tests = tcase_create("element");
  tcase_set_timeout(tests, 120);
  suite_add_tcase(suite, tests);
  tcase_add_test(tests, a_buffer_keeps_its_memory_and_its_times);
  tcase_add_test(tests, caps_are_those_of_both_sides);
  tcase_add_test(tests, a_format_that_it_lacks_is_refused);
  tcase_add_test(tests, a_buffer_without_caps_is_not_negotiated);
  tcase_add_test(tests, caps_change_between_two_buffers);
  tcase_add_test(tests, its_latency_is_added_to_that_of_upstream);
  tcase_add_test(tests, frames_that_are_too_late_are_dropped_and_told);
  tcase_add_test(tests, the_end_comes_after_all_buffers);
  tcase_add_test(tests, several_buffers_are_on_their_way);
  tcase_add_test(tests, a_flush_drops_what_is_on_its_way_and_no_more);
  tcase_add_test(tests, caps_outlive_a_flush_that_follows_them_at_once);
  tcase_add_test(tests, what_downstream_refuses_comes_back_to_upstream);
  tcase_add_test(tests, a_buffer_that_is_too_small_is_an_error);
  tcase_add_test(tests, a_file_that_is_not_there_is_an_error_before_the_first_buffer);
  tcase_add_test(tests, it_starts_again_after_it_was_stopped);
  return suite;
}

GST_CHECK_MAIN(millrace)
