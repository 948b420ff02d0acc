#pragma once
// Names of files on the command line.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>

namespace millrace::cli {

/// A picture is drawn as SVG: a name that ends otherwise would say something else.
inline CLI::Validator svg_name() {
  return CLI::Validator(
      [](std::string& name) {
        const std::string ending = std::filesystem::path(name).extension().string();
        if (ending.empty() || ending == ".svg") return std::string();
        return fmt::format("'{}' ends in '{}', but the picture is drawn as SVG; name a file that "
                           "ends in .svg",
                           name, ending);
      },
      "");
}

}  // namespace millrace::cli
