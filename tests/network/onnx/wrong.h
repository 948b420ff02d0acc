#pragma once
// Models that must be refused, as parameters of tests.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

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

}  // namespace millrace::test
