#include "application/jedi/jedi.h"
#include "application/jedi/import_jedi.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  namespace jedi = application::jedi;
  return fuzz::attempt([&] {
    const std::string content(fuzz::text_of(data, size));
    for (const jedi::Instance& instance : jedi::parse(content, "fuzz.cfg").instances)
      fuzz::attempt([&] { jedi::import_instance(instance, "/nonexistent/fuzz.cfg", "/"); });
  });
}
