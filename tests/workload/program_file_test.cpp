#include "workload/program_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "sample_program.h"
#include "support/schema.h"
#include "support/temporary_folder.h"

namespace millrace::workload {
namespace {

nlohmann::json sample_json() {
  return nlohmann::json(to_json(compile(sample_network(), sample_target()).program));
}

std::string error_of(const nlohmann::json& json) {
  try {
    program_of(JsonView(json, "conv.json"));
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

TEST(ProgramFile, is_read_as_it_was_written) {
  const Program program = compile(sample_network(), sample_target()).program;
  const nlohmann::json json = nlohmann::json(to_json(program));
  EXPECT_EQ(program_of(JsonView(json, "conv.json")), program);
}

TEST(ProgramFile, follows_its_schema) {
  std::ifstream file(MILLRACE_SOURCE_DIR "/schemas/workload.schema.json");
  EXPECT_EQ(test::violations(sample_json(), nlohmann::json::parse(file)),
            std::vector<std::string>{});
}

TEST(ProgramFile, names_a_field_it_does_not_know) {
  nlohmann::json json = sample_json();
  json["workloads"][0]["links"][0]["dely"] = 1;
  EXPECT_NE(error_of(json).find("workloads[0].links[0]"), std::string::npos) << error_of(json);
  EXPECT_NE(error_of(json).find("did you mean 'delay'"), std::string::npos) << error_of(json);
}

TEST(ProgramFile, names_a_buffer_that_is_not_there) {
  nlohmann::json json = sample_json();
  json["workloads"][0]["links"][0]["sink"]["buffer"] = "input_til";
  EXPECT_NE(error_of(json).find("there is no buffer 'input_til'; did you mean 'input_tile'?"),
            std::string::npos)
      << error_of(json);
}

TEST(ProgramFile, expects_the_frequency_of_the_walk) {
  nlohmann::json json = sample_json();
  json["workloads"][0]["links"][0]["sink"]["frequency"] = 77;
  EXPECT_NE(error_of(json).find("found 77, expected"), std::string::npos) << error_of(json);
}

TEST(ProgramFile, refuses_numbers_that_overflow) {
  nlohmann::json json = sample_json();
  nlohmann::json& sink = json["workloads"][0]["links"][0]["sink"];
  sink["walk"][0]["count"] = std::int64_t{1} << 31;
  sink["walk"][0]["next"] = std::int64_t{1} << 40;
  EXPECT_NE(error_of(json).find("bytes apart"), std::string::npos) << error_of(json);
}

TEST(ProgramFile, refuses_a_buffer_that_no_memory_holds) {
  nlohmann::json json = sample_json();
  json["workloads"][0]["buffers"][0]["row_bytes"] = std::int64_t{1} << 39;
  EXPECT_NE(error_of(json).find("found a buffer of"), std::string::npos) << error_of(json);
}

TEST(ProgramFile, refuses_more_steps_than_anyone_waits_for) {
  nlohmann::json json = sample_json();
  json["workloads"][0]["links"][0]["delay"] = std::int64_t{1} << 31;
  EXPECT_NE(error_of(json).find("their steps times their links are"), std::string::npos)
      << error_of(json);
}

TEST(ProgramFile, refuses_a_transfer_that_computes) {
  nlohmann::json json = sample_json();
  for (nlohmann::json& link : json["workloads"][0]["links"])
    if (link["kind"] == "processing") link["operation"] = "copy";
  EXPECT_NE(error_of(json).find("a processing link computes"), std::string::npos) << error_of(json);
}

}  // namespace
}  // namespace millrace::workload
