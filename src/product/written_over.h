#pragma once
// Results in the place of what they are made from would destroy it.
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "application/application.h"
#include "application/frames/frames.h"
#include "formats/model_source.h"
#include "product/application/load.h"
#include "product/application/samples.h"
#include "product/loaded.h"
#include "product/setup.h"
#include "system/system.h"

namespace millrace::product {

/// Everything that a command reads. Files are known by what they are, not by their names: links and
/// other spellings lead to the same one.
class FilesRead {
 public:
  /// `what` it is, in a word: "model". A name that is no file counts for nothing.
  void add(const std::string& what, const std::filesystem::path& path);
  void add(const formats::ModelSource& model);  // with weights and external data
  void add(const Context& context);             // the engines' libraries
  void add(const Setup& setup);                 // its model and the engines' libraries
  void add(const RunnableOptions& runnable);    // the same; a plan with its model, too
  void add(const application::FrameOptions& frames);
  void add(const application::Application& application);
  void add(const ApplicationOptions& options);       // without the file itself
  void add(const ApplicationFrameOptions& options);  // with its inputs
  void add(const system::System& system);  // with its networks, applications, graphs and code
  /// With its model, or `other_model` in its place.
  void add_plan(const std::string& file, const std::string& other_model = {});
  /// With its system, and the deployments that the script, which may be empty, adds to it.
  void add_deployment(const std::string& file, const std::string& script);
  void add_plugins(const std::vector<std::string>& plugins);
  /// A file, or a folder with all that lies in it.
  void add_input(const std::filesystem::path& path);

  /// All of them that are there, as they are opened; folders too. Files may come twice.
  const std::vector<std::filesystem::path>& paths();

  /// InputError if `path`, which may be empty, is one of them, or was asked for before: two results
  /// cannot have one place. Before anything is written.
  void refuse(const std::filesystem::path& path);
  /// The same before each; then also if one of them cannot be written.
  void refuse_unwritable(const std::vector<std::string>& paths);
  /// Also if copies of two pictures would have one name.
  void refuse(const application::Output& output);

 private:
  /// Which file it is; if it is not there yet, its folder's numbers, and its name.
  struct Identity {
    std::uint64_t device = 0, file = 0;
    std::string name;
    bool operator==(const Identity&) const = default;
  };
  static bool identify(const std::filesystem::path& path, Identity& identity);
  /// `name`: what the copy of a source's frame is called in the folder.
  using NameOfCopy = std::string(const std::string& source, std::int64_t frame);
  void refuse_pictures(const std::filesystem::path& folder, NameOfCopy* name) const;
  void refuse_equal_names(NameOfCopy* name) const;
  void check(const std::filesystem::path& path, const Identity& identity) const;
  void add_addition(const std::string& file);
  void look_into_models();

  std::vector<std::pair<Identity, std::string>> read_;
  std::vector<std::filesystem::path> paths_;
  std::vector<formats::ModelSource> models_;  // whose other files are not known yet
  std::vector<Identity> written_;
  std::vector<std::filesystem::path> inputs_;                 // the files
  std::vector<std::vector<std::filesystem::path>> pictures_;  // by input, as they become frames
};

/// Before the work: --trace's file can be written, and is none that `runnable` is read from.
void check_trace(const TraceOptions& options, const RunnableOptions& runnable);

}  // namespace millrace::product
