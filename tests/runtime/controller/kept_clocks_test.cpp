// Limits of clocks after a process that was killed.
#include "runtime/controller/kept_clocks.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/controller/clock_control.h"
#include "runtime/controller/fake_system.h"

namespace millrace::runtime {
namespace {

using test::FakeSystem;
using test::first_line;

/// One device with two clocks, and a deployment that wants the lower one.
struct Sample {
  board::Board board;
  deployment::Deployment deployment;

  Sample() {
    board::Device gpu, cpu;
    gpu.name = "gpu";
    gpu.kind = board::ProcessorKind::gpu;
    cpu.name = "cpu";
    cpu.cores = {0, 1};
    gpu.clocks = cpu.clocks = {{500}, {1000}};
    board.devices = {gpu, cpu};
    deployment.settings = {{system::ScenarioId(0), 0, {{"gpu", {500}}, {"cpu", {500}}}, 0, {}}};
  }
  const deployment::Clocks& low() const { return deployment.settings[0].clocks; }
};

/// Ends as with kill -9, in the middle of a run.
void run_and_be_killed(const Sample& sample, const FakeSystem& fake) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ClockControl clocks(sample.deployment, sample.board, {}, fake.places());
    clocks.set(sample.low());
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
}

class KeptClocksTest : public testing::Test {
 protected:
  const FakeSystem fake;
  const std::filesystem::path gpu = fake.add_devfreq("17000000.gpu", "1000000000");
  const std::filesystem::path core0 = fake.add_core(0, "1000000"),
                              core1 = fake.add_core(1, "900000");
  const Sample sample;
};

TEST_F(KeptClocksTest, are_put_back_by_the_next_start_after_a_kill) {
  run_and_be_killed(sample, fake);
  ASSERT_EQ(first_line(gpu).substr(0, 9), "500000000");
  ASSERT_EQ(first_line(core1).substr(0, 6), "500000");
  {
    ClockControl next(sample.deployment, sample.board, {}, fake.places());
    EXPECT_EQ(next.restored(), 3u);
    EXPECT_EQ(first_line(gpu), "1000000000");
    EXPECT_EQ(first_line(core1), "900000");
    next.set(sample.low());
  }
  EXPECT_EQ(first_line(gpu), "1000000000");
  EXPECT_EQ(first_line(core0), "1000000");
  EXPECT_EQ(ClockControl(sample.deployment, sample.board, {}, fake.places()).restored(), 0u);
}

TEST_F(KeptClocksTest, are_put_back_by_a_start_that_sets_none) {
  run_and_be_killed(sample, fake);
  EXPECT_EQ(ClockControl({}, sample.board, {}, fake.places()).restored(), 3u);
  EXPECT_EQ(first_line(core1), "900000");
}

TEST_F(KeptClocksTest, of_two_runs_only_the_first_sets_clocks) {
  ClockControl first(sample.deployment, sample.board, {}, fake.places());
  {
    ClockControl second(sample.deployment, sample.board, {}, fake.places());
    ASSERT_EQ(second.staying().size(), 2u);
    EXPECT_EQ(second.staying()[0], "device 'gpu': another run sets clocks on this machine");
    second.set(sample.low());
    EXPECT_EQ(first_line(gpu), "1000000000");
  }
  first.set(sample.low());
  EXPECT_EQ(first_line(gpu).substr(0, 9), "500000000");
}

TEST_F(KeptClocksTest, of_another_start_of_the_machine_are_left) {
  std::ofstream(fake.note()) << "another-boot\n5 " << gpu.string() << "\n";
  EXPECT_TRUE(KeptClocks(fake.root(), fake.note()).restored().empty());
  EXPECT_EQ(first_line(gpu), "1000000000");
}

TEST_F(KeptClocksTest, outside_of_the_system_are_left) {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  const std::filesystem::path other = fake.root().parent_path() / "other";
  std::ofstream(other) << "7";
  std::ofstream(fake.note()) << boot << "\n5 " << other.string() << "\n5 "
                             << (fake.root() / "../other").string() << "\n6 " << gpu.string()
                             << "\n";
  const KeptClocks kept(fake.root(), fake.note());
  EXPECT_EQ(kept.restored(), (std::vector<ClockFile>{{gpu, 6}}));
  EXPECT_EQ(first_line(other), "7");
  EXPECT_EQ(first_line(gpu), "6");
}

TEST_F(KeptClocksTest, that_cannot_be_noted_are_not_changed) {
  const ClockPlaces places{fake.root(), fake.root() / "no/folder/note"};
  ClockControl clocks(sample.deployment, sample.board, {}, places);
  clocks.set(sample.low());
  EXPECT_EQ(first_line(gpu), "1000000000");
  ASSERT_EQ(clocks.staying().size(), 2u);
  EXPECT_NE(clocks.staying()[0].find("cannot be noted"), std::string::npos);
}

}  // namespace
}  // namespace millrace::runtime
