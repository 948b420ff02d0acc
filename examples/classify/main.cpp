// Says what is on pictures: the likeliest classes of each.
#include <millrace/millrace.h>

#include <cstdio>

int main(int count, char** arguments) try {
  const auto model = millrace::Model::from_file(arguments[1]);
  millrace::ApplicationSettings settings;  // as the network was trained
  settings.preprocessing.colours = millrace::PixelFormat::grey;
  settings.postprocessing.top = 3;
  const auto application = millrace::Application::of(model, settings);
  auto session = application.start(millrace::plan(model));
  for (int i = 2; i < count; ++i) {
    const auto findings = session.run(millrace::Image::from_file(arguments[i]));
    std::printf("%s:", arguments[i]);
    for (const millrace::Ranked& found : *findings.classes)
      std::printf(" %d (%.2f)", static_cast<int>(found.label), found.value);
    std::printf("\n");
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "classify: %s\n", error.what());
  return 1;
}
