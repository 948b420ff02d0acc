#pragma once
// Where the options of a verb put what was given.
#include <CLI/CLI.hpp>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "cli/options/record.h"

namespace millrace::cli {

/// Binds each option that the table has for the verb to its place. Places are borrowed by the verb.
class Places {
 public:
  using Take = std::function<void(const std::string&)>;

  explicit Places(CLI::App& verb) : verb_(verb) {}
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;

  /// A word that is no option.
  template <class Place>
  CLI::Option* word(const char* name, Place& place, const std::string& help) {
    return verb_.add_option(name, place, help);
  }

  template <class Place>
  Places& put(std::string_view name, Place& place) {
    makers_[name] = [this, &place](const Record& record, const std::string& names) {
      return make(record, names, place);
    };
    return *this;
  }
  /// Calls `take` with each value.
  Places& each(std::string_view name, Take take);
  /// The values that the record calls `one`: of a list that the program has.
  Places& one_of(std::string_view name, std::string& place, std::vector<std::string> values);

  /// Adds the options, in the order of the table. std::logic_error if a record of the verb has no
  /// place, or a place no record.
  void finish();

 private:
  using Make = std::function<CLI::Option*(const Record&, const std::string&)>;

  template <class Place>
  CLI::Option* make(const Record& record, const std::string& names, Place& place) {
    const std::string help(record.help);
    if constexpr (std::is_same_v<Place, bool>) {
      return verb_.add_flag(names, place, help);
    } else {
      CLI::Option* option = verb_.add_option(names, place, help);
      if constexpr (std::is_arithmetic_v<Place>) {
        if (place != Place{} || record.rule.find("0..") == 0) option->capture_default_str();
      } else if constexpr (std::is_same_v<Place, std::string>) {
        if (!place.empty()) option->capture_default_str();
      }
      return option;
    }
  }
  void add(const Area& area, const Record& record);

  CLI::App& verb_;
  std::map<std::string_view, Make> makers_;
  std::map<std::string_view, std::vector<std::string>> values_;
};

/// InputError if an option was given that is not for `kind`: "plans".
void refuse_others(const CLI::App& verb, std::string_view kind);
/// InputError if one of the area was given: it is for `only`.
void refuse_area(const CLI::App& verb, std::string_view area, std::string_view only);
/// InputError if one was given whose area and name are not in `areas` and `names`.
struct Allowed {
  std::initializer_list<std::string_view> areas, names;
};
void refuse_all_but(const CLI::App& verb, std::string_view kind, const Allowed& allowed);
/// InputError if `option` was given and `holds` is false: `with` is "--times drawn".
void refuse_unless(bool holds, const CLI::App& verb, const char* option, const char* with);

}  // namespace millrace::cli
