#include "conversion.h"

#include <gtest/gtest.h>

#include "a_subnet.h"
#include "fake_python.h"
#include "failure.h"
#include "support/message_of.h"

namespace millrace::test {
namespace {

using namespace millrace_rknn;

NpuSettings with(const FakePython& python) {
  return {{"rk3588", "RK3588 NPU", 3}, python.file(), {}, {}};
}

std::string message_for(const std::string& commands) {
  const FakePython python("2.5.0", commands);
  const ASubnet given;
  return message_of<SdkFailure>(
      [&] { convert(with(python), given.subnet, [] { return true; }); });
}

TEST(RknnConversion, tells_the_script_ranges_and_what_stays_in_float16) {
  ASubnet given;
  const NpuSettings settings{{"rk3588", "RK3588 NPU", 3}, "python3", {}, {}};
  EXPECT_EQ(job_of(settings, given.subnet),
            "{\"platform\": \"rk3588\",\n \"int8\": true,\n \"inputs\": [{\"shape\": [1, 2, 3, 3], "
            "\"range\": [-1, 2.5]}],\n \"ranges\": {\"a \\\"b\\\"\": [-1, 2.5], \"c\": [-3, 3], "
            "\"d\": [0, 3]},\n \"float16\": []}\n");
  given.layers[0].precision = millrace_f16;
  const std::string job = job_of(settings, given.subnet);
  EXPECT_NE(job.find("\"int8\": false"), std::string::npos);
  EXPECT_NE(job.find("\"float16\": [\"c\"]"), std::string::npos);
}

TEST(RknnConversion, of_int8_needs_the_ranges_of_inputs) {
  ASubnet given;
  given.tensors[0].low = given.tensors[0].high = 0;
  EXPECT_EQ(message_of<SdkFailure>([&] { job_of({}, given.subnet); }),
            "the range of 'a \"b\"' is not known, which int8 needs; plan with a calibration");
}

TEST(RknnConversion, gives_the_toolkits_file) {
  const FakePython python("2.5.0", "cd $2 && cat model.onnx > model.rknn");
  const ASubnet given;
  EXPECT_EQ(convert(with(python), given.subnet, [] { return true; }), "onnx");
}

TEST(RknnConversion, that_fails_gives_the_toolkits_reason) {
  EXPECT_EQ(message_for("echo; echo 'FAULT: Unsupported op X!'; echo more; exit 1"),
            "rknn-toolkit2 could not convert it: Unsupported op X!");
  EXPECT_EQ(message_for("echo 'I building'; echo 'Killed'; exit 9"),
            "rknn-toolkit2 could not convert it: Killed");
  EXPECT_EQ(message_for("exit 9"), "rknn-toolkit2 could not convert it: it said nothing");
  EXPECT_EQ(message_for("exit 0"), "rknn-toolkit2 wrote no file");
}

TEST(RknnConversion, leaves_a_folder_only_where_it_is_to_be_kept) {
  const TemporaryFolder keep;
  const FakePython python("2.5.0", "cd $2 && cp model.onnx model.rknn; echo $2 >> \"$0.folders\"");
  NpuSettings settings = with(python);
  const ASubnet given;
  convert(settings, given.subnet, [] { return true; });
  std::string folder = read_file(python.file() + ".folders");
  folder.pop_back();
  EXPECT_FALSE(std::filesystem::exists(folder));
  settings.keep = keep.path() / "here";
  convert(settings, given.subnet, [] { return true; });
  const std::filesystem::directory_iterator kept(settings.keep);
  EXPECT_TRUE(std::filesystem::exists(kept->path() / "convert.py"));
}

}  // namespace
}  // namespace millrace::test
