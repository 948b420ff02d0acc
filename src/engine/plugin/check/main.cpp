// millrace-plugin-check PLUGIN.so: is an engine of somebody else fit for use?
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "engine/plugin/check/checks.h"

namespace {

namespace check = millrace::engine::plugin::check;

constexpr const char* usage =
    "Usage: millrace-plugin-check [--limit SECONDS] [--option KEY=VALUE]... PLUGIN.so\n\n"
    "Checks an engine: results, determinism, shapes, reasons, threads, leaks, memory and times.\n"
    "A call may take SECONDS (default 60). Each check has a process of its own, so that crashes\n"
    "and hangs are found. The exit code is 0 if nothing was found, 1 if something was, 2 for\n"
    "wrong usage.\n";

struct Asked {
  check::Tested tested;
  double limit = 60;
};

Asked read(const std::vector<std::string>& words) {
  Asked asked;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string value = i + 1 < words.size() ? words[i + 1] : "";
    const std::size_t equals = value.find('=');
    if (words[i] == "--limit") {
      asked.limit = std::atof(value.c_str());
      if (!(asked.limit > 0 && asked.limit < 1e5))
        throw millrace::InputError("--limit", "found '" + value + "', expected seconds such as 60");
      ++i;
    } else if (words[i] == "--option") {
      if (equals == std::string::npos || equals == 0)
        throw millrace::InputError("--option", "found '" + value + "', expected KEY=VALUE");
      asked.tested.settings[value.substr(0, equals)] = value.substr(equals + 1);
      ++i;
    } else if (words[i].starts_with("-") || !asked.tested.file.empty()) {
      throw millrace::InputError(words[i], "is not expected; try --help");
    } else {
      asked.tested.file = words[i];
    }
  }
  if (asked.tested.file.empty())
    throw millrace::InputError("millrace-plugin-check", "names no plug-in; try --help");
  return asked;
}

void print(const check::DeviceReport& device) {
  fmt::print("{} ({}): {} cases run, {} right; {} refused\n", device.name, device.model, device.run,
             device.right, device.refused.size());
  for (const std::string& refused : device.refused) fmt::print("  refused {}\n", refused);
  for (const std::string& time : device.times) fmt::print("  time {}\n", time);
  for (const std::string& fault : device.faults) fmt::print("  FAULT {}\n", fault);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 1 && words[0] == "--help") return fmt::print("{}", usage), 0;
  try {
    const Asked asked = read(words);
    const check::Report report = check::check_plugin(asked.tested, asked.limit);
    for (const std::string& fault : report.faults) fmt::print("FAULT {}\n", fault);
    for (const check::DeviceReport& device : report.devices) print(device);
    if (report.faults.empty() && report.devices.empty()) fmt::print("it reaches no device here\n");
    fmt::print("{}\n", report.is_good() ? "nothing was found" : "not fit for use");
    return report.is_good() ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "millrace-plugin-check: {}\n", error.what());
    return 2;
  }
}
