#include "runtime/preparation.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "runtime/session_fixture.h"

namespace millrace::runtime {
namespace {

using test::chain;
using test::frame;
using test::value_of;

/// Opened by one thread, waited for by another.
class PreparationGate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  /// False if nobody opened it in a time that is more than enough.
  bool wait() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60), [&] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

class PreparationTest : public test::SessionTest {
 protected:
  void run_once(const network::Network& network, const std::vector<std::size_t>& processors) {
    Session session = start(network, processors);
    session.submit(frame(network, 5));
    EXPECT_EQ(value_of(session.next()->outputs[0]), 7);
  }
};

TEST_F(PreparationTest, a_reader_is_prepared_while_the_engine_is_still_busy_with_what_it_reads) {
  PreparationGate reader_began;
  bool in_time = false;
  decorate({.before_prepare =
                [&](const engine::SubnetRequest& request) {
                  if (request.layers[0] == LayerId(1)) return reader_began.open();
                  std::vector<engine::Port> outputs;
                  for (const TensorId output : request.outputs)
                    outputs.push_back({output, engine::plain_layout((*request.network)[output])});
                  request.announce(outputs);
                  in_time = reader_began.wait();
                },
            .before_run = {},
            .format = {}});
  run_once(chain(2), {0, 1});
  EXPECT_TRUE(in_time);
}

TEST_F(PreparationTest, a_reader_waits_for_an_engine_that_announces_nothing) {
  decorate({.before_prepare = {}, .before_run = {}, .format = "inverted"});
  for (int i = 0; i < 50; ++i) run_once(chain(2), {0, 1});
}

TEST_F(PreparationTest, an_error_in_one_stage_ends_the_waiting_of_the_others) {
  decorate({.before_prepare =
                [&](const engine::SubnetRequest& request) {
                  if (request.layers[0] == LayerId(0)) throw EngineError("no kernel");
                },
            .before_run = {},
            .format = {}});
  const auto network = chain(4);
  EXPECT_THROW(start(network, {0, 1, 2, 3}), EngineError);
}

}  // namespace
}  // namespace millrace::runtime
