#include "product/exporting/deployment_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "base/files/new_folder.h"
#include "board/board_file.h"
#include "formats/files/named_file.h"
#include "product/deployment/open.h"

namespace millrace::product {
namespace {

namespace fs = std::filesystem;

/// Source files of tasks, copied with what they include from their own folder.
class SourceCopies {
 public:
  explicit SourceCopies(const fs::path& folder) : folder_(folder) {}

  /// Its name in the folder.
  std::string add(const std::string& file, const std::string& place) {
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored))
      throw InputError(place, fmt::format("the source file {} is not there", file));
    const fs::path source = fs::weakly_canonical(file);
    if (const auto found = names_.find(source); found != names_.end()) return found->second;
    const fs::path name = source.filename();
    if (std::ranges::any_of(names_, [&](const auto& each) { return each.second == name; }) ||
        name == "main.cpp")
      throw InputError(
          place, fmt::format("another source file is called {} too; rename one", name.string()));
    names_[source] = name.string();
    copy(source.parent_path(), name);
    return name.string();
  }
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& [source, name] : names_) result.push_back(name);
    return result;
  }

 private:
  void copy(const fs::path& from, const fs::path& name) {
    if (fs::exists(folder_ / name)) return;
    copy_content(from / name, folder_ / name);
    for (const std::string& included : included_by(from / name)) {
      const fs::path header = (name.parent_path() / included).lexically_normal();
      if (formats::named_file(from, header).finding == formats::NamedFile::Finding::inside)
        copy(from, header);
    }
  }

  /// What stands between the quotes of `#include "..."`.
  static std::vector<std::string> included_by(const fs::path& source) {
    std::vector<std::string> result;
    std::istringstream lines(read_file(source));
    for (std::string line; std::getline(lines, line);) {
      const auto first = line.find('"'), last = line.rfind('"');
      const auto begin = line.find_first_not_of(" \t");
      if (begin == std::string::npos || line.compare(begin, 8, "#include") != 0) continue;
      if (first < last && last != std::string::npos)
        result.push_back(line.substr(first + 1, last - first - 1));
    }
    return result;
  }

  fs::path folder_;
  std::map<fs::path, std::string> names_;  // by source
};

/// Each model once; several of them in folders of their own, since their files may have one name.
class ModelCopies {
 public:
  explicit ModelCopies(const fs::path& folder) : folder_(folder) {}

  formats::ModelSource add(const formats::ModelSource& model) {
    for (const auto& [source, copy] : copies_)
      if (source == model) return copy;
    const fs::path place = folder_ / "models" / std::to_string(copies_.size());
    formats::ModelSource copy = model;
    copy_model(model, place, copy);
    copies_.emplace_back(model, copy);
    return copy;
  }
  /// The network of a copy.
  const formats::ModelSource& source_of(const formats::ModelSource& copy) const {
    for (const auto& [source, each] : copies_)
      if (each == copy) return source;
    return copy;
  }

 private:
  fs::path folder_;
  std::vector<std::pair<formats::ModelSource, formats::ModelSource>> copies_;
};

void take_sources(deployment::Deployment& deployment, const fs::path& folder,
                  SourceCopies& sources) {
  for (system::Group& group : deployment.system.groups)
    for (system::GraphTask& task : group.graph.tasks) {
      system::TaskCode& code = task.code;
      if (code.function.empty()) continue;
      if (code.source.empty())
        throw InputError(task.place, fmt::format("the function '{}' of task '{}' has no 'source'; "
                                                 "add it beside the 'plugin'",
                                                 code.function, task.name));
      code.source = folder / sources.add(code.source, task.place);
      code.plugin.clear();
    }
}

void take_models(deployment::Deployment& deployment, ModelCopies& models) {
  for (std::size_t g = 0; g < deployment.system.groups.size(); ++g) {
    system::Group& group = deployment.system.groups[g];
    for (system::GraphTask& task : group.graph.tasks)
      if (task.network) task.network->model = models.add(task.network->model);
    if (!group.has_network()) continue;
    formats::ModelSource& of_plan = deployment.assignments[g].plan.origin.model;
    of_plan = models.add(of_plan);
    if (group.application.empty()) group.model = of_plan;
  }
}

/// For a board that is described by a file, so that no processor of this computer is meant.
void simulate_all(deployment::Deployment& deployment, const fs::path& folder,
                  const Context& context) {
  if (deployment.system.board.empty()) {
    const fs::path file = folder / "board.yaml";
    board::write_board(file, board_of(deployment, context));
    deployment.system.board = file;
    deployment.board_hash = board::hash_of(board::read_board(file));
  }
  for (deployment::Assignment& assignment : deployment.assignments)
    assignment.plan.plan = all_simulated(assignment.plan.plan);
}

}  // namespace

void add_deployment(const ProgramRequest& request, const fs::path& folder,
                    WrittenProgram& program) {
  Networks networks(request.context);
  deployment::Deployment deployment = open_deployment(request.file, networks);
  if (!deployment.system.edges.empty())
    throw InputError(request.file, "has edges between groups, which programs in C++ do not have; "
                                   "run it with `millrace run` or the library");
  SourceCopies sources(folder);
  ModelCopies models(folder);
  take_sources(deployment, folder, sources);
  take_models(deployment, models);
  for (const deployment::Assignment& assignment : deployment.assignments)
    tell_from(assignment.plan.origin.model, program);
  if (request.timed) simulate_all(deployment, folder, request.context);
  const fs::path name = codegen::program_name(fs::path(request.file).filename());
  write_texts(codegen::program_of({program.name, name.string(), deployment, sources.names(),
                                   request.libraries, request.include_folders}),
              folder, program);
  check_is_free(folder, name);
  deployment::write_deployment(folder / name, deployment,
                               [&](const formats::ModelSource& model) -> const network::Network& {
                                 return networks.of(models.source_of(model));
                               });
}

}  // namespace millrace::product
