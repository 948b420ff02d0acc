#pragma once
// Every candidate of a search as a line of a CSV file, from which an interrupted search goes on.
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "explore/configuration/configuration.h"

namespace millrace::explore {

/// Names and values of all that decides what a search does: hashes, method, seed, ... Without
/// spaces and commas.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// A comment with the facts, a line of column names, then the candidates in their order. Each line
/// is whole on disk before the next candidate is measured.
class Journal {
 public:
  /// Begins the file anew. EngineError if it cannot be written.
  Journal(std::filesystem::path path, const Facts& facts, const SearchContext& context);

  /// Goes on with the file; a last line that was cut off is dropped. InputError, with the first
  /// fact that differs, if it is of another search; with the line if that cannot be read.
  static Journal resume(std::filesystem::path path, const Facts& facts,
                        const SearchContext& context);

  /// What another search found, of any network with as many layers or other options, by the
  /// journal it wrote. InputError as resume(), but for its facts.
  static std::map<Configuration, Score> read(const std::filesystem::path& path,
                                             const SearchContext& context);

  /// The same of the text of a journal; `path` is named in errors.
  static std::map<Configuration, Score> known_in(const std::string& text,
                                                 const std::filesystem::path& path,
                                                 const SearchContext& context);

  /// What a journal's first line says of this name; empty: nothing, or it is no journal.
  static std::string fact(const std::filesystem::path& path, const std::string& name);

  void add(const Configuration& configuration, const Score& score);
  /// What was in the file.
  const std::map<Configuration, Score>& known() const { return known_; }

 private:
  Journal(std::filesystem::path path, const SearchContext& context)
      : path_(std::move(path)), context_(context) {}
  void open(std::ios::openmode mode);
  void write(const std::string& text);
  void read(const std::string& text, std::size_t begin);

  std::filesystem::path path_;
  const SearchContext& context_;
  std::ofstream file_;
  std::map<Configuration, Score> known_;
  std::size_t rows_ = 0;
};

}  // namespace millrace::explore
