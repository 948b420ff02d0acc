#pragma once
// How a drive of a deployment comes about: what `run` and `simulate` ask alike.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

namespace millrace::cli {

/// Where the options put what was given.
struct DrivePlaces {
  std::string& script;
  std::int64_t& transitions;
  double& duration_s;
};

/// Borrowed by the verb.
struct DriveChoices {
  CLI::Option* script = nullptr;
  CLI::Option* transitions = nullptr;
  CLI::Option* duration = nullptr;
};

DriveChoices bind_drive_choices(CLI::App& verb, const DrivePlaces& places);

}  // namespace millrace::cli
