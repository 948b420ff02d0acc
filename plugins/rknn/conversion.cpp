#include "conversion.h"

#include <stdlib.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <locale>
#include <sstream>
#include <system_error>

#include "failure.h"
#include "process.h"
#include "questions.h"
#include "script.h"

namespace millrace_rknn {
namespace {

/// The folder of one conversion; removed with what is in it, unless it is to be kept.
class WorkFolder {
 public:
  explicit WorkFolder(const std::filesystem::path& keep) : is_kept_(!keep.empty()) {
    std::error_code error;
    if (is_kept_) std::filesystem::create_directories(keep, error);
    std::string name =
        ((is_kept_ ? keep : std::filesystem::temp_directory_path()) / "rknn-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw SdkFailure(name + ": no folder can be made: " + std::strerror(errno));
    path_ = name;
  }
  ~WorkFolder() {
    std::error_code error;
    if (!is_kept_) std::filesystem::remove_all(path_, error);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  bool is_kept_;
  std::filesystem::path path_;
};

void write_bytes(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw SdkFailure(path.string() + ": it cannot be written; is the disk full?");
}

std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A text of JSON.
std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    std::array<char, 8> escape{};
    if (letter == '"' || letter == '\\') result += '\\';
    if (code < 0x20) std::snprintf(escape.data(), escape.size(), "\\u%04x", code);
    result += code < 0x20 ? std::string(escape.data()) : std::string(1, letter);
  }
  return result + '"';
}

bool has_range(const MillraceTensor& tensor) { return tensor.low != 0 || tensor.high != 0; }

std::string range_text(const MillraceTensor& tensor) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out.precision(9);
  out << '[' << tensor.low << ", " << tensor.high << ']';
  return out.str();
}

std::string shape_text(const MillraceTensor& tensor) {
  std::string text;
  for (std::int32_t i = 0; i < tensor.rank; ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(tensor.shape[i]);
  return '[' + text + ']';
}

/// With a comma before all but the first.
void add(std::string& list, const std::string& entry) {
  if (!list.empty()) list += ", ";
  list += entry;
}

std::string inputs_of(const MillraceSubnet& subnet, bool is_int8) {
  std::string list;
  for (std::size_t i = 0; i < subnet.input_count; ++i) {
    const MillraceTensor& tensor = subnet.tensors[subnet.inputs[i]];
    if (is_int8 && !has_range(tensor))
      throw SdkFailure(std::string("the range of '") + tensor.name +
                       "' is not known, which int8 needs; plan with a calibration");
    add(list, "{\"shape\": " + shape_text(tensor) + ", \"range\": " + range_text(tensor) + '}');
  }
  return list;
}

std::string ranges_of(const MillraceSubnet& subnet) {
  std::string list;
  for (std::size_t i = 0; i < subnet.tensor_count; ++i)
    if (const MillraceTensor& tensor = subnet.tensors[i]; has_range(tensor))
      add(list, quoted(tensor.name) + ": " + range_text(tensor));
  return list;
}

/// The results of those that multiply, but not in int8.
std::string float16_of(const MillraceSubnet& subnet) {
  std::string list;
  for (std::size_t i = 0; i < subnet.node_count; ++i) {
    const MillraceNode& node = subnet.nodes[i];
    if (multiplies(node) && subnet.layers[node.layer].precision != millrace_int8_products)
      add(list, quoted(subnet.tensors[node.outputs[0]].name));
  }
  return list;
}

/// The toolkit's sentence; else the last that was printed.
std::string reason_in(const std::string& words) {
  constexpr std::string_view mark = "FAULT: ";
  const std::size_t at = words.rfind(mark);
  if (at == std::string::npos) {
    const std::size_t end = words.find_last_not_of("\r\n ");
    const std::size_t begin = words.find_last_of("\r\n", end) + 1;
    return end == std::string::npos ? "it said nothing" : words.substr(begin, end + 1 - begin);
  }
  const std::size_t begin = at + mark.size();
  return words.substr(begin, words.find('\n', begin) - begin);
}

}  // namespace

std::string job_of(const NpuSettings& settings, const MillraceSubnet& subnet) {
  const bool is_int8 = has_int8(subnet);
  return "{\"platform\": " + quoted(settings.platform.name) +
         ",\n \"int8\": " + (is_int8 ? "true" : "false") + ",\n \"inputs\": [" +
         inputs_of(subnet, is_int8) + "],\n \"ranges\": {" + ranges_of(subnet) +
         "},\n \"float16\": [" + float16_of(subnet) + "]}\n";
}

std::string convert(const NpuSettings& settings, const MillraceSubnet& subnet,
                    const std::function<bool()>& goes_on) {
  const WorkFolder folder(settings.keep);
  write_bytes(folder.path() / "job.json", job_of(settings, subnet));
  write_bytes(folder.path() / "model.onnx",
              {static_cast<const char*>(subnet.onnx), subnet.onnx_bytes});
  write_bytes(folder.path() / "convert.py", conversion_script);
  const EndedProgram ended = run_program(
      {settings.python, (folder.path() / "convert.py").string(), folder.path().string()}, goes_on);
  if (ended.was_stopped) throw SdkFailure("stopped");
  if (ended.status != 0)
    throw SdkFailure("rknn-toolkit2 could not convert it: " + reason_in(ended.words));
  std::string model = read_bytes(folder.path() / "model.rknn");
  if (model.empty()) throw SdkFailure("rknn-toolkit2 wrote no file");
  return model;
}

}  // namespace millrace_rknn
