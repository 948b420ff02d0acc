// What check finds in programs that were edited by hand.
#include "workload/check/check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "sample_program.h"
#include "support/network_builder.h"

namespace millrace::workload {
namespace {

class CheckedProgram : public testing::Test {
 protected:
  Link& link(std::string_view name) {
    for (Link& link : workload().links)
      if (link.name == name) return link;
    throw std::out_of_range("no such link");
  }
  Workload& workload() { return program_.workloads[0]; }

  /// The only violation, which says so.
  void expect(std::string_view words) {
    const auto found = violations(program_);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_NE(found[0].find(words), std::string::npos) << found[0];
  }

  network::Network network_ = sample_network();
  Program program_ = compile(network_, sample_target()).program;
};

TEST_F(CheckedProgram, is_right_as_compiled) {
  EXPECT_TRUE(violations(program_).empty());
  EXPECT_TRUE(workload().overlapped);
  EXPECT_GT(runs_of(link("compute")), 3);
}

TEST_F(CheckedProgram, leaves_a_buffer) {
  link("load_input").sources[0].start += 4;
  expect("touches bytes");
}

TEST_F(CheckedProgram, splits_elements) {
  link("load_input").sources[0].walk[0].next += 2;
  expect("no multiple of 4 bytes");
}

TEST_F(CheckedProgram, has_a_link_on_no_unit) {
  link("compute").unit.clear();
  expect("on no unit");
}

TEST_F(CheckedProgram, reads_what_is_not_written_yet) {
  workload().overlapped = false;
  std::swap(workload().links.front(), workload().links.back());
  for (Link& link : workload().links) link.delay = 0;
  expect("what is not written yet");
}

TEST_F(CheckedProgram, has_delays_that_race) {
  link("compute").delay = 0;
  expect("delays race");
}

TEST_F(CheckedProgram, overwrites_what_nothing_has_read) {
  link("store_output").delay += link("store_output").period;
  const auto found = violations(program_);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].find("race") != std::string::npos ||
              found[0].find("what nothing has read yet") != std::string::npos)
      << found[0];
}

TEST_F(CheckedProgram, has_links_in_a_cycle) {
  Link back = link("load_input");
  std::swap(back.sources[0], back.sink);
  back.name = "back";
  workload().links.push_back(back);
  expect("the links form a cycle");
}

TEST_F(CheckedProgram, misses_elements_by_a_count_in_a_transfer) {
  for (Joint* joint : {&link("store_output").sources[0], &link("store_output").sink})
    for (Side& side : joint->sides) side.pipe_down = std::max<std::int64_t>(1, side.pipe_down - 1);
  for (Joint* joint : {&link("store_output").sources[0], &link("store_output").sink})
    for (Side& side : joint->sides) side.pipe_up = std::max<std::int64_t>(1, side.pipe_up - 1);
  const auto found = violations(program_);
  ASSERT_FALSE(found.empty());
}

TEST_F(CheckedProgram, misses_elements_by_a_count_on_one_side) {
  Side& side = link("load_input").sources[0].sides[0];
  side.pipe_up = side.pipeline = side.pipe_down = side.pipe_up - 1;
  expect("elements and writes");
}

TEST_F(CheckedProgram, misses_channels) {
  for (Joint* joint :
       {&link("load_input").sources[0], &link("load_input").sink, &link("compute").sources[0]}) {
    Side& side = joint->sides[0];
    side.pipe_up = side.pipeline = side.pipe_down = side.pipe_up - 1;
  }
  expect("its weights are");  // for more channels than it reads
  for (Joint* joint : {&link("load_weights").sources[0], &link("load_weights").sink,
                       &link("compute").sources[1]}) {
    Side& side = joint->sides[1];
    side.pipe_up = side.pipeline = side.pipe_down = side.pipe_up - 9;
  }
  expect("channels of the input, expected 8");
}

TEST_F(CheckedProgram, misses_runs) {
  link("load_input").sink.repeat = 2;
  expect("runs, the sink for");
}

TEST_F(CheckedProgram, does_not_fit_its_memory) {
  program_.memories[1].size = Bytes{1000};
  const auto found = violations(program_);
  ASSERT_FALSE(found.empty());
  EXPECT_NE(found[0].find("of the memory 'scratchpad', which has 1000"), std::string::npos);
}

TEST_F(CheckedProgram, has_buffers_on_the_same_bytes) {
  for (Region& buffer : workload().buffers)
    if (buffer.memory == 1) buffer.offset = 0;
  const auto found = violations(program_);
  ASSERT_FALSE(found.empty());
  EXPECT_NE(found[0].find("lie on the same bytes"), std::string::npos);
}

TEST_F(CheckedProgram, has_more_bytes_to_check_than_anyone_waits_for) {
  Link& compute = link("compute");
  for (Joint* joint :
       {&compute.sources[0], &compute.sources[1], &compute.sources[2], &compute.sink})
    joint->repeat = std::int64_t{1} << 30;
  expect("bytes in all; at most");
}

TEST_F(CheckedProgram, has_more_buffers_than_marks) {
  workload().buffers[0].row_bytes = std::int64_t{1} << 33;
  expect("marks in all; at most");
}

TEST_F(CheckedProgram, is_of_another_network) {
  test::NetworkBuilder builder;
  builder.output(builder.unary(network::UnaryKind::relu, builder.input({1, 2, 3, 4})));
  const auto found = violations(program_, builder.build());
  ASSERT_FALSE(found.empty());
  EXPECT_NE(found[0].find("not for this one"), std::string::npos);
}

/// Three convolutions in one workload, of which two read rows again.
class CheckedChain : public testing::Test {
 protected:
  CheckedChain() {
    test::NetworkBuilder builder;
    TensorId x = builder.input({1, 4, 24, 10});
    for (int i = 0; i < 3; ++i) x = builder.conv(x, 4, test::window(3, {.pad = 1}));
    builder.output(x);
    TileTarget target;
    target.scratchpad = Bytes{8 * 1024};
    target.run_seconds = 1e-9;
    program_ = compile(builder.build(), target).program;
  }

  std::vector<Link>& links() { return program_.workloads[0].links; }
  Link& link(std::string_view name) {
    return *std::ranges::find(links(), name, [](const Link& one) { return one.name; });
  }
  void expect(std::string_view words) {
    const auto found = violations(program_);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_NE(found[0].find(words), std::string::npos) << found[0];
  }

  Program program_;
};

TEST_F(CheckedChain, is_right_as_compiled) {
  ASSERT_EQ(program_.workloads.size(), 1u);
  EXPECT_GT(runs_of(link("layer2")), 2);
  EXPECT_TRUE(violations(program_).empty());
}

TEST_F(CheckedChain, forgets_to_keep_rows) {
  std::erase_if(links(), [](const Link& one) { return one.name == "keep_layer1_input"; });
  expect("of the layer before, expected row");
}

TEST_F(CheckedChain, keeps_other_rows) {
  Link& keep = link("keep_layer2_input");
  keep.sources[0].start -= keep.sources[0].sides[1].stride;
  expect("of the layer before, expected row");
}

TEST_F(CheckedChain, computes_before_its_input_is_there) {
  std::swap(link("layer1"), link("layer2"));
  expect("what is not written yet");
}

/// A split, a softmax and a sum, each in its own workload; the first two run as whole layers.
class CheckedLayers : public testing::Test {
 protected:
  CheckedLayers() {
    test::NetworkBuilder builder;
    const TensorId x = builder.input({1, 8});
    const std::vector<TensorId> parts = builder.split(1, x, {3, 3, 2});
    const TensorId most = builder.layer(network::Softmax{1, 2}, {parts[1]}, {1, 3});
    builder.output(builder.binary(network::BinaryKind::add, parts[0], most));
    builder.output(parts[2]);
    network_ = builder.build();
    program_ = compile(network_, sample_target()).program;
  }

  void erase(std::string_view name) {
    const auto named = [&](const Workload& one) { return one.name == name; };
    ASSERT_EQ(std::erase_if(program_.workloads, named), 1u);
  }
  std::vector<std::string> found() const { return violations(program_); }

  network::Network network_;
  Program program_;
};

TEST_F(CheckedLayers, are_right_as_compiled) {
  EXPECT_EQ(program_.workloads.size(), 3u);
  EXPECT_TRUE(found().empty()) << found()[0];
  EXPECT_TRUE(violations(program_, network_).empty());
}

TEST_F(CheckedLayers, lack_one_in_between) {
  erase("layer1");
  ASSERT_EQ(found().size(), 1u);
  EXPECT_NE(found()[0].find("which no workload writes"), std::string::npos) << found()[0];
}

TEST_F(CheckedLayers, lack_the_last) {
  erase("layer2");
  ASSERT_EQ(found().size(), 1u);
  EXPECT_NE(found()[0].find("no workload writes the output that is the tensor 5"),
            std::string::npos)
      << found()[0];
}

TEST_F(CheckedLayers, lack_the_first_whose_outputs_are_many) {
  erase("layer0");
  EXPECT_EQ(found().size(), 3u);  // read by two, and an output
}

TEST_F(CheckedLayers, are_none) {
  program_.workloads.clear();
  ASSERT_EQ(found().size(), 1u);
  EXPECT_NE(found()[0].find("it has no workload"), std::string::npos) << found()[0];
}

TEST_F(CheckedLayers, may_be_some_where_nobody_says_what_the_program_is_for) {
  program_.ends.reset();
  erase("layer2");
  EXPECT_TRUE(found().empty());
}

/// What a network's layers make of an edited program.
class ProgramOfNetwork : public CheckedProgram {
 protected:
  void expect_against_network(std::string_view words) {
    const auto found = violations(program_, network_);
    ASSERT_FALSE(found.empty());
    EXPECT_NE(found[0].find(words), std::string::npos) << found[0];
  }
};

TEST_F(ProgramOfNetwork, is_right_as_compiled) {
  EXPECT_TRUE(violations(program_, network_).empty());
}

TEST_F(ProgramOfNetwork, has_a_tensor_without_a_name) {
  workload().buffers[0].tensor.reset();
  expect_against_network("names no tensor");
}

TEST_F(ProgramOfNetwork, computes_another_layers_windows) {
  link("compute").window.kernel = {1, 1};
  expect_against_network("its window is not that of the layer");
}

TEST_F(ProgramOfNetwork, computes_with_another_kernel) {
  link("compute").operation = TileOperation::layer;
  expect_against_network("it computes by 'layer'");
}

TEST_F(ProgramOfNetwork, lacks_a_source) {
  link("compute").sources.pop_back();
  expect_against_network("sources, but the layer");
}

TEST_F(ProgramOfNetwork, has_an_activation_that_no_layer_asks_for) {
  link("compute").activation = TileActivation{.low = 0};
  expect_against_network("its activation is not that");
}

TEST_F(ProgramOfNetwork, writes_over_weights) {
  const auto weights = std::ranges::find_if(workload().buffers,
                                            [](const Region& buffer) { return buffer.constant; });
  ASSERT_NE(weights, workload().buffers.end());
  link("store_output").sink.buffer =
      static_cast<std::int32_t>(weights - workload().buffers.begin());
  expect_against_network("which is no output of its layers");
}

TEST_F(ProgramOfNetwork, has_elements_of_a_byte) {
  link("compute").sources[0].element = 1;
  expect_against_network("networks run in float32");
}

TEST_F(CheckedProgram, reads_fewer_weights_than_its_channels_need) {
  for (Joint* joint :
       {&link("load_weights").sources[0], &link("load_weights").sink, &link("compute").sources[1]})
    joint->sides[1].pipe_up = joint->sides[1].pipeline = joint->sides[1].pipe_down = 1;
  expect("its weights are");
}

TEST_F(CheckedProgram, has_elements_of_two_sizes_in_a_buffer) {
  link("compute").sources[0].element = 2;
  const auto found = violations(program_);
  ASSERT_FALSE(found.empty());
  EXPECT_NE(found[0].find("for 2 bytes long, another link for 4"), std::string::npos) << found[0];
}

TEST_F(CheckedProgram, copies_to_elements_of_another_size) {
  link("load_input").sink.element = 2;
  const auto found = violations(program_);
  ASSERT_FALSE(found.empty());
  EXPECT_NE(found[0].find("reads elements of 4 bytes and writes elements of 2"), std::string::npos);
}

}  // namespace
}  // namespace millrace::workload
