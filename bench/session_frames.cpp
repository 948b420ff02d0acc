// Small frames through a session of the public interface, the pipeline kept full: what
// bench/python_frames holds the Python module against. `session_frames MODEL PLAN FRAMES`; prints
// microseconds a frame.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "millrace/millrace.h"

namespace {

using Clock = std::chrono::steady_clock;

millrace::Frame zeros(const millrace::Model& model) {
  millrace::Frame frame;
  for (const millrace::TensorInfo& input : model.inputs())
    frame.push_back(millrace::Tensor::zeros(input));
  return frame;
}

double microseconds_a_frame(millrace::Session& session, const millrace::Frame& frame,
                            std::int64_t count) {
  const std::int64_t depth = session.depth();
  const auto start = Clock::now();
  for (std::int64_t submitted = 0, taken = 0; taken < count; ++taken) {
    while (submitted < count && submitted - taken < depth && session.try_submit(frame)) ++submitted;
    const auto result = session.next();
    if (!result) throw millrace::Error(millrace::ErrorKind::machine, "a result is missing", {});
  }
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count() /
         static_cast<double>(count);
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) {
    std::fprintf(stderr, "Usage: session_frames MODEL PLAN FRAMES\n");
    return 2;
  }
  try {
    const auto model = millrace::Model::from_file(words[1]);
    auto session = millrace::Plan::from_file(words[2], model).start();
    const millrace::Frame frame = zeros(model);
    microseconds_a_frame(session, frame, 1000);
    std::printf("%.4f\n", microseconds_a_frame(session, frame, std::atoll(words[3])));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
