#include "engine/cuda/lower/recipes.h"

#include <algorithm>
#include <mutex>

#include "engine/cuda/device/fastest.h"

namespace millrace::engine::cuda {
namespace {

/// Places for what a group touches, with any content.
class TrialMemory {
 public:
  TrialMemory(const Builder& builder, const Touched& touched)
      : driver_(builder.gpu().driver()), addresses_(builder.storages().size()) {
    const std::vector<Storage>& storages = builder.storages();
    for (std::size_t i = 0; i < addresses_.size(); ++i)
      if (const auto& constant = storages[i].constant) addresses_[i] = constant->address();
    for (const auto* values : {&touched.reads, &touched.writes})
      for (const Value& value : *values) place(storages[value.storage], addresses_[value.storage]);
  }
  Execution execution(Stream stream) const { return {&driver_, stream, addresses_}; }

 private:
  void place(const Storage& storage, Address& address) {
    if (address == 0) address = memory_.emplace_back(driver_, storage.size).address();
  }

  const Driver& driver_;
  std::vector<DeviceMemory> memory_;
  std::vector<Address> addresses_;
};

/// A recipe, and whether all could be compared with it.
struct Found {
  Recipe recipe;
  bool is_sure = true;
};
Found fastest(Builder& builder, const Recipes& recipes, const Value& workspace,
              const Touched& touched) {
  std::vector<Recipe> all = recipes.all();
  Bytes needed = builder.storages()[workspace.storage].size;
  for (const Recipe& recipe : all) needed = std::max(needed, recipe.workspace);
  builder.resize(workspace, needed);
  if (all.size() == 1) return {std::move(all.front())};
  // Others wait, so that neither times nor memory are of several trials at once.
  const std::lock_guard lock(builder.gpu().turns());
  const TrialMemory memory(builder, touched);
  std::vector<Way> ways;
  for (const Recipe& recipe : all)
    ways.push_back([&](Stream stream) {
      const Execution execution = memory.execution(stream);
      for (const Start& start : recipe.starts) start(execution);
    });
  const Fastest best = fastest_of(builder.gpu(), ways);
  return {std::move(all[best.number]), best.all_ran};
}

}  // namespace

void add_fastest(Builder& builder, const Recipes& recipes, const Value& workspace,
                 const Touched& touched) {
  std::optional<Recipe> recipe;
  if (const auto known = builder.gpu().choice(recipes.key)) recipe = recipes.named(*known);
  if (!recipe) {
    Found found = fastest(builder, recipes, workspace, touched);
    if (found.is_sure) builder.gpu().remember(recipes.key, found.recipe.name);
    recipe = std::move(found.recipe);
  }
  builder.resize(workspace, recipe->workspace);
  builder.name_kernel(recipe->kernel);
  builder.step(touched, [starts = recipe->starts](const Execution& execution) {
    for (const Start& start : starts) start(execution);
  });
}

}  // namespace millrace::engine::cuda
