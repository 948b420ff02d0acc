#pragma once
// Ranks that are threads of the test.
#include <barrier>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/operation/ranks.h"

namespace millrace::test {

/// What all ranks have given, and for whom they wait.
struct RankTable {
  explicit RankTable(std::size_t count)
      : given(count), barrier(static_cast<std::ptrdiff_t>(count)) {}
  std::vector<std::string> given;
  std::barrier<> barrier;
};

class ThreadRanks final : public Ranks {
 public:
  ThreadRanks(RankTable& table, std::size_t rank) : table_(table), rank_(rank) {}
  std::size_t rank() const override { return rank_; }
  std::size_t count() const override { return table_.given.size(); }
  std::vector<std::string> exchange(const std::string& own) override {
    table_.given[rank_] = own;
    table_.barrier.arrive_and_wait();
    std::vector<std::string> all = table_.given;
    table_.barrier.arrive_and_wait();
    return all;
  }

 private:
  RankTable& table_;
  std::size_t rank_;
};

/// What `work` gives on each of so many ranks, by rank. It throws nothing.
template <class Result>
std::vector<Result> on_ranks(std::size_t count, const std::function<Result(Ranks&)>& work) {
  RankTable table(count);
  std::vector<Result> results(count);
  std::vector<std::jthread> threads;
  for (std::size_t rank = 0; rank < count; ++rank)
    threads.emplace_back([&, rank] {
      ThreadRanks ranks(table, rank);
      results[rank] = work(ranks);
    });
  threads.clear();
  return results;
}

}  // namespace millrace::test
