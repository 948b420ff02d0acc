#include "application/jedi/import_jedi.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "network/read.h"

namespace millrace::application::jedi {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::int64_t dlas_of_jedi = 2;  // from this number of `dla_cores` on, all of them
constexpr double jedi_threshold = 0.05;
constexpr std::int64_t most_threads = 256, most_slots = 1024, most_stages = 12;
constexpr std::int64_t most_layer = 1'000'000;

/// Keys that have no counterpart, and what there is instead.
struct Without {
  const char *key, *instead;
};
constexpr Without without[] = {
    {"model_dir",
     "is where JEDI keeps engines it has built; profiles and packed weights are kept "
     "in the cache folder (`millrace cache`)"},
    {"timing_cache_path", "is TensorRT's; profiles are kept in the cache folder"},
    {"bin_path",
     "holds weights in tkDNN's format, which is not read; Darknet's .weights file is, "
     "beside the .cfg file or as network.weights"},
    {"calib_table", "is TensorRT's, which is not read; `millrace calibrate` makes one"},
    {"calib_image_path", "has no place in an application; `millrace calibrate` takes pictures"},
    {"calib_image_label_path", "has no counterpart: calibration needs no labels"},
    {"calib_images_num", "has no place in an application; see `millrace calibrate --help`"},
    {"image_label_path",
     "has no place in an application; `millrace run --labels-from` compares results with labels"},
    {"batch_thread_num", "has no counterpart: preprocess.threads work on several pictures at once"},
    {"opencv_parallel_num", "has no counterpart: each thread works on a picture of its own"},
    {"aux_streams", "has no counterpart: TensorRT's streams inside of a stage"},
    {"dla_sram_sizes", "has no counterpart in plans"},
    {"dla_sram_size", "has no counterpart in plans"},
    {"gpu_ranges", "is not imported: layers that a DLA cannot run go to the GPU by themselves"},
    {"fp16_ranges", "is not imported: each stage has the precision of data_type"},
    {"fp32_ranges", "is not imported: each stage has the precision of data_type"},
};

std::string file_name_of(const std::string& name) {
  std::string result;
  for (const char c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
    result += plain ? c : '_';
  }
  return result.substr(0, 64);
}

class Import {
 public:
  Import(const Instance& instance, fs::path file, fs::path folder)
      : in_(instance), file_(std::move(file)), folder_(std::move(folder)) {}

  Imported run() {
    const std::string name = in_.text("network_name");
    out_.name = file_name_of(name.empty() ? file_.stem().string() : name);
    app_ = {{"format", 1}, {"name", name.empty() ? out_.name : name}};
    type_ = in_.has("app_type") ? in_.text("app_type") : "YoloApplication";
    add_network();
    add_stages();
    add_input();
    add_processing();
    add_labels();
    for (const Without& each : without)
      if (in_.has(each.key)) note(each.key, each.instead);
    out_.application = application_text();
    return std::move(out_);
  }

 private:
  void note(const std::string& key, const std::string& text) {
    out_.notes.push_back(key + " " + text);
  }

  std::string application_text() const {
    try {
      return app_.dump();
    } catch (const nlohmann::json::type_error&) {
      throw InputError(file_.string(),
                       "has, or names, a path that is not UTF-8 text, which no application can "
                       "hold; rename the file or its folder");
    }
  }

  /// Where it is; as it stands there if it is nowhere.
  fs::path located(const fs::path& path) const {
    std::error_code ignored;
    if (path.is_absolute() || fs::exists(path, ignored)) return path;
    const fs::path beside = file_.parent_path() / path;
    return fs::exists(beside, ignored) ? beside : path;
  }
  std::string written(const fs::path& path) const {
    if (path.is_absolute()) return path.string();
    return fs::absolute(path)
        .lexically_normal()
        .lexically_proximate(fs::absolute(folder_).lexically_normal())
        .string();
  }

  void add_network() {
    const bool onnx_wanted = in_.text("model_type").starts_with("O");  // OnnxModel
    const char* onnx = in_.has("onnx_path") ? "onnx_path" : "onnx_file_path";
    const bool use_onnx = in_.has(onnx) && (onnx_wanted || !in_.has("cfg_path"));
    const std::string key = use_onnx ? onnx : "cfg_path";
    if (in_.text(key).empty())
      in_.fail(key, "names no network; give cfg_path (Darknet) or onnx_file_path");
    const std::string other = use_onnx ? "cfg_path" : onnx;
    if (in_.has(other)) note(other, fmt::format("was left out: model_type takes {}", key));
    out_.model = located(in_.text(key));
    if (network::format_of(out_.model) !=
        (use_onnx ? network::Format::onnx : network::Format::darknet))
      in_.fail(key, fmt::format("found '{}', expected a file that ends in {}", in_.text(key),
                                use_onnx ? ".onnx" : ".cfg"));
    std::error_code ignored;
    is_there_ = fs::is_regular_file(out_.model, ignored);
    if (!is_there_) note(key, fmt::format("names '{}', which is not here", in_.text(key)));
    app_["network"] = {{"model", written(out_.model)}};
    if (is_there_ && !use_onnx) heads_ = network::darknet::read_heads({.file = out_.model});
  }

  board::Precision precision_of(const std::string& word) const {
    if (word == "FP32") return board::Precision::f32;
    if (word == "FP16") return board::Precision::f16;
    if (word == "INT8") return board::Precision::int8;
    in_.fail("data_type", fmt::format("found '{}', expected FP32, FP16 or INT8", word));
  }

  void add_stages() {
    std::vector<std::string> types = in_.list("data_type");
    if (types.empty()) types = {"FP16"};
    std::vector<std::string> precisions;
    for (const std::string& type : types) {
      const std::string word = board::to_text(precision_of(type));
      if (std::find(precisions.begin(), precisions.end(), word) == precisions.end())
        precisions.push_back(word);
    }
    app_["precision"] = precisions;
    out_.slots = std::max<std::int64_t>(
        1, in_.has("buffer_num") ? in_.count("buffer_num", 1, most_slots) : 2);
    add_batch();
    if (!in_.has("cut_points") || !in_.has("devices")) {
      for (const char* key :
           {"cut_points", "devices", "dla_cores", "device_num", "buffer_num", "streams"})
        if (in_.has(key)) note(key, "was left out: a plan needs both cut_points and devices");
      return;
    }
    read_stages(types);
  }

  /// It is the first dimension of the network's input.
  void add_batch() {
    const std::int64_t batch = in_.has("batch") ? in_.count("batch", 1, 4096) : 1;
    if (batch == 1) return;
    if (!is_there_)
      return note("batch", "was left out: the shape of the network's input is not known");
    const network::Network network = network::read_network(out_.model);
    Json shapes = Json::array();
    for (const TensorId input : network.inputs) {
      network::Shape shape = network[input].shape;
      if (network[input].constant || shape.empty() || shape.front() != 1) continue;
      shape.front() = batch;
      shapes.push_back(network[input].name + "=" + network::to_text(shape));
      out_.shapes[network[input].name] = std::move(shape);
    }
    app_["network"]["shapes"] = shapes;
  }

  void read_stages(const std::vector<std::string>& types) {
    const std::vector<std::string> devices = in_.list("devices");
    const std::vector<std::int64_t> cuts = in_.counts("cut_points", most_layer);
    const std::vector<std::int64_t> cores = in_.counts("dla_cores", 255);
    const auto count =
        static_cast<std::size_t>(in_.has("device_num") ? in_.count("device_num", 1, most_stages)
                                                       : static_cast<std::int64_t>(devices.size()));
    for (const auto& [key, size] :
         {std::pair{"devices", devices.size()}, {"cut_points", cuts.size()}}) {
      if (size < count)
        in_.fail(key,
                 fmt::format("has {} entries, expected one for each of {} stages", size, count));
      if (size > count)
        note(key, fmt::format("has {} entries, of which the first {} count", size, count));
    }
    for (const auto& [key, size] :
         {std::pair{"data_type", types.size()}, {"dla_cores", cores.size()}})
      if (size > count)
        note(key, fmt::format("has {} entries, of which the first {} count", size, count));
    for (std::size_t i = 0; i < count; ++i) {
      if (devices[i] != "GPU" && devices[i] != "DLA")
        in_.fail("devices", fmt::format("found '{}', expected GPU or DLA", devices[i]));
      if (i > 0 && cuts[i] <= cuts[i - 1])
        in_.fail("cut_points", fmt::format("found {} after {}, expected ascending numbers", cuts[i],
                                           cuts[i - 1]));
      out_.stages.push_back({devices[i] == "DLA", i < cores.size() ? cores[i] : 0,
                             precision_of(i < types.size() ? types[i] : types.front()), cuts[i]});
    }
    read_streams();
  }

  /// JEDI counts those of all DLAs together.
  void read_streams() {
    constexpr std::int64_t most_streams = 64;
    const std::vector<std::int64_t> streams = in_.counts("streams", most_streams);
    if (streams.size() > out_.stages.size())
      note("streams", fmt::format("has {} entries, of which the first {} count", streams.size(),
                                  out_.stages.size()));
    for (std::size_t i = 0; i < std::min(streams.size(), out_.stages.size()); ++i) {
      Stage& stage = out_.stages[i];
      const std::int64_t sharers = stage.on_dla && stage.core >= dlas_of_jedi ? dlas_of_jedi : 1;
      stage.streams = std::max<std::int64_t>(1, streams[i] / sharers);
      if (streams[i] > 0 && streams[i] != sharers * stage.streams)
        note("streams", fmt::format("of stage {}: {} on {} DLAs become {} on each", i, streams[i],
                                    sharers, stage.streams));
    }
  }

  void add_input() {
    Json input;
    const std::string path = in_.text("image_path");
    if (path.empty()) in_.fail("image_path", "is not there, expected the list of pictures");
    input["images"] = written(images_of(located(path)));
    if (in_.has("sample_size")) {
      const std::int64_t frames = in_.count("sample_size", 0, 1'000'000'000);
      if (frames > 0) input["frames"] = frames;
      if (frames == 0)
        note("sample_size", "0 lets JEDI run without end; all pictures are read once");
    }
    if (in_.count("offset", 0, 1'000'000'000) > 0)
      note("offset", fmt::format("{} has no counterpart: input begins with the first picture",
                                 in_.text("offset")));
    app_["input"] = input;
  }

  /// The folder of the pictures that the file lists, if it is one.
  fs::path images_of(const fs::path& list) {
    std::error_code ignored;
    if (!fs::is_regular_file(list, ignored)) {
      note("image_path",
           fmt::format("names '{}', which is no file here: give input.images a folder",
                       list.string()));
      return list;
    }
    constexpr std::uintmax_t most_of_list = 16 << 20;
    if (fs::file_size(list, ignored) > most_of_list)
      in_.fail("image_path", "is larger than 16 MiB");
    std::istringstream lines(read_file(list));
    std::set<fs::path> folders;
    std::int64_t count = 0;
    for (std::string line; std::getline(lines, line);) {
      if (line.ends_with('\r')) line.pop_back();
      if (line.empty()) continue;
      ++count;
      folders.insert(located(line).parent_path());
    }
    if (folders.size() != 1) {
      note("image_path", fmt::format("lists pictures of {} folders, and an application takes one: "
                                     "give input.images a folder",
                                     folders.size()));
      return list;
    }
    note("image_path", fmt::format("lists {} pictures; the application takes all of their folder, "
                                   "in order of names",
                                   count));
    return folders.begin()->empty() ? fs::path(".") : *folders.begin();
  }

  Json workers(const char* key) const {
    Json result = Json::object();
    if (in_.has(key)) result["threads"] = in_.count(key, 1, most_threads);
    return result;
  }

  void add_processing() {
    Json before = workers("pre_thread_num"), after = workers("post_thread_num");
    if (!is_own(type_)) {
      add_users(before, after);
    } else {
      add_fit(before);
      add_findings(after);
    }
    if (!before.empty()) app_["preprocess"] = before;
    app_["postprocess"] = after;
  }

  /// What is not JEDI's own is for the processing.
  void add_users(Json& before, Json& after) {
    before["kind"] = after["kind"] = type_;
    note("app_type", fmt::format("{} is an application of your own: a plug-in has to add a "
                                 "processing of this name",
                                 type_));
    Json parameters = Json::object();
    for (const auto& [key, setting] : in_.settings()) {
      const Key name = key_of(key);
      if (name.known) continue;
      parameters[key] = setting.text;
      note(key, "is no key of JEDI's and became a parameter of the processing" + name.near);
    }
    if (!parameters.empty()) before["parameters"] = after["parameters"] = parameters;
  }

  void add_fit(Json& before) {
    const std::string how = in_.text("image_preprocessing");
    if (how == "letterbox" || heads_.letter_box) before["fit"] = "letterbox";
    if (how.find("crop") != std::string::npos)
      note("image_preprocessing", fmt::format("{} crops, which has no counterpart: pictures are "
                                              "stretched",
                                              how));
    const bool is_normalised = how.find("norm") != std::string::npos;
    for (const char* key : {"image_norm_mean", "image_norm_std"})
      if (!is_normalised && in_.has(key))
        note(key, fmt::format("was left out: image_preprocessing is '{}', which does not normalise",
                              how));
    if (!is_normalised) return;
    before["mean"] = numbers("image_norm_mean", {0.485, 0.456, 0.406});
    before["deviation"] = numbers("image_norm_std", {0.229, 0.224, 0.225});
  }

  Json numbers(const char* key, const std::vector<double>& usual) const {
    if (!in_.has(key)) return usual;
    std::vector<double> result;
    for (const std::string& item : in_.list(key)) {
      std::istringstream text(item);
      double value = 0;
      if (!(text >> value) || !text.eof())
        in_.fail(key, fmt::format("found '{}', expected three numbers", item));
      result.push_back(value);
    }
    if (result.size() != 3)
      in_.fail(key, fmt::format("found {} numbers, expected three", result.size()));
    return result;
  }

  void add_findings(Json& after) {
    const std::string network = in_.text("network_name");
    const bool region_name = network == "yolo2" || network == "yolo2tiny" || network == "densenet";
    const bool is_region = heads_.heads.empty()
                               ? region_name
                               : heads_.heads.front().kind == network::darknet::Head::Kind::region;
    const bool is_darknet = network::format_of(out_.model) == network::Format::darknet;
    const bool knows_heads = is_darknet && (!is_there_ || !heads_.heads.empty());
    after["kind"] = type_ == "ImageClsOnnxApplication" ? "top_k" : "raw";
    if (type_ == "YoloApplication" && knows_heads) {
      after["kind"] = is_region ? "region" : "yolo";
      after["threshold"] = jedi_threshold;
    } else if (type_ != "ImageClsOnnxApplication") {
      note("app_type", fmt::format("{} has no counterpart for this network: results are its raw "
                                   "outputs; postprocess.kind yolo takes heads",
                                   type_));
    }
  }

  void add_labels() {
    for (const char* key : {"name_path", "names_path", "label_path"}) {
      if (!in_.has(key)) continue;
      std::error_code ignored;
      const fs::path path = located(in_.text(key));
      if (fs::is_regular_file(path, ignored))
        app_["labels"] = written(path);
      else
        note(key,
             fmt::format("names '{}', which is no file here, and was left out", path.string()));
    }
  }

  const Instance& in_;
  fs::path file_, folder_;
  Imported out_;
  Json app_;
  std::string type_;
  network::darknet::Heads heads_;
  bool is_there_ = false;
};

}  // namespace

Imported import_instance(const Instance& instance, const fs::path& file, const fs::path& folder) {
  return Import(instance, file, folder).run();
}

}  // namespace millrace::application::jedi
