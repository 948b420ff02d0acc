// The blob of a bundle; and what is written is read again.
#include "engine/plugin/blob.h"

#include <algorithm>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  const engine::plugin::BlobIdentity identity{"example", "1", "example NPU", "0"};
  const std::string_view text = fuzz::text_of(data, size);
  const auto content = std::as_bytes(std::span(text));
  const std::string file = engine::plugin::blob_file(identity, content);
  if (!std::ranges::equal(engine::plugin::blob_in(file, identity, "file"), content)) std::abort();
  return fuzz::attempt([&] { engine::plugin::blob_in(text, identity, "file"); });
}
