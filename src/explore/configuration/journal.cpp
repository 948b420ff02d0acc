#include "explore/configuration/journal.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "base/files/regular_file.h"
#include "plan/steps.h"

namespace millrace::explore {
namespace {

constexpr std::int64_t most_threads = 1024;
constexpr const char* title = "# millrace search 2";

/// Its name, where no separator can be in it.
std::string label_of(const board::Board& board, ProcessorId processor) {
  const std::string& name = board[processor].name;
  const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
  });
  return plain && !name.empty() ? name : fmt::format("#{}", processor.index);
}

std::string header_of(const Facts& facts, const board::Board& board) {
  std::string header = title;
  for (const auto& [name, value] : facts) header += fmt::format(" {}={}", name, value);
  header +=
      "\ncandidate,option,stages,last_layers,slots,streams,pre_threads,post_threads,throughput_fps";
  for (std::size_t p = 0; p < board.processors.size(); ++p)
    header += ",utilisation_" + label_of(board, ProcessorId(p));
  return header + "\n";
}

std::string stages_text(const std::vector<ProcessorGroup>& stages, const board::Board& board) {
  std::vector<std::string> texts;
  for (const ProcessorGroup& group : stages) {
    std::vector<std::string> labels;
    for (const ProcessorId processor : group) labels.push_back(label_of(board, processor));
    texts.push_back(fmt::format("{}", fmt::join(labels, "+")));
  }
  return fmt::format("{}", fmt::join(texts, ">"));
}

std::string option_name(const std::vector<ProcessorGroup>& stages, const board::Board& board) {
  for (const MappingOption& option : mapping_options(board))
    if (option.stages == stages && option.name != text_of(stages, board)) return option.name;
  return "";
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, at);) words.push_back(word);
  return words;
}

template <class T>
std::optional<T> number_in(const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// What a line says; nothing if it is no candidate of this board and network.
class Row {
 public:
  Row(const std::string& line, const SearchContext& context)
      : words_(split(line, ',')), context_(context) {}

  std::optional<std::pair<Configuration, Score>> read() const {
    constexpr std::size_t fixed = 9;
    const std::size_t processors = context_.board.processors.size();
    if (words_.size() != fixed + processors || !number_in<std::size_t>(words_[0]))
      return std::nullopt;
    Configuration configuration;
    Score score;
    if (!read_stages(configuration) || !read_cuts(configuration) || !read_streams(configuration))
      return std::nullopt;
    const auto number = [&](std::size_t word, std::int64_t least, std::int64_t most,
                            std::int64_t& to) {
      const auto found = number_in<std::int64_t>(words_[word]);
      if (found) to = *found;
      return found && to >= least && to <= most;
    };
    if (!number(4, 1, plan::largest_capacity, configuration.slots) ||
        !number(6, 0, most_threads, configuration.pre_threads) ||
        !number(7, 0, most_threads, configuration.post_threads))
      return std::nullopt;
    for (std::size_t word = fixed - 1; word < words_.size(); ++word) {
      const auto value = number_in<double>(words_[word]);
      if (!value || !std::isfinite(*value) || *value < 0) return std::nullopt;
      if (word == fixed - 1)
        score.throughput = *value;
      else
        score.utilisation.push_back(*value);
    }
    return std::pair(std::move(configuration), std::move(score));
  }

 private:
  bool read_stages(Configuration& configuration) const {
    for (const std::string& stage : split(words_[2], '>')) {
      ProcessorGroup& group = configuration.stages.emplace_back();
      for (const std::string& label : split(stage, '+')) {
        std::size_t p = 0;
        while (p < context_.board.processors.size() &&
               label_of(context_.board, ProcessorId(p)) != label)
          ++p;
        if (p == context_.board.processors.size()) return false;
        group.emplace_back(p);
      }
      if (group.empty()) return false;
    }
    return !configuration.stages.empty();
  }

  bool read_cuts(Configuration& configuration) const {
    for (const std::string& word : split(words_[3], ';')) {
      const auto cut = number_in<std::size_t>(word);
      if (!cut || *cut + 1 >= context_.problem.layers ||
          (!configuration.cuts.empty() && *cut <= configuration.cuts.back()))
        return false;
      configuration.cuts.push_back(*cut);
    }
    return configuration.cuts.size() + 1 == configuration.stages.size();
  }

  bool read_streams(Configuration& configuration) const {
    for (const std::string& word : split(words_[5], ';')) {
      const auto streams = number_in<std::int64_t>(word);
      if (!streams || *streams < 1 || *streams > plan::most_replicas) return false;
      configuration.streams.push_back(*streams);
    }
    const std::size_t count = configuration.streams.size();
    return count == 0 || count == configuration.stages.size();
  }

  std::vector<std::string> words_;
  const SearchContext& context_;
};

/// Empty if there is none of this name.
std::string fact_in(const std::string& header, const std::string& name) {
  const std::vector<std::string> words = split(header.substr(0, header.find('\n')), ' ');
  const auto found = std::ranges::find_if(
      words, [&](const std::string& word) { return word.starts_with(name + "="); });
  return found == words.end() ? "" : found->substr(name.size() + 1);
}

/// The first fact in which a header is not that of these facts.
std::string difference(const std::string& header, const Facts& facts) {
  for (const auto& [name, value] : facts) {
    const std::string theirs = fact_in(header, name);
    if (theirs != value)
      return fmt::format("its {} is {}, this one's {}", name,
                         theirs.empty() ? "not there" : "'" + theirs + "'", "'" + value + "'");
  }
  return "its processors are others";
}

}  // namespace

Journal::Journal(std::filesystem::path path, const Facts& facts, const SearchContext& context)
    : Journal(std::move(path), context) {
  open(std::ios::out | std::ios::trunc);
  write(header_of(facts, context.board));
}

Journal Journal::resume(std::filesystem::path path, const Facts& facts,
                        const SearchContext& context) {
  const std::string text = read_file(path), header = header_of(facts, context.board);
  if (header.starts_with(text)) return Journal(std::move(path), facts, context);
  if (!text.starts_with(title))
    throw InputError(path.string(), "is no journal of a search; expected a file that ⟨log⟩ wrote");
  if (!text.starts_with(header))
    throw InputError(path.string(),
                     fmt::format("is the journal of another search: {}; give the options it was "
                                 "written with, or begin a new one with ⟨log⟩",
                                 difference(text, facts)));
  const std::size_t whole = text.rfind('\n') + 1;
  Journal journal(std::move(path), context);
  journal.read(text.substr(0, whole), header.size());
  if (whole < text.size()) std::filesystem::resize_file(journal.path_, whole);
  journal.open(std::ios::out | std::ios::app);
  return journal;
}

std::map<Configuration, Score> Journal::read(const std::filesystem::path& path,
                                             const SearchContext& context) {
  return known_in(read_file(path), path, context);
}

std::map<Configuration, Score> Journal::known_in(const std::string& text,
                                                 const std::filesystem::path& path,
                                                 const SearchContext& context) {
  const std::string header = header_of({}, context.board);
  if (!text.starts_with(title))
    throw InputError(path.string(), "is no journal of a search; expected a file that ⟨log⟩ wrote");
  const std::size_t columns = text.find('\n') + 1, end = text.find('\n', columns);
  const std::string expected = header.substr(header.find('\n') + 1);
  if (end == std::string::npos || text.substr(columns, end + 1 - columns) != expected)
    throw InputError(path.string(),
                     "is the journal of a search on another board; give one of this board");
  Journal journal(path, context);
  journal.read(text.substr(0, text.rfind('\n') + 1), end + 1);
  return std::move(journal.known_);
}

std::string Journal::fact(const std::filesystem::path& path, const std::string& name) {
  const std::string text = read_file(path);
  const bool is_whole = text.starts_with(title) && text.find('\n') != std::string::npos;
  return is_whole ? fact_in(text, name) : "";
}

void Journal::read(const std::string& text, std::size_t begin) {
  std::size_t number = 3;  // of the line in the file
  for (std::size_t end = 0; begin < text.size(); begin = end + 1, ++number) {
    end = text.find('\n', begin);
    const auto row = Row(text.substr(begin, end - begin), context_).read();
    if (!row)
      throw InputError(fmt::format("{}:{}", path_.string(), number),
                       "is no candidate of this network and board; remove the line, or begin a "
                       "new journal with ⟨log⟩");
    known_.insert(*row);
    ++rows_;
  }
}

void Journal::open(std::ios::openmode mode) {
  check_is_regular(path_);
  file_.open(path_, mode | std::ios::binary);
  if (!file_) throw EngineError(fmt::format("{}: cannot be written", path_.string()));
}

void Journal::write(const std::string& text) {
  file_ << text << std::flush;
  if (!file_)
    throw EngineError(fmt::format("{}: cannot be written; is the disk full?", path_.string()));
}

void Journal::add(const Configuration& configuration, const Score& score) {
  write(fmt::format(
      "{},{},{},{},{},{},{},{},{},{}\n", ++rows_, option_name(configuration.stages, context_.board),
      stages_text(configuration.stages, context_.board), fmt::join(configuration.cuts, ";"),
      configuration.slots, fmt::join(configuration.streams, ";"), configuration.pre_threads,
      configuration.post_threads, score.throughput, fmt::join(score.utilisation, ",")));
}

}  // namespace millrace::explore
