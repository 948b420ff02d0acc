#include "engine/cuda/lower/recipes.h"

#include <fmt/format.h>

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

Recipe fastest(Builder& builder, const Recipes& recipes, const Value& workspace,
               const Touched& touched) {
  std::vector<Recipe> all = recipes.all();
  for (const Recipe& recipe : all) builder.enlarge(workspace, recipe.workspace);
  if (all.size() == 1) return all.front();
  const TrialMemory memory(builder, touched);
  std::vector<Way> ways;
  for (const Recipe& recipe : all)
    ways.push_back([&](Stream stream) {
      const Execution execution = memory.execution(stream);
      for (const Start& start : recipe.starts) start(execution);
    });
  return std::move(all[fastest_of(builder.gpu(), ways)]);
}

}  // namespace

std::string name_of_proposal(const std::string& kernel, std::size_t number) {
  return fmt::format("{} #{}", kernel, number);
}

void add_fastest(Builder& builder, const Recipes& recipes, const Value& workspace,
                 const Touched& touched) {
  std::optional<Recipe> recipe;
  if (const auto known = builder.gpu().choice(recipes.key)) recipe = recipes.named(*known);
  if (!recipe) {
    recipe = fastest(builder, recipes, workspace, touched);
    builder.gpu().remember(recipes.key, recipe->name);
  }
  builder.resize(workspace, recipe->workspace);
  builder.name_kernel(recipe->kernel);
  builder.step(touched, [starts = recipe->starts](const Execution& execution) {
    for (const Start& start : starts) start(execution);
  });
}

}  // namespace millrace::engine::cuda
