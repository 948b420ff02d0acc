#include "board/arm_cores.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::board {
namespace {

using Known = std::pair<std::string_view, std::string_view>;

/// Implementer and part, as in the register MIDR_EL1: ARM's and others' technical reference
/// manuals.
constexpr std::array<Known, 22> known{
    {{"0x41 0xd03", "Cortex-A53"},   {"0x41 0xd04", "Cortex-A35"},   {"0x41 0xd05", "Cortex-A55"},
     {"0x41 0xd07", "Cortex-A57"},   {"0x41 0xd08", "Cortex-A72"},   {"0x41 0xd09", "Cortex-A73"},
     {"0x41 0xd0a", "Cortex-A75"},   {"0x41 0xd0b", "Cortex-A76"},   {"0x41 0xd0c", "Neoverse-N1"},
     {"0x41 0xd0d", "Cortex-A77"},   {"0x41 0xd0e", "Cortex-A76AE"}, {"0x41 0xd40", "Neoverse-V1"},
     {"0x41 0xd41", "Cortex-A78"},   {"0x41 0xd42", "Cortex-A78AE"}, {"0x41 0xd44", "Cortex-X1"},
     {"0x41 0xd46", "Cortex-A510"},  {"0x41 0xd47", "Cortex-A710"},  {"0x41 0xd49", "Neoverse-N2"},
     {"0x41 0xd4b", "Cortex-A78C"},  {"0x41 0xd4d", "Cortex-A715"},  {"0x41 0xd4f", "Neoverse-V2"},
     {"0x4e 0x004", "NVIDIA Carmel"}}};

std::string name_of(const std::string& implementer, const std::string& part) {
  const std::string numbers = implementer + " " + part;
  const auto found = std::find_if(known.begin(), known.end(),
                                  [&](const Known& each) { return each.first == numbers; });
  return found != known.end() ? std::string(found->second)
                              : "implementer " + implementer + " part " + part;
}

/// The word after the colon.
std::string value_of(const std::string& line) {
  const std::size_t colon = line.find(": ");
  return colon == std::string::npos ? "" : line.substr(colon + 2);
}

}  // namespace

std::map<int, std::string> arm_models(std::istream& cpuinfo) {
  std::map<int, std::string> models;
  std::string implementer;
  int core = 0;
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.starts_with("processor")) core = std::atoi(value_of(line).c_str());
    if (line.starts_with("CPU implementer")) implementer = value_of(line);
    if (line.starts_with("CPU part")) models[core] = name_of(implementer, value_of(line));
  }
  return models;
}

std::string arm_cores(std::istream& cpuinfo) {
  std::vector<std::string> names;
  std::string implementer;
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.starts_with("CPU implementer")) implementer = value_of(line);
    if (!line.starts_with("CPU part")) continue;
    std::string name = name_of(implementer, value_of(line));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " + ") + name;
  return text;
}

}  // namespace millrace::board
