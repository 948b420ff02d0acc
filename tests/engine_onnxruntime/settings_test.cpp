#include "settings.h"

#include <gtest/gtest.h>

#include "engine/plugin/plugin.h"
#include "failure.h"
#include "support/message_of.h"

namespace millrace::test {
namespace {

using namespace millrace_onnxruntime;
using Settings = std::map<std::string, std::string>;

engine::EngineOptions with(const Settings& settings) {
  engine::EngineOptions options;
  options.settings["onnxruntime"] = settings;
  return options;
}

ProviderSettings read(const Settings& settings) {
  std::vector<MillraceOption> options;
  for (const auto& [key, value] : settings) options.push_back({key.c_str(), value.c_str()});
  MillraceOpening opening{};
  opening.options = options.data();
  opening.option_count = options.size();
  return read_settings(opening);
}

std::string message_for(const Settings& settings) {
  return message_of<WrongSetting>([&] { read(settings); });
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
  const ProviderSettings settings = read({{"provider", "tensorrt"},
                                          {"trt_fp16_enable", "1"},
                                          {"session.intra_op.allow_spinning", "0"}});
  EXPECT_EQ(settings.options, (Settings{{"trt_fp16_enable", "1"}}));
  EXPECT_EQ(settings.session, (Settings{{"session.intra_op.allow_spinning", "0"}}));
}

TEST(ProviderSettings, say_where_a_provider_runs) {
  const auto kind = [](const Settings& settings) { return kind_of(read(settings)); };
  EXPECT_EQ(kind({}), millrace_cores);
  EXPECT_EQ(kind({{"provider", "xnnpack"}}), millrace_cores);
  EXPECT_EQ(kind({{"provider", "cuda"}}), millrace_gpu);
  EXPECT_EQ(kind({{"provider", "tensorrt"}}), millrace_gpu);
  EXPECT_EQ(kind({{"provider", "tensorrt"}, {"trt_dla_enable", "1"}}), millrace_npu);
  EXPECT_EQ(kind({{"provider", "openvino"}}), millrace_cores);
  EXPECT_EQ(kind({{"provider", "openvino"}, {"device_type", "NPU"}}), millrace_npu);
  EXPECT_EQ(kind({{"provider", "qnn"}}), millrace_npu);
}

/// The wheel of CPUs has none of these; where a library has one, that is no failure.
TEST(ProviderSettings, a_provider_that_the_library_lacks_is_refused_with_its_reason) {
  if (const Verdict start = engine::plugin::can_start("onnxruntime", {}); !start)
    GTEST_SKIP() << start.reason();
  for (const char* provider : {"xnnpack", "openvino", "cuda", "tensorrt", "qnn", "tidl"}) {
    const Verdict verdict =
        engine::plugin::can_start("onnxruntime", with({{"provider", provider}}));
    if (!verdict) {
      EXPECT_NE(verdict.reason().find("ONNX Runtime reports: "), std::string::npos) << provider;
    }
  }
}

TEST(ProviderSettings, a_wrong_one_is_the_users_mistake) {
  if (const Verdict start = engine::plugin::can_start("onnxruntime", {}); !start)
    GTEST_SKIP() << start.reason();
  EXPECT_THROW(engine::plugin::can_start("onnxruntime", with({{"provider", "tensort"}})),
               InputError);
}

}  // namespace
}  // namespace millrace::test
