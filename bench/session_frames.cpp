// Small frames through a session of the public interface, the pipeline kept full: what
// bench/python_frames holds the Python module against. `session_frames MODEL PLAN FRAMES`; prints
// microseconds a frame, and those of the processor for the calling thread in the best thousand.
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <limits>

#include "millrace/millrace.h"

namespace {

using Clock = std::chrono::steady_clock;

millrace::Frame zeros(const millrace::Model& model) {
  millrace::Frame frame;
  for (const millrace::TensorInfo& input : model.inputs())
    frame.push_back(millrace::Tensor::zeros(input));
  return frame;
}

double processor_microseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e6 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e3;
}

constexpr std::int64_t slice = 1000;

struct Times {
  double elapsed = 0, processor = 0;  // microseconds a frame; processor: of the best slice
};

Times times_of(millrace::Session& session, const millrace::Frame& frame, std::int64_t count) {
  const std::int64_t depth = session.depth();
  double processor = processor_microseconds(), best = std::numeric_limits<double>::infinity();
  const auto start = Clock::now();
  for (std::int64_t submitted = 0, taken = 0; taken < count; ++taken) {
    while (submitted < count && submitted - taken < depth && session.try_submit(frame)) ++submitted;
    const auto result = session.next();
    if (!result) throw millrace::Error(millrace::ErrorKind::machine, "a result is missing", {});
    if (taken % slice != slice - 1) continue;
    const double now = processor_microseconds();
    best = std::min(best, now - processor);
    processor = now;
  }
  const std::chrono::duration<double, std::micro> elapsed = Clock::now() - start;
  return {elapsed.count() / static_cast<double>(count), best / slice};
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
    times_of(session, frame, 1000);
    const Times times = times_of(session, frame, std::atoll(words[3]));
    std::printf("%.4f %.4f\n", times.elapsed, times.processor);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
