#include "millrace/plan.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>

#include "face/digits.h"
#include "millrace/error.h"
#include "millrace/millrace.h"
#include "support/temporary_folder.h"

namespace {

using millrace::Error;
using millrace::ErrorKind;
using millrace::Model;
using millrace::test::digits;

millrace::PlanRequest quick() {
  millrace::PlanRequest request;
  request.measuring = {};
  request.options.cache = false;
  return request;
}

TEST(FacePlan, names_every_layer_once) {
  const Model model = Model::from_file(digits);
  const millrace::Plan made = plan(model, quick());
  std::size_t layers = 0;
  for (const millrace::StageInfo& stage : made.stages()) {
    EXPECT_FALSE(stage.processors.empty());
    for (const millrace::PhaseInfo& phase : stage.phases) layers += phase.layers.size();
  }
  EXPECT_EQ(layers, model.layers().size());
  ASSERT_FALSE(made.candidates().empty());
  EXPECT_GT(made.predicted_period()->count(), 0);
}

TEST(FacePlan, a_file_there_and_back_is_the_plan) {
  const millrace::test::TemporaryFolder folder;
  const Model model = Model::from_file(digits);
  const std::string path = (folder.path() / "digits.plan.json").string();
  plan(model, quick()).write(path);
  const auto read = millrace::Plan::from_file(path, model), found = millrace::Plan::from_file(path);
  EXPECT_EQ(read.stages().size(), found.stages().size());
  auto session = found.start();
  EXPECT_EQ(millrace::test::recognised(session.run(millrace::test::images(1)[0])),
            millrace::test::labels()[0]);
}

TEST(FacePlan, its_report_is_a_page_with_every_layer) {
  const millrace::test::TemporaryFolder folder;
  const Model model = Model::from_file(digits);
  const std::string path = (folder.path() / "digits.html").string();
  plan(model, quick()).report(path);
  std::ifstream file(path);
  const std::string page(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(page.find("</html>"), std::string::npos);
  for (const auto& layer : model.layers())
    EXPECT_NE(page.find("\"" + layer.name + "\""), std::string::npos) << layer.name;
  EXPECT_THROW(plan(model, quick()).report("/no/such/folder/x.html"), Error);
}

TEST(FacePlan, a_plan_that_cannot_be_is_infeasible) {
  millrace::PlanRequest request = quick();
  request.max_latency = std::chrono::nanoseconds(1);
  try {
    plan(Model::from_file(digits), request);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::infeasible) << error.what();
    EXPECT_EQ(std::string(error.what()).find("--"), std::string::npos) << error.what();
  }
}

/// Counts, and ends the work in its own way.
class Watcher : public millrace::Listener {
 public:
  void progress(const std::string&, double, const std::string&) override {
    ++calls;
    if (token != nullptr) token->cancel();
    if (throws) throw std::out_of_range("mine");
  }

  int calls = 0;
  millrace::CancelToken* token = nullptr;
  bool throws = false;
};

TEST(FacePlan, is_cancelled_by_its_token) {
  millrace::PlanRequest request = quick();
  const auto watcher = std::make_shared<Watcher>();
  watcher->token = &request.options.cancel;
  request.options.listener = watcher;
  try {
    plan(Model::from_file(digits), request);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::cancelled) << error.what();
  }
  EXPECT_EQ(watcher->calls, 1);
}

TEST(FacePlan, what_a_listener_throws_is_passed_on) {
  millrace::PlanRequest request = quick();
  const auto watcher = std::make_shared<Watcher>();
  watcher->throws = true;
  request.options.listener = watcher;
  EXPECT_THROW(plan(Model::from_file(digits), request), std::out_of_range);
}

TEST(FacePlan, prints_nothing_and_changes_no_environment) {
  const auto all = [] {
    std::string text;
    for (char** entry = environ; *entry != nullptr; ++entry) text += std::string(*entry) + "\n";
    return text;
  };
  const std::string before = all();
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  auto session = plan(Model::from_file(digits), quick()).start();
  session.run(millrace::test::images(1)[0]);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(all(), before);
}

}  // namespace
