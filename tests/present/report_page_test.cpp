#include "present/html/page.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "support/temporary_folder.h"

namespace millrace::present {
namespace {

constexpr const char* hostile =
    "</script><script>alert(1)</script><!-- <img src=x onerror=\"alert('1')\"> \xe2\x80\xa8 {{js}}";

std::size_t count_of(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + word.size())) ++count;
  return count;
}

ReportPart planning(const std::string& name) {
  ReportPart part{"a.json", ReportKind::planning};
  part.document = {{"network", name}, {"candidates", {{{"name", name}}}}};
  return part;
}

std::string data_in(const std::string& page) {
  const std::string mark = "id=\"data\">";
  const auto begin = page.find(mark) + mark.size();
  return page.substr(begin, page.find("</script>", begin) - begin);
}

/// Names end no element and begin none, and come out of the document as they went in.
TEST(ReportPage, names_are_never_markup) {
  const std::string usual = report_page({planning("usual")});
  const std::string page = report_page({planning(hostile)});
  for (const char* markup : {"<script", "</script", "<img", "<!--", "\xe2\x80\xa8"})
    EXPECT_EQ(count_of(page, markup), count_of(usual, markup)) << markup;
  const auto data = nlohmann::json::parse(data_in(page));
  EXPECT_EQ(data["parts"][0]["document"]["network"], hostile);
}

TEST(ReportPage, asks_the_network_for_nothing) {
  std::string page = report_page({planning("usual")});
  EXPECT_NE(page.find("default-src 'none'"), page.npos);
  EXPECT_EQ(count_of(page, "://"), count_of(page, "http://www.w3.org/2000/svg"));
  EXPECT_EQ(count_of(page, " src="), 0U);
  EXPECT_EQ(count_of(page, "<link"), 0U);
}

/// Passwords of cameras stand in no file that we write.
TEST(ReportPage, addresses_are_masked) {
  ReportPart part{"rtsp://me:secret@camera/1", ReportKind::run};
  part.document = {{"source", "rtsp://me:secret@camera/1"}};
  EXPECT_EQ(report_page({part}).find("secret"), std::string::npos);
}

class ReportFiles : public testing::Test {
 protected:
  ReportPart read(const std::string& content) {
    const std::string file = (folder_ / "report_part.json").string();
    std::ofstream(file) << content;
    return read_report_part(file);
  }
  std::string fault_of(const std::string& content) {
    try {
      read(content);
    } catch (const InputError& error) {
      return error.what();
    }
    return "none";
  }

 private:
  const millrace::test::TemporaryFolder folder_;
};

TEST_F(ReportFiles, are_known_by_their_content) {
  EXPECT_EQ(read(R"({"stages": [], "channels": []})").kind, ReportKind::plan);
  EXPECT_EQ(read(R"({"kind": "deployment"})").kind, ReportKind::deployment);
  EXPECT_EQ(read(R"({"traceEvents": []})").kind, ReportKind::trace);
  EXPECT_EQ(read("{\"frame\": 0, \"latency_ms\": 2}\n{\"frame\": 1, \"latency_ms\": 4}\n").kind,
            ReportKind::run);
}

TEST_F(ReportFiles, latencies_of_lines_have_percentiles) {
  const ReportPart part =
      read("{\"latency_ms\": 4}\n{\"latency_ms\": 2}\n{\"latency_ms\": 3}\n{\"kind\": \"run\"}\n");
  const auto& latencies = part.facts["latencies"];
  EXPECT_EQ(latencies["frames"], 3);
  EXPECT_EQ(latencies["p50_ms"], 3.0);
  EXPECT_EQ(latencies["maximum_ms"], 4.0);
  EXPECT_EQ(part.document["kind"], "run");
}

TEST_F(ReportFiles, what_is_missing_is_named) {
  EXPECT_NE(fault_of("{\"a\": 1}").find("is nothing that a report shows"), std::string::npos);
  EXPECT_NE(fault_of("[1]").find("report_part.json"), std::string::npos);
  EXPECT_NE(fault_of(R"({"kind": "bench", "rows": [{"name": "plan"}], "stages": []})")
                .find("rows[0]: the field 'throughput_fps'"),
            std::string::npos);
  EXPECT_NE(fault_of("{\"latency_ms\": 4}\n{\"latency_ms\": 2\n").find("line 2"),
            std::string::npos);
}

TEST(ReportPage, hints_name_settings_in_the_words_of_the_reader) {
  const auto option = [](std::string_view name) { return "--" + std::string(name); };
  const std::string page = report_page({planning("usual")}, option);
  EXPECT_NE(page.find("\"bench --json\""), std::string::npos);
  EXPECT_EQ(page.find("⟨"), std::string::npos);
  EXPECT_NE(report_page({planning("usual")}).find("\"bench json\""), std::string::npos);
}

}  // namespace
}  // namespace millrace::present
