// A system: what runs how often and by when, and how much of the time is spent in which scenario.
#include "system/system_file.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  return fuzz::attempt([&] {
    const auto system = system::parse_system(std::string(fuzz::text_of(data, size)), "fuzz.yaml");
    system::shares(system);
    for (std::size_t g = 0; g < system.groups.size(); ++g)
      for (std::int64_t level = 0; level < system.levels; ++level)
        system::deadline_of(system, system::GroupId(g), level);
  });
}
