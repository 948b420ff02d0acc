#include "dataflow/sdf3.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  return fuzz::attempt([&] {
    const dataflow::Sdf3File file =
        dataflow::parse_sdf3(std::string(fuzz::text_of(data, size)), "fuzz.xml");
    dataflow::to_sdf3(file.graph);
  });
}
