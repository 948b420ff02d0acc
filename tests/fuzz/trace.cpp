#include "base/trace.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  const fuzz::MemoryFile file(fuzz::text_of(data, size));
  return fuzz::attempt([&] { read_chrome_trace(file.path()); });
}
