#include "profile.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/file.h"
#include "failure.h"
#include "support/temporary_folder.h"

namespace millrace::test {
namespace {

using namespace millrace_onnxruntime;

std::vector<NodeTime> read(const std::string& text) {
  const TemporaryFolder folder;
  write_file(folder / "profile.json", text);
  return read_profile(folder / "profile.json");
}

/// As version 1.22 writes it.
constexpr const char* profile = R"([
{"cat" : "Session","pid" :1,"ts" :1,"ph" : "X","dur" :87,"name" :"model_loading","args" : {}},
{"cat" : "Node","ts" :2,"ph" : "X","dur" :30,"name" :"#0#a\"b_kernel_time","args" : {
  "op_name" : "Conv","input_type_shape" : [{"float":[1,3]},{"float":[]}],"provider" : "CPU"}},
{"cat" : "Node","ts" :3,"dur" :5,"name" :"#0#a\"b_kernel_time","args" : {"op_name" : "Conv"}},
{"cat" : "Node","ts" :4,"dur" :20,"name" :"#0#a\"b_kernel_time","args" : {"op_name" : "Conv"}},
{"cat" : "Node","ts" :5,"dur" :7,"name" :"#1#relu_kernel_time","args" : {"op_name" : "Relu"}}
])";

TEST(OrtProfile, has_the_median_of_each_node_in_the_order_of_the_first_runs) {
  const std::vector<NodeTime> nodes = read(profile);
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ(nodes[0].name, "#0#a\"b");
  EXPECT_EQ(nodes[0].kernel, "Conv");
  EXPECT_EQ(nodes[0].time, 20);
  EXPECT_EQ(nodes[1].kernel, "Relu");
}

TEST(OrtProfile, that_ends_early_has_what_came_before) {
  const std::string text = profile;
  EXPECT_EQ(read(text.substr(0, text.find("#1#"))).size(), 1U);
  EXPECT_TRUE(read("").empty());
  EXPECT_TRUE(read("[[[{\"a").empty());
}

TEST(OrtProfile, that_is_not_there_is_named) {
  EXPECT_THROW(read_profile("/no/such/profile.json"), LibraryFailure);
}

}  // namespace
}  // namespace millrace::test
