#include "application/application_file.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  const std::string content(fuzz::text_of(data, size));
  return fuzz::attempt([&] { application::parse_application(content, "/nonexistent/fuzz.yaml"); });
}
