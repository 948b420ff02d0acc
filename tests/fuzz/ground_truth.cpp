#include "application/accuracy/truth.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  using namespace millrace::application;
  const fuzz::MemoryFile file(fuzz::text_of(data, size));
  const std::string path = file.path().string();
  const ClassNames names{{"cat", "dog", "tv"}};
  fuzz::attempt([&] { read_coco(path, names); });
  fuzz::attempt([&] { read_voc(path, names); });
  fuzz::attempt([&] { read_yolo_text(path, names); });
  return fuzz::attempt([&] { read_classes(path, names); });
}
