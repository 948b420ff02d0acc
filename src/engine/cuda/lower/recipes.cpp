#include "engine/cuda/lower/recipes.h"

#include <algorithm>

#include "engine/cuda/device/fastest.h"

namespace millrace::engine::cuda {
namespace {

/// Places for what a group touches, with any content.
class TrialMemory {
 public:
  TrialMemory(const Builder& builder, const Touched& touched)
      : driver_(builder.gpu().driver()), addresses_(builder.storage_count()) {
    for (const auto* values : {&touched.reads, &touched.writes})
      for (const Value& value : *values) place(builder, value);
  }
  Execution execution(Stream stream) const { return {&driver_, stream, addresses_}; }

 private:
  void place(const Builder& builder, const Value& value) {
    const Storage& storage = builder.storage(value);
    Address& address = addresses_[value.storage];
    if (address != 0) return;
    if (storage.constant) {
      address = storage.constant->address();
      return;
    }
    address = memory_.emplace_back(driver_, storage.size).address();
  }

  const Driver& driver_;
  std::vector<DeviceMemory> memory_;
  std::vector<Address> addresses_;
};

std::size_t choose(Builder& builder, const std::vector<Recipe>& recipes, const Touched& touched) {
  const TrialMemory memory(builder, touched);
  std::vector<Way> ways;
  for (const Recipe& recipe : recipes)
    ways.push_back([&](Stream stream) {
      const Execution execution = memory.execution(stream);
      for (const Start& start : recipe.starts) start(execution);
    });
  return fastest_of(builder.gpu(), ways);
}

}  // namespace

void add_fastest(Builder& builder, const std::string& key, const std::vector<Recipe>& recipes,
                 const Touched& touched) {
  const std::size_t best =
      builder.gpu().choice(key, [&] { return choose(builder, recipes, touched); });
  const Recipe& recipe = recipes[best];
  builder.name_kernel(recipe.kernel);
  builder.step(touched, [starts = recipe.starts](const Execution& execution) {
    for (const Start& start : starts) start(execution);
  });
}

}  // namespace millrace::engine::cuda
