// What a video's file says of its own length.
#include "application/codecs/container.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  const fuzz::MemoryFile file(fuzz::text_of(data, size));
  return fuzz::attempt([&] {
    application::announces_frames(file.path(), 1);
    application::announced_bytes(file.path());
  });
}
