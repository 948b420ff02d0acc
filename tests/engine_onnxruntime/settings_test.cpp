#include "engine/onnxruntime/settings.h"

#include <gtest/gtest.h>

#include "engine/onnxruntime/onnxruntime.h"
#include "support/message_of.h"

namespace millrace::engine::onnxruntime {
namespace {

using board::ProcessorKind;
using Settings = std::map<std::string, std::string>;

EngineOptions with(const Settings& settings) {
  EngineOptions options;
  options.settings["onnxruntime"] = settings;
  return options;
}

std::string message_for(const Settings& settings) {
  return test::message_of([&] { read_settings(with(settings)); });
}

TEST(ProviderSettings, an_unknown_provider_is_answered_with_those_there_are) {
  const std::string text = message_for({{"provider", "tensort"}});
  EXPECT_NE(text.find("there are cpu, xnnpack, openvino, cuda, tensorrt, qnn, tidl"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("did you mean 'tensorrt'?"), std::string::npos) << text;
}

TEST(ProviderSettings, a_misspelt_option_is_answered_with_the_nearest) {
  EXPECT_NE(message_for({{"allow_sofware", "1"}}).find("did you mean 'allow_software'?"),
            std::string::npos);
  EXPECT_NE(message_for({{"allow_software", "yes"}}).find("expected 0 or 1"), std::string::npos);
}

TEST(ProviderSettings, options_of_a_provider_and_of_sessions_are_kept_apart) {
  const ProviderSettings settings = read_settings(with({{"provider", "tensorrt"},
                                                        {"trt_fp16_enable", "1"},
                                                        {"session.intra_op.allow_spinning", "0"}}));
  EXPECT_EQ(settings.options, (Settings{{"trt_fp16_enable", "1"}}));
  EXPECT_EQ(settings.session, (Settings{{"session.intra_op.allow_spinning", "0"}}));
  EXPECT_EQ(to_text(settings),
            "provider=tensorrt, trt_fp16_enable=1, session.intra_op.allow_spinning=0");
}

TEST(ProviderSettings, say_where_a_provider_runs) {
  const auto kind = [](const Settings& settings) {
    return processor_kind(read_settings(with(settings)));
  };
  EXPECT_EQ(kind({}), ProcessorKind::cpu);
  EXPECT_EQ(kind({{"provider", "xnnpack"}}), ProcessorKind::cpu);
  EXPECT_EQ(kind({{"provider", "cuda"}}), ProcessorKind::gpu);
  EXPECT_EQ(kind({{"provider", "tensorrt"}}), ProcessorKind::gpu);
  EXPECT_EQ(kind({{"provider", "tensorrt"}, {"trt_dla_enable", "1"}}), ProcessorKind::npu);
  EXPECT_EQ(kind({{"provider", "openvino"}}), ProcessorKind::cpu);
  EXPECT_EQ(kind({{"provider", "openvino"}, {"device_type", "NPU"}}), ProcessorKind::npu);
  EXPECT_EQ(kind({{"provider", "qnn"}}), ProcessorKind::npu);
}

/// The wheel of CPUs has none of these; where a library has one, that is no failure.
TEST(ProviderSettings, a_provider_that_the_library_lacks_is_refused_with_its_reason) {
  if (const Verdict start = can_start({}); !start) GTEST_SKIP() << start.reason();
  for (const char* provider : {"xnnpack", "openvino", "cuda", "tensorrt", "qnn", "tidl"}) {
    const Verdict verdict = can_start(with({{"provider", provider}}));
    if (!verdict) {
      EXPECT_NE(verdict.reason().find("ONNX Runtime reports: "), std::string::npos) << provider;
    }
  }
}

}  // namespace
}  // namespace millrace::engine::onnxruntime
