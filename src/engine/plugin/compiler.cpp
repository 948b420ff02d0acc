#include "engine/plugin/compiler.h"

#include <fmt/format.h>

#include <system_error>

#include "base/error.h"
#include "base/file.h"

namespace millrace::engine::plugin {
/// What compile() is given and answers; a call that hangs keeps it.
struct Compiler::Compiling {
  ProgramSource source;
  std::function<bool(double)> told;
  std::mutex* mutex = nullptr;
  MillraceCompilation compilation{};
  bool is_ended = false;  // by who is told

  static std::int32_t progress(void* user, double share) {
    Compiling& self = *static_cast<Compiling*>(user);
    const std::lock_guard lock(*self.mutex);
    self.is_ended = self.is_ended || (self.told && !self.told(share));
    return self.is_ended ? 1 : 0;
  }
  ~Compiling() {
    if (compilation.blob != nullptr) source.instance->table().free_blob(compilation.blob);
  }
};

Compiler::Compiler(std::shared_ptr<const Instance> instance, const EngineOptions& options)
    : instance_(std::move(instance)), options_(options), cache_(options) {}

std::optional<std::string> Compiler::find(const BlobIdentity& identity) const {
  if (options_.blobs.empty()) return std::nullopt;
  const std::filesystem::path file = options_.blobs / blob_name(identity);
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return std::nullopt;
  std::string content = read_file(file);
  blob_in(content, identity, file.string());
  return content;
}

std::string Compiler::compile(const ProgramSource& source, const BlobIdentity& identity) {
  const std::string place = instance_->place("compile", source.device->name);
  const auto given = std::make_shared<Compiling>();  // sharers: a call that hangs
  given->source = source;
  given->told = options_.compiling;
  given->mutex = &mutex_;
  MillraceCompilation& compilation = given->compilation;
  compilation.size = sizeof(MillraceCompilation);
  compilation.device = source.device->index;
  compilation.subnet = &source.view->subnet();
  compilation.progress = &Compiling::progress;
  compilation.user = given.get();
  const std::int32_t failed =
      Worker().call(place, instance_->limit_of_compilers(), [given] {
        const Instance& instance = *given->source.instance;
        return instance.table().compile(instance.handle(), &given->compilation);
      });
  if (given->is_ended) throw EngineError(place + ": interrupted");
  if (failed != 0) throw EngineError(place + ": " + text_of(compilation.text));
  if (compilation.blob == nullptr || compilation.blob_bytes == 0)
    throw EngineError(place + ": it gave no blob");
  return blob_file(identity, {static_cast<const std::byte*>(compilation.blob),
                              compilation.blob_bytes});
}

std::string Compiler::blob_of(const ProgramSource& source) {
  const Library& library = instance_->library();
  const BlobIdentity identity{
      library.name, instance_->sdk(), source.device->model,
      Hasher().add(source.view->content()).add(source.device->name).add(instance_->options_text())
          .digits()};
  std::optional<std::string> file = find(identity);
  if (!file) file = cache_.find(identity);
  if (!file) {
    file = compile(source, identity);
    cache_.keep(identity, *file);
  }
  const auto bytes = blob_in(*file, identity, blob_name(identity));
  const std::lock_guard lock(mutex_);
  if (options_.take_blob) options_.take_blob(blob_name(identity), *file);
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace millrace::engine::plugin
