// Operators that are not Millrace's own, beside ONNX Runtime's answers for whole models.
#include <gtest/gtest.h>

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <array>
#include <functional>

#include "base/error.h"
#include "base/file.h"
#include "base/random.h"
#include "engine/plugin/foreign.h"
#include "engine/plugin/plugin.h"
#include "engine/registry.h"
#include "formats/onnx_writer/write_onnx.h"
#include "formats/read.h"
#include "network/evaluate/evaluate.h"
#include "network/operator_kinds.h"
#include "support/message_of.h"
#include "support/onnx_cases.h"

namespace millrace::test {
namespace {

using network::Array;
using network::Network;

/// Also within a part whose sizes change from frame to frame.
bool has_opaque_layer(const Network& network) {
  return std::ranges::any_of(network.layers, [](const network::Layer& layer) {
    return network::is_one_of<network::Opaque, network::VaryingPart>(layer.op);
  });
}

/// By one subnet of the engine on the first core.
std::vector<Array> compute_by(engine::Engine& engine, const Network& network,
                              std::span<const Array> inputs) {
  const board::Processor core = board::this_machine().processors.front();
  const auto subnet = engine.prepare(engine::whole_network(network, core));
  std::vector<const std::byte*> in;
  std::vector<std::byte*> out;
  std::vector<network::Buffer> memory;
  for (const engine::Port& port : subnet->inputs()) {
    const auto at = std::ranges::find(network.inputs, port.tensor) - network.inputs.begin();
    in.push_back(inputs[static_cast<std::size_t>(at)].memory->data());
  }
  for (const engine::Port& port : subnet->outputs())
    out.push_back(memory.emplace_back(port.layout.size).data());
  for (int run = 0; run < 2; ++run) subnet->run(in, out);
  std::vector<Array> result(network.outputs.size());
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const network::Tensor& tensor = network[subnet->outputs()[i].tensor];
    for (std::size_t k = 0; k < network.outputs.size(); ++k)
      if (network.outputs[k] == subnet->outputs()[i].tensor)
        result[k] = make_array(tensor.type, tensor.shape, std::move(memory[i]));
  }
  return result;
}

class OpaqueCases : public testing::Test {
 protected:
  void SetUp() override {
    if (const Verdict start = engine::plugin::can_start("onnxruntime", {}); !start)
      GTEST_SKIP() << start.reason();
    foreign_ = {engine::plugin::foreign_operators({})};
    const std::filesystem::path folder =
        std::filesystem::path(MILLRACE_SOURCE_DIR) / "tests/engine_onnxruntime/opaque_cases";
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      cases_.push_back({entry.path().filename().string(), entry.path(), 19, foreign_});
  }

  void expect_all_pass(const Compute& compute) const {
    const Tally tally = run_cases(cases_, compute, {});
    EXPECT_GE(tally.passed, 23u);
    EXPECT_EQ(tally.passed, cases_.size());
    for (const std::string& surprise : tally.surprises) ADD_FAILURE() << surprise;
  }

  formats::Foreign foreign_;
  std::vector<OnnxCase> cases_;
};

TEST_F(OpaqueCases, pass_by_the_plain_loops_which_ask_the_engine) {
  expect_all_pass([](const Network& network, std::span<const Array> inputs) {
    EXPECT_TRUE(has_opaque_layer(network)) << network.name;
    return compute_by_loops(network, inputs);
  });
}

TEST_F(OpaqueCases, pass_by_the_engine_that_has_them) {
  const auto engine = engine::plugin::make("onnxruntime", {});
  expect_all_pass([&](const Network& network, std::span<const Array> inputs) {
    return compute_by(*engine, network, inputs);
  });
}

TEST_F(OpaqueCases, pass_by_the_preferred_engine_among_layers_of_its_own) {
  const auto engine = engine::make_engine(engine::engine_names().front());
  expect_all_pass([&](const Network& network, std::span<const Array> inputs) {
    return compute_by(*engine, network, inputs);
  });
}

TEST_F(OpaqueCases, pass_after_they_were_written_as_onnx_and_read_again) {
  expect_all_pass([&](const Network& network, std::span<const Array> inputs) {
    const Network again = formats::read_onnx(formats::write_onnx(network).bytes, "written", {},
                                             {.foreign = foreign_});
    EXPECT_TRUE(has_opaque_layer(again)) << network.name;
    return compute_by_loops(again, inputs);
  });
}

/// All of ONNX's own cases of single operators, also those of operators that are not Millrace's.
std::vector<OnnxCase> all_cases(const formats::Foreign& foreign) {
  std::vector<OnnxCase> cases;
  std::error_code absent;
  for (const auto& entry :
       std::filesystem::directory_iterator(onnx_cases_folder() / "node", absent))
    if (std::filesystem::exists(entry.path() / "model.onnx"))
      cases.push_back({entry.path().filename().string(), entry.path(), 0, foreign});
  std::ranges::sort(cases, {}, &OnnxCase::name);
  return cases;
}

/// ONNX Runtime's own rounding, and its random numbers.
bool is_its_own(const std::string& failure) {
  return std::ranges::any_of(std::array{"test_stft_with_window", "test_bernoulli"},
                             [&](const char* name) { return failure.starts_with(name); });
}

TEST_F(OpaqueCases, of_onnx_itself_are_refused_or_right) {
  const std::vector<OnnxCase> cases = all_cases(foreign_);
  if (cases.empty()) GTEST_SKIP() << "ONNX's cases are not installed";
  const Tally tally = run_cases(cases, compute_by_loops, {});
  EXPECT_GE(tally.passed, 849u);
  for (const std::string& wrong : tally.wrong)
    if (!is_its_own(wrong)) ADD_FAILURE() << wrong;
}

/// The message of a model in which one node of the case was changed.
class WrongNodes : public OpaqueCases {
 protected:
  std::string bytes_of(const std::string& name) const {
    return read_file(std::filesystem::path(MILLRACE_SOURCE_DIR) /
                     "tests/engine_onnxruntime/opaque_cases" / name / "model.onnx");
  }
  Network read(const std::string& bytes) const {
    return formats::read_onnx(bytes, "model.onnx", {}, {.foreign = foreign_});
  }
  std::string message(const std::string& bytes) const {
    return message_of([&] { read(bytes); });
  }
  std::string changed(const std::string& name,
                      const std::function<void(::onnx::ModelProto&)>& change) const {
    ::onnx::ModelProto model;
    model.ParseFromString(bytes_of(name));
    change(model);
    return message(model.SerializeAsString());
  }
};

TEST_F(WrongNodes, of_which_no_engine_knows_anything_name_the_operator_and_the_engine) {
  const std::string text = changed("scan", [](::onnx::ModelProto& model) {
    model.mutable_graph()->mutable_node(0)->set_op_type("Unheard");
  });
  EXPECT_NE(text.find("the operator 'Unheard' is not supported"), std::string::npos) << text;
  EXPECT_NE(text.find("the engine onnxruntime does not run it"), std::string::npos) << text;
}

TEST_F(WrongNodes, whose_needed_output_is_a_text_are_refused) {
  const std::string text = changed("forest_of_unread_names", [](::onnx::ModelProto& model) {
    model.mutable_graph()->mutable_output(0)->set_name("names");
  });
  EXPECT_NE(text.find("its output 'names' has the type string"), std::string::npos) << text;
}

TEST_F(WrongNodes, with_inputs_of_other_shapes_are_refused) {
  const std::string text = changed("scan", [](::onnx::ModelProto& model) {
    model.mutable_graph()->mutable_initializer(0)->set_dims(0, 2);
    model.mutable_graph()->mutable_initializer(0)->set_dims(1, 8);
  });
  EXPECT_NE(text.find("the engine onnxruntime does not run it"), std::string::npos) << text;
}

TEST_F(WrongNodes, of_operators_for_which_nobody_is_asked_are_refused_as_before) {
  const std::string bytes = bytes_of("scan");
  const std::string text =
      message_of([&] { formats::read_onnx(bytes, "model.onnx", {}); });
  EXPECT_NE(text.find("no engine of this build runs it"), std::string::npos) << text;
}

/// Whatever is damaged, it is read or refused.
TEST_F(WrongNodes, with_damaged_bytes_are_read_or_refused) {
  Random random(5);
  std::size_t refused = 0;
  for (const char* name : {"forest", "deform", "scan", "one_hot", "unique_rows"}) {
    const std::string bytes = bytes_of(name);
    for (int i = 0; i < 40; ++i) {
      std::string wrong = bytes;
      for (int k = 0; k < 3; ++k)
        wrong[random.below(wrong.size())] = static_cast<char>(random.below(256));
      if (i % 4 == 0) wrong.resize(random.below(wrong.size()));
      try {
        network::validate(read(wrong));
      } catch (const InputError&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 40u);
}

}  // namespace
}  // namespace millrace::test
