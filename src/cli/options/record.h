#pragma once
// The table of verbs and options, options.table: one record for each. Command line, help,
// completion and manual page are made from it.
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::cli {

struct VerbRecord {
  std::string_view name, place, purpose, example;  // place: "first" or "more"
};

struct Record {
  std::string_view name;
  std::string_view shown, keys;  // verbs that list it, and those where it is --set AREA.NAME
  std::string_view rule;         // what it takes: words that the table explains
  std::string_view help;         // --help shows its first sentence
  std::string_view only;         // the kinds of files, or actions, that it is for; empty: all
};

struct Area {
  std::string_view name, title;
  std::vector<Record> records = {};
};

struct Table {
  std::vector<VerbRecord> verbs;
  std::vector<Area> areas;  // in the order of --help
};
const Table& table();

/// Whether `word` is one of the words of `text`.
bool has_word(std::string_view text, std::string_view word);

struct Found {
  const Area* area = nullptr;
  const Record* record = nullptr;  // null: the verb has no such option
  bool is_key = false;

  std::string key() const;  // "search.epochs"
};
Found find_record(std::string_view verb, std::string_view name);

}  // namespace millrace::cli
