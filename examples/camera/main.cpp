// Runs an application on the video or camera that its file names, and shows how fast it is.
#include <millrace/millrace.h>

#include <algorithm>
#include <cstdio>

int main(int, char** arguments) try {
  const auto application = millrace::Application::from_file(arguments[1]);
  const auto plan = millrace::plan(application.model());
  millrace::Duration longest{};
  const auto totals = application.run(plan, [&](const millrace::Outcome& outcome) {
    longest = std::max(longest, outcome.latency);  // outcome.findings has what was found
  });
  const double seconds = static_cast<double>(totals.elapsed.count()) / 1e9;
  const auto frames = static_cast<double>(totals.frames);
  std::printf("%.0f frames, %.1f frames/s, latency %.2f ms at most\n", frames, frames / seconds,
              static_cast<double>(longest.count()) / 1e6);
} catch (const std::exception& error) {
  std::fprintf(stderr, "camera: %s\n", error.what());
  return 1;
}
