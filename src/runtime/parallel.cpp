#include "runtime/parallel.h"

#include <atomic>
#include <future>
#include <vector>

#include "board/board.h"

namespace millrace::runtime {

void in_parallel(std::span<const int> cores, std::size_t count,
                 const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::vector<std::future<void>> threads;
  for (const int core : cores)
    threads.push_back(std::async(std::launch::async, [&, core] {
      board::Processor here;
      here.cores = {core};
      board::pin_this_thread(here);
      for (std::size_t i = next++; i < count; i = next++) work(i);
    }));
  for (std::future<void>& thread : threads) thread.get();
}

}  // namespace millrace::runtime
