#include "engine/plugin/questions.h"

#include <fmt/format.h>

#include <array>

#include "base/error.h"

namespace millrace::engine::plugin {
namespace {

constexpr std::array words{"",          "operator", "attribute", "type",
                           "shape",     "precision", "memory",    "together"};

/// What a question is given and answers; a call that hangs keeps it.
struct Asked {
  std::shared_ptr<const Instance> instance;
  std::shared_ptr<const SubnetView> view;
  MillraceQuestion question{};
};

}  // namespace

std::string word_of_reason(std::int32_t reason) {
  const bool is_reason = reason > 0 && reason < static_cast<std::int32_t>(words.size());
  return is_reason ? words[static_cast<std::size_t>(reason)] : "";
}

Verdict Questions::ask(const PluginDevice& device, std::shared_ptr<const SubnetView> view) const {
  const auto asked = std::make_shared<Asked>(Asked{instance_, view});
  asked->question.size = sizeof(MillraceQuestion);
  asked->question.device = device.index;
  asked->question.subnet = &view->subnet();
  const std::string place = instance_->place("can_run", device.name);
  const std::int32_t failed = Worker().call(place, instance_->limit(), [asked] {
    return asked->instance->table().can_run(asked->instance->handle(), &asked->question);
  });
  const MillraceQuestion& answer = asked->question;
  if (failed != 0) throw EngineError(place + ": " + text_of(answer.text));
  if (answer.reason == millrace_runs) return Verdict::yes();
  const std::string word = word_of_reason(answer.reason);
  if (word.empty())
    throw EngineError(fmt::format("{}: gave the reason {}, which is none", place, answer.reason));
  const MillraceSubnet& subnet = view->subnet();
  if (answer.reason == millrace_not_together || answer.node >= subnet.node_count)
    return Verdict::no(fmt::format("{}: {}", word, text_of(answer.text)));
  return Verdict::no(
      fmt::format("{} of {}: {}", word, subnet.nodes[answer.node].op, text_of(answer.text)));
}

Verdict Questions::can_run(const PluginDevice& device, const Shown& shown) {
  for (const LayerId layer : shown.part.layers)
    if (Verdict written = formats::can_write(*shown.network, layer); !written) return written;
  auto view = std::make_shared<const SubnetView>(shown);  // sharers: a call that hangs
  const std::string key = device.name + " " + view->content();
  {
    const std::lock_guard lock(mutex_);
    if (const auto at = answers_.find(key); at != answers_.end()) return at->second;
  }
  const Verdict verdict = ask(device, std::move(view));
  const std::lock_guard lock(mutex_);
  return answers_.emplace(key, verdict).first->second;
}

}  // namespace millrace::engine::plugin
