#pragma once
// The words of the command line before they are parsed: names of before, and --set.
#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::cli {

struct Words {
  std::vector<std::string> words;  // without the program's name
  bool shows_all = false;          // --help-all was among them
  std::string listed = {};         // `--set AREA.`: what is printed instead of working
  std::string note = {};           // a name of before, and what it is now
  std::map<std::string, std::string> typed = {};  // "--epochs": "--set search.epochs"

  /// A message with the words that the user typed.
  std::string in_typed_words(const std::string& message) const;
};

/// "--max-latency" of the setting max_latency.
std::string option_of(std::string_view setting);

/// The text with its settings (base/text/settings.h) as options: --max-latency.
std::string in_options(std::string_view text);

/// InputError if --set names no key of the verb.
Words understood(std::vector<std::string> words);

}  // namespace millrace::cli
