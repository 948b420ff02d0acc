#include "cli/options/places.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "cli/options/rules.h"

namespace millrace::cli {
namespace {

constexpr std::pair<std::string_view, std::string_view> other_names[] = {
    {"output", ",-o"}, {"input", ",-i"}, {"verbose", ",-v"}, {"search-time", ",--time-limit"}};

std::string names_of(const Record& record) {
  std::string names = has_word(record.rule, "second") ? std::string(record.name) + "," : "";
  names += (has_word(record.rule, "!") ? "!--" : "--") + std::string(record.name);
  for (const auto& [name, other] : other_names)
    if (record.name == name) names += other;
  return names;
}

/// Each option of the table that was given.
template <class Check>
void for_given(const CLI::App& verb, const Check& check) {
  for (const CLI::Option* option : verb.get_options()) {
    if (option->count() == 0 || option->get_lnames().empty()) continue;
    const Found found = find_record(verb.get_name(), option->get_lnames().front());
    if (found.record != nullptr) check(found, option->get_name());
  }
}

bool contains(std::initializer_list<std::string_view> list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

[[noreturn]] void refuse(const std::string& option, std::string_view only, std::string_view kind) {
  const std::string of = only.empty() ? "is" : fmt::format("is for {},", only);
  throw InputError(option, fmt::format("{} not for {}; leave it out", of, kind));
}

}  // namespace

Places& Places::each(std::string_view name, Take take) {
  makers_[name] = [this, take = std::move(take)](const Record& record, const std::string& names) {
    const std::string help(record.help);
    if (!has_word(record.rule, "*") && !has_word(record.rule, ","))
      return verb_.add_option_function<std::string>(names, take, help);
    const auto take_all = [take](const std::vector<std::string>& texts) {
      std::for_each(texts.begin(), texts.end(), take);
    };
    return verb_.add_option_function<std::vector<std::string>>(names, take_all, help);
  };
  return *this;
}

Places& Places::one_of(std::string_view name, std::string& place,
                       std::vector<std::string> values) {
  values_[name] = std::move(values);
  return put(name, place);
}

void Places::add(const Area& area, const Record& record) {
  if (area.name == "afar") each(record.name, [](const std::string&) {});  // see do_on_board()
  const auto make = makers_.find(record.name);
  if (make == makers_.end())
    throw std::logic_error(verb_.get_name() + " has no place for --" + std::string(record.name));
  CLI::Option* option = make->second(record, names_of(record));
  option->group(std::string(area.title));
  if (const auto values = values_.find(record.name); values != values_.end())
    option->check(CLI::IsMember(values->second));
  makers_.erase(make);
}

void Places::finish() {
  const std::string verb = verb_.get_name();
  std::vector<const Record*> added;
  for (const Area& area : table().areas)
    for (const Record& record : area.records) {
      if (!has_word(record.shown, verb) && !has_word(record.keys, verb)) continue;
      add(area, record);
      added.push_back(&record);
    }
  if (!makers_.empty())
    throw std::logic_error(verb + ": no record of --" + std::string(makers_.begin()->first));
  for (const Record* record : added)
    apply_rule(verb_, *verb_.get_option("--" + std::string(record->name)), record->rule);
}

void refuse_others(const CLI::App& verb, std::string_view kind) {
  for_given(verb, [&](const Found& found, const std::string& name) {
    const std::string_view only = found.record->only;
    if (!only.empty() && only.find(kind) == only.npos) refuse(name, only, kind);
  });
}

void refuse_area(const CLI::App& verb, std::string_view area, std::string_view only) {
  for_given(verb, [&](const Found& found, const std::string& name) {
    if (found.area->name == area)
      throw InputError(name, fmt::format("is for {}; leave it out", only));
  });
}

void refuse_all_but(const CLI::App& verb, std::string_view kind, const Allowed& allowed) {
  for_given(verb, [&](const Found& found, const std::string& name) {
    if (!contains(allowed.areas, found.area->name) && !contains(allowed.names, found.record->name))
      refuse(name, found.record->only, kind);
  });
}

void refuse_unless(bool holds, const CLI::App& verb, const char* option, const char* with) {
  if (!holds && verb.get_option(option)->count() > 0)
    throw InputError(option, std::string("only ") + with +
                                 " uses it; give that too, or leave it out");
}

}  // namespace millrace::cli
