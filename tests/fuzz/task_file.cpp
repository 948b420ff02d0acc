// A task system, in the project's own form or in that of other tools.
#include "realtime/files/task_file.h"

#include "fuzz.h"
#include "realtime/utilisation.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  return fuzz::attempt([&] {
    const std::string text(fuzz::text_of(data, size));
    const auto file = realtime::task_file_of(parse_yaml(text, "fuzz.yaml"), "fuzz.yaml");
    realtime::utilisations(file.system);
  });
}
