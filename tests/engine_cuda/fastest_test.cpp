#include "engine/cuda/device/fastest.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/error.h"
#include "emulated_gpu.h"

namespace millrace::engine::cuda {
namespace {

class FastestOnGpu : public testing::Test {
 protected:
  FastestOnGpu() {
    const auto folders = library_folders(emulated_gpu());
    const Driver driver = load_driver(folders);
    gpu_ = std::make_shared<Gpu>(
        std::make_shared<Platform>(Platform{{}, folders, driver, Compiler(folders), {}, {}}), 0);
    gpu_->use();
    memory_ = DeviceMemory(gpu_->driver(), Bytes{1 << 20});
  }

  Way that_fills(int times) const {
    return [this, times](Stream stream) {
      for (int i = 0; i < times; ++i)
        check(gpu_->driver(), gpu_->driver().fill_later(memory_.address(), 1, 1u << 20, stream));
    };
  }
  static void fails(Stream) { throw EngineError("a kernel that does not start"); }

  std::shared_ptr<Gpu> gpu_;
  DeviceMemory memory_;
};

TEST_F(FastestOnGpu, is_the_way_that_does_the_least) {
  const std::vector<Way> ways{that_fills(40), that_fills(1), that_fills(20)};
  const Fastest found = fastest_of(*gpu_, ways);
  EXPECT_EQ(found.number, 1u);
  EXPECT_TRUE(found.all_ran);
}

TEST_F(FastestOnGpu, is_none_that_fails_and_then_it_is_not_sure) {
  const std::vector<Way> ways{fails, that_fills(40), that_fills(1)};
  const Fastest found = fastest_of(*gpu_, ways);
  EXPECT_EQ(found.number, 2u);
  EXPECT_FALSE(found.all_ran);
}

TEST_F(FastestOnGpu, is_refused_where_all_fail) {
  const std::vector<Way> ways{fails, fails};
  EXPECT_THROW(fastest_of(*gpu_, ways), EngineError);
}

}  // namespace
}  // namespace millrace::engine::cuda
