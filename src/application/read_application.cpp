#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "application/application_file.h"
#include "application/cascade/read_crops.h"
#include "application/read_processing.h"
#include "application/sources/read_input.h"
#include "base/error.h"
#include "base/file.h"
#include "board/board.h"
#include "board/read_values.h"
#include "formats/files/named_file.h"

namespace millrace::application {
namespace {

namespace fs = std::filesystem;

constexpr int format = 1;
constexpr std::string_view application_keys[] = {"format", "name",       "network",     "precision",
                                                 "input",  "preprocess", "postprocess", "labels",
                                                 "output", "plugins",    "mapping",     "crops"};
constexpr std::string_view network_keys[] = {"model", "weights", "size", "shapes", "fix"};
constexpr std::string_view output_keys[] = {"json", "images", "video", "maps"};

class ApplicationReader {
 public:
  ApplicationReader(const YamlView& root, const std::string& file) : root_(root), file_(file) {}

  Application read() {
    if (root_.has("groups") && !root_.has("network"))
      throw InputError(file_, fmt::format("is a system, not an application; decide with `millrace "
                                          "deploy {}` first, and run the deployment",
                                          file_));
    root_.only(application_keys);
    if (const std::int64_t found = root_.at("format").integer(); found != format)
      root_.at("format").fail(fmt::format("found {}, expected {}", found, format));
    Application result;
    result.file = file_;
    result.name = root_.has("name") ? root_.at("name").text() : fs::path(file_).stem().string();
    root_.at("network").only(network_keys);
    result.model = formats::read_model_source(root_.at("network"));
    if (root_.has("precision")) {
      result.precisions.clear();
      for (const YamlView& item : root_.at("precision").items())
        result.precisions.push_back(read_precision(item, result.precisions));
      if (result.precisions.empty()) root_.at("precision").fail("found none, expected such as f32");
    }
    std::vector<Input> inputs = read_inputs(root_.at("input"));
    result.input = inputs.front();
    result.beside.assign(inputs.begin() + 1, inputs.end());
    if (root_.has("preprocess")) result.preprocess = read_preprocess(root_.at("preprocess"));
    if (!root_.has("preprocess")) {
      result.preprocess.place = root_.place();
      result.preprocess.as_trained = true;
    }
    // As with an application for each input, as far as there are cores: more would only hold
    // pictures that grow old. A plug-in may allow only one.
    if (!root_.has("preprocess") ||
        !(root_.at("preprocess").has("threads") || root_.at("preprocess").has("kind")))
      result.preprocess.workers.threads =
          static_cast<int>(std::min(inputs.size(), board::cores_of_this_thread().size()));
    result.postprocess = read_postprocess(root_.at("postprocess"));
    if (result.postprocess.kind == "text")
      read_alphabet(root_.at("postprocess").at("alphabet"), result.postprocess);
    if (root_.has("labels")) {
      result.labels = read_labels(root_.at("labels"));
      if (root_.at("labels").is_scalar()) result.labels_file = root_.at("labels").path();
    }
    if (root_.has("output")) result.output = read_output(root_.at("output"));
    if (!result.output.maps.empty() && result.postprocess.kind != "segmentation")
      root_.at("output").at("maps").fail("is for the post-processing 'segmentation'; leave it out");
    if (root_.has("plugins"))
      for (const YamlView& item : root_.at("plugins").items())
        result.plugins.push_back(read_plugin(item));
    if (root_.has("mapping")) {
      result.mapping = read_mapping(root_.at("mapping"));
      if (!result.mapping.plan.empty()) result.mapping.plan = root_.at("mapping").at("plan").path();
    }
    if (root_.has("crops")) result.crops = read_crops(root_.at("crops"), result);
    return result;
  }

 private:
  /// A plug-in runs as a program does, and the file may come from anywhere: so the file names only
  /// what lies in its own folder. Others are named by whoever runs it.
  std::string read_plugin(const YamlView& view) const {
    const fs::path folder = fs::path(file_).parent_path();
    const fs::path name = fs::path(view.text()).lexically_normal();
    using enum formats::NamedFile::Finding;
    const auto found = formats::named_file(folder, name).finding;
    if (found == leaves || found == link_leaves)
      view.fail(
          fmt::format("'{}' is outside of the application's folder; an application names "
                      "only plug-ins beside it, give others with ⟨plugin⟩",
                      view.text()));
    return folder / name;
  }

  static board::Precision read_precision(const YamlView& view,
                                         const std::vector<board::Precision>& before) {
    const board::Precision precision = board::read_precision(view);
    if (std::find(before.begin(), before.end(), precision) != before.end())
      view.fail(fmt::format("'{}' is given twice; give it once", view.text()));
    return precision;
  }

  static Output read_output(const YamlView& view) {
    view.only(output_keys);
    Output output;
    if (view.has("json")) output.json = view.at("json").text();
    if (view.has("images")) output.images = view.at("images").text();
    if (view.has("video")) output.video = view.at("video").text();
    if (view.has("maps")) output.maps = view.at("maps").text();
    return output;
  }

  YamlView root_;
  std::string file_;
};

}  // namespace

bool is_application_file(const std::filesystem::path& path) {
  return path.extension() == ".yaml" || path.extension() == ".yml";
}

Application read_application(const std::filesystem::path& path) {
  return parse_application(read_file(path), path.string());
}

Application parse_application(const std::string& content, const std::string& file) {
  const YamlNode root = parse_yaml(content, file);
  return ApplicationReader(YamlView(root, file), file).read();
}

}  // namespace millrace::application
