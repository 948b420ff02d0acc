#include "network/calibration_file.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  const fuzz::MemoryFile file(fuzz::text_of(data, size));
  return fuzz::attempt([&] { network::read_calibration(file.path()); });
}
