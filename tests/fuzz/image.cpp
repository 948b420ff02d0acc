#include "application/image_file.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  const fuzz::MemoryFile file(fuzz::text_of(data, size));
  return fuzz::attempt([&] { application::decode_image(file.path(), size % 2 == 0); });
}
