#include "explore/configuration/journal.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "explore/contexts.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace millrace::explore {
namespace {

using test::Field;

const Facts facts{{"method", "cut-points"}, {"seed", "1"}};

struct Outcome {
  std::optional<Configuration> found;
  std::vector<Configuration> order;
  std::size_t simulated = 0;  // not known before
};

Outcome run(const Field& field, Journal& journal, const char* method) {
  Outcome outcome;
  CandidateCacheOptions options;
  options.candidates = 60;
  options.known = journal.known();
  options.note = [&](const Configuration& candidate, const Score& score, bool again) {
    if (!again) journal.add(candidate, score);
    outcome.simulated += again ? 0 : 1;
  };
  CandidateCache cache = field.cache(options);
  outcome.found = method_named(method)->run(cache, {});
  outcome.order = cache.order();
  return outcome;
}

std::string cut_off(const std::string& text, std::size_t bytes) { return text.substr(0, bytes); }

TEST(Journal, a_search_that_was_killed_anywhere_goes_on_to_the_same_result) {
  const millrace::test::TemporaryFolder folder;
  const auto path = folder.path() / "search.csv";
  const Field field(20, 2, 6);
  for (const char* method : {"cut-points", "random", "all-genetic"}) {
    Journal whole(path, facts, field.context);
    const Outcome uninterrupted = run(field, whole, method);
    ASSERT_GT(uninterrupted.order.size(), 20u);
    const std::string text = read_file(path);
    for (std::size_t bytes = 0; bytes <= text.size(); bytes += 1 + text.size() / 41) {
      write_file(path, cut_off(text, bytes));
      Journal journal = Journal::resume(path, facts, field.context);
      const std::size_t known = journal.known().size();
      const Outcome resumed = run(field, journal, method);
      ASSERT_EQ(resumed.found, uninterrupted.found) << method << ", killed after " << bytes;
      ASSERT_EQ(resumed.order, uninterrupted.order) << method << ", killed after " << bytes;
      ASSERT_EQ(resumed.simulated + known, uninterrupted.order.size());
      ASSERT_EQ(read_file(path), text) << method << ", killed after " << bytes;
    }
  }
}

TEST(Journal, of_another_search_is_refused_with_what_differs) {
  const millrace::test::TemporaryFolder folder;
  const auto path = folder.path() / "search.csv";
  const Field field(12, 1);
  Journal(path, facts, field.context);
  const Facts other{{"method", "cut-points"}, {"seed", "2"}};
  const std::string message =
      millrace::test::message_of([&] { Journal::resume(path, other, field.context); });
  EXPECT_NE(message.find("another search: its seed is '1', this one's '2'"), std::string::npos)
      << message;
}

TEST(Journal, what_is_no_journal_is_refused_and_left_as_it_is) {
  const millrace::test::TemporaryFolder folder;
  const auto path = folder.path() / "notes.txt";
  write_file(path, "my notes\n");
  const Field field(12, 1);
  const std::string message =
      millrace::test::message_of([&] { Journal::resume(path, facts, field.context); });
  EXPECT_NE(message.find("is no journal of a search"), std::string::npos) << message;
  EXPECT_EQ(read_file(path), "my notes\n");
}

TEST(Journal, a_line_that_is_no_candidate_is_named) {
  const millrace::test::TemporaryFolder folder;
  const auto path = folder.path() / "search.csv";
  const Field field(12, 1);
  Journal(path, facts, field.context);
  const std::string header = read_file(path);
  for (const char* line :
       {"1,A,npu0>gpu,99,3,10,0,0", "1,A,npu0>gpu,5;3,3,10,0,0", "1,A,npu7>gpu,5,3,10,0,0",
        "1,A,npu0>gpu,5,0,10,0,0", "1,A,npu0>gpu,5,3,nan,0,0", "1,A,npu0>gpu,5,3,10,0", "",
        "x,A,npu0>gpu,5,3,10,0,0", "1,A,>gpu,5,3,10,0,0", "1,A,npu0>gpu,-1,3,10,0,0"}) {
    write_file(path, header + line + "\n");
    const std::string message =
        millrace::test::message_of([&] { Journal::resume(path, facts, field.context); });
    EXPECT_NE(message.find("search.csv:3: is no candidate"), std::string::npos)
        << line << ": " << message;
  }
}

TEST(Journal, names_options_and_quotes_no_processor_name) {
  const millrace::test::TemporaryFolder folder;
  const auto path = folder.path() / "search.csv";
  Field field(12, 1);
  field.board.processors[1].name = "npu,\"1\"";
  Journal journal(path, facts, field.context);
  journal.add({{{ProcessorId(1)}, {ProcessorId(0)}}, {4}, 3}, {12.5, {0.25, 1}});
  const std::string text = read_file(path);
  EXPECT_NE(text.find("#1>gpu,4,3,,0,0,12.5,0.25,1\n"), std::string::npos) << text;
  EXPECT_EQ(Journal::resume(path, facts, field.context).known().size(), 1u);
}

}  // namespace
}  // namespace millrace::explore
