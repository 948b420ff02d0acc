// What the element costs a frame of 640x480: processor time of a pipeline with it, less that of the same
// pipeline without it, less that of the library on as many pictures that are there already.
//   overhead APPLICATION PLAN FRAMES
#include <gst/gst.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <millrace/millrace.h>

namespace {

double spent_us() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1e6 * static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/// From the first buffer on: planning and loading do not count.
double of_pipeline(const std::string& text) {
  GError* error = nullptr;
  GstElement* const pipeline = gst_parse_launch(text.c_str(), &error);
  if (pipeline == nullptr) std::exit(2);
  gst_element_set_state(pipeline, GST_STATE_PAUSED);
  gst_element_get_state(pipeline, nullptr, nullptr, GST_CLOCK_TIME_NONE);
  const double begin = spent_us();
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstBus* const bus = gst_element_get_bus(pipeline);
  GstMessage* const message = gst_bus_timed_pop_filtered(
      bus, GST_CLOCK_TIME_NONE,
      static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  const bool failed = GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR;
  const double spent = spent_us() - begin;
  gst_message_unref(message);
  gst_object_unref(bus);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  if (failed) std::exit(3);
  return spent;
}

double of_library(const std::string& config, const std::string& plan, int frames) {
  const auto application = millrace::Application::from_file(config);
  auto session =
      application.start(millrace::Plan::from_file(plan, application.model()),
                        [](const millrace::Outcome&) {});
  const std::vector<unsigned char> black(std::size_t{3} * 640 * 480);
  const auto image =
      millrace::Image::copy_of({640, 480, black.data(), millrace::PixelFormat::rgb, 0});
  const double begin = spent_us();
  for (int i = 0; i < frames; ++i) session.submit(image);
  session.wait();
  return spent_us() - begin;
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) return 2;
  gst_init(nullptr, nullptr);
  const int frames = std::atoi(words[3]);
  const std::string source = "videotestsrc pattern=black num-buffers=" + std::to_string(frames) +
                             " ! video/x-raw,format=RGB,width=640,height=480 ! ";
  const std::string element = std::string("millrace post-messages=false config=") + words[1] +
                              " plan=" + words[2];
  const double without = of_pipeline(source + "identity ! fakesink");
  const double with = of_pipeline(source + element + " ! fakesink");
  const double network = of_library(words[1], words[2], frames);
  std::printf("%.0f us a frame: %.0f with it, %.0f without it, %.0f the network\n",
              (with - without - network) / frames, with / frames, without / frames,
              network / frames);
}
