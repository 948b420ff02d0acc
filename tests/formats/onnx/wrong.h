#pragma once
// Models that must be refused, as parameters of tests.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "support/onnx_model.h"

namespace millrace::test {

/// How a model is spoilt, and what the message then says.
struct Wrong {
  std::string what;
  std::function<OnnxModel()> make;
  std::vector<std::string> words;
};

inline std::string name_of_case(const testing::TestParamInfo<Wrong>& info) {
  return info.param.what;
}

/// The message has all of the words.
inline void expect_words(const std::string& message, const Wrong& wrong) {
  for (const std::string& word : wrong.words)
    EXPECT_NE(message.find(word), std::string::npos) << message << "\nlacks: " << word;
}

/// Reading it ends with one sentence that names the file and has all of the words.
inline void expect_refused(const Wrong& wrong) {
  const OnnxModel model = wrong.make();
  try {
    model.read();
    FAIL() << "was read";
  } catch (const InputError& error) {
    const std::string text = error.what();
    EXPECT_TRUE(text.starts_with("model.onnx: ")) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    expect_words(text, wrong);
  }
}

}  // namespace millrace::test
