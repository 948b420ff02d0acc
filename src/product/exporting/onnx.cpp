#include "product/exporting/onnx.h"

#include <fmt/format.h>

#include <filesystem>
#include <ostream>

#include "base/error.h"
#include "base/file.h"
#include "engine/engine.h"
#include "formats/onnx_writer/write_onnx.h"
#include "product/loaded.h"
#include "product/open_model.h"

namespace millrace::product {
namespace {

namespace fs = std::filesystem;

// Of weights. A file holds at most 2 GiB, and readers take such a file into memory as a whole.
constexpr Bytes most_inside{std::int64_t{1} << 29};

/// Beside the model, if its weights do not fit in.
fs::path weights_beside(const fs::path& model) { return model.string() + ".weights"; }

/// Several files: all are there in the end, or none that was not there before.
class NewFiles {
 public:
  NewFiles() = default;
  NewFiles(const NewFiles&) = delete;
  NewFiles& operator=(const NewFiles&) = delete;
  ~NewFiles() {
    std::error_code ignored;
    for (const fs::path& path : paths_) fs::remove(path, ignored);
  }
  void begin(const fs::path& path) {
    std::error_code ignored;
    const bool is_there = fs::exists(fs::symlink_status(path, ignored));  // a link is the user's
    if (path != standard_output && !is_there) paths_.push_back(path);
  }
  void keep() { paths_.clear(); }

 private:
  std::vector<fs::path> paths_;
};

/// Whether the constants that the layers read need a file of their own.
bool needs_weights_file(const network::Network& network, const formats::OnnxPart& part) {
  Bytes sum;
  for (const LayerId layer : part.layers)
    for (const TensorId input : network[layer].inputs)
      if (input.valid() && network[input].constant) sum += network[input].size();
  return sum > most_inside;
}

void write_weights(const network::Network& network, const formats::OnnxModel& model,
                   const fs::path& path) {
  write_file(path, [&](std::ostream& out) {
    std::int64_t at = 0;
    for (const formats::OnnxModel::Weight& weight : model.weights) {
      for (; at < weight.offset; ++at) out.put('\0');
      const auto bytes = network[weight.tensor].constant->bytes();
      out.write(reinterpret_cast<const char*>(bytes.data()),
                static_cast<std::streamsize>(bytes.size()));
      at += std::ssize(bytes);
    }
  });
}

ExportedModel write_part(const network::Network& network, const formats::OnnxPart& part,
                         const fs::path& path, NewFiles& files) {
  ExportedModel written{path, part.layers.size(), {}};
  formats::OnnxWriting how;
  how.weights_inside = !needs_weights_file(network, part);
  how.weights_file = weights_beside(path).filename().string();
  if (!how.weights_inside && path == standard_output)
    throw InputError(network.name,
                     "its weights take more than 512 MiB and go into a second file; name a file "
                     "with ⟨output⟩");
  const formats::OnnxModel model = formats::write_onnx(network, part, how);
  if (!model.weights.empty()) {
    written.weights = weights_beside(path);
    files.begin(written.weights);
    write_weights(network, model, written.weights);
  }
  files.begin(path);
  write_file(path, model.bytes);
  return written;
}

std::vector<LayerId> all_layers(const network::Network& network) {
  std::vector<LayerId> layers;
  for (std::size_t i = 0; i < network.layers.size(); ++i) layers.emplace_back(i);
  return layers;
}

fs::path file_of_phase(const fs::path& folder, const plan::Stage& stage, std::size_t phase) {
  if (stage.phases.size() == 1) return folder / (stage.name + ".onnx");
  return folder / fmt::format("{}_{}.onnx", stage.name, phase);
}

template <class F>
void for_each_phase(const plan::Plan& plan, F f) {
  for (const plan::Stage& stage : plan.stages)
    for (std::size_t i = 0; i < stage.phases.size(); ++i)
      if (!stage.phases[i].transfer) f(stage, i);
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!fs::is_directory(folder, error))
    throw InputError(folder.string(),
                     "is no folder and cannot be made one; a plan is written as "
                     "several models, which need a folder");
}

}  // namespace

ExportedModel export_model(const Setup& setup, const fs::path& output) {
  FilesRead files;
  files.add(setup);
  files.refuse(output);
  const network::Network network = open_model(setup.source, setup.context);
  return export_network(network, output, files);
}

ExportedModel export_network(const network::Network& network, const fs::path& output,
                             FilesRead& files) {
  const std::vector<LayerId> layers = all_layers(network);
  const formats::OnnxPart part{layers, network.inputs, network.outputs};
  if (needs_weights_file(network, part)) files.refuse(weights_beside(output));
  NewFiles fresh;
  ExportedModel written = write_part(network, part, output, fresh);
  fresh.keep();
  return written;
}

std::vector<ExportedModel> export_phases(const PlanToExport& plan, const fs::path& folder,
                                         const Context& context) {
  FilesRead files;
  files.add_plan(plan.file, plan.model);
  const auto loaded = read_plan_and_network(plan.file, plan.model, context);
  const network::Network& network = loaded->network;
  for_each_phase(loaded->plan, [&](const plan::Stage& stage, std::size_t phase) {
    files.refuse(file_of_phase(folder, stage, phase));
    files.refuse(weights_beside(file_of_phase(folder, stage, phase)));
  });
  make_folder(folder);
  std::vector<ExportedModel> written;
  NewFiles fresh;
  for_each_phase(loaded->plan, [&](const plan::Stage& stage, std::size_t phase) {
    const std::vector<LayerId>& layers = stage.phases[phase].layers;
    const engine::Border border = engine::border_of(network, layers);
    written.push_back(write_part(network, {layers, border.inputs, border.outputs},
                                 file_of_phase(folder, stage, phase), fresh));
  });
  fresh.keep();
  return written;
}

}  // namespace millrace::product
