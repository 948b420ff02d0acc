#include "product/calibrate.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "product/heard.h"
#include "support/temporary_folder.h"

namespace millrace::product {
namespace {

/// Asks while pictures are decoded: at the first that is skipped.
class Impatient : public test::Heard {
 public:
  void note(const std::string& text) override {
    Heard::note(text);
    if (text.starts_with("skipped: ")) interrupt.ask();
  }
  InterruptSwitch interrupt;
};

TEST(Calibrate, is_interrupted_while_pictures_are_decoded) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directory(folder / "in");
  write_file(folder / "in/a.pgm", "bad");
  write_file(folder / "in/b.pgm", "P2 2 1 255 7 9\n");
  write_file(folder / "a.yaml", "format: 1\nnetwork: {model: " + test::digits +
                                    "}\ninput: {images: in}\npreprocess: {colours: grey}\n"
                                    "postprocess: {kind: top_k}\n");
  Impatient listener;
  CalibrateRequest request;
  request.setup.source.file = (folder / "a.yaml").string();
  request.setup.context.listener = &listener;
  request.setup.context.interrupt = &listener.interrupt;
  request.setup.context.cache = false;
  request.output = (folder / "table.json").string();
  EXPECT_THROW(calibrate(request), EngineError);
  EXPECT_TRUE(listener.has_note("skipped: "));
  EXPECT_FALSE(std::filesystem::exists(folder / "table.json"));
}

}  // namespace
}  // namespace millrace::product
