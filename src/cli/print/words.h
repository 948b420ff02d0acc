#pragma once
// The verbs and options of the command, as whoever lists them needs them.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace millrace::cli {

std::vector<const CLI::App*> verbs_of(const CLI::App& app);

struct OptionWords {
  std::vector<std::string> names;   // "-o", "--output"; of a key "--set search.epochs"
  std::string kind;                 // "TEXT"; empty: a flag
  std::string limits;               // "1 to 16", "auto, genetic"; empty: none
  std::vector<std::string> values;  // that it takes, if they are few
  std::string text;
  bool is_key = false;  // --help-all lists it
};
OptionWords words_of(const CLI::Option& option, const std::string& verb);

/// The options that begin with a dash, in their order; --set has the keys as its values.
std::vector<OptionWords> options_of(const CLI::App& verb);

}  // namespace millrace::cli
