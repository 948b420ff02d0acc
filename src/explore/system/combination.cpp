#include "explore/system/combination.h"

namespace millrace::explore {

std::vector<Scene> scenes_of(const system::System& system) {
  std::vector<Scene> scenes;
  const std::vector<double> shares = system::shares(system);
  for (std::size_t s = 0; s < system.scenarios.size(); ++s)
    scenes.push_back({system.scenarios[s].groups, shares[s]});
  return scenes;
}

Scene scene_of_all(const system::System& system) {
  Scene scene;
  for (std::size_t g = 0; g < system.groups.size(); ++g) scene.groups.emplace_back(g);
  return scene;
}

}  // namespace millrace::explore
