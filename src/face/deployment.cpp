#include "millrace/deployment.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <utility>

#include "base/error.h"
#include "deployment/deployment_file.h"
#include "face/access.h"
#include "face/convert.h"
#include "face/group_feed.h"
#include "face/pictures.h"
#include "product/deployment/deploy.h"
#include "product/deployment/measure_deployment.h"
#include "product/deployment/open.h"
#include "product/deployment/run.h"

namespace millrace {
inline namespace v1 {

struct [[gnu::visibility("hidden")]] Deployment::Impl {
  std::shared_ptr<const deployment::Deployment> deployment;
  std::string name;                             // a file, or one in memory
  std::shared_ptr<const product::InMemory> memory;  // its models; null: in files
  std::vector<GroupInfo> groups = {};
};

/// Ended and torn down in the right order.
struct [[gnu::visibility("hidden")]] DeploymentRun::Impl {
  explicit Impl(std::shared_ptr<face::Call> call_of) : call(std::move(call_of)) {}
  ~Impl();
  /// The reports; once.
  void stop();
  face::GroupFeed& feed_of(const std::string& group) const;
  GroupResult result_of(std::size_t group, face::Taken taken) const;

  std::shared_ptr<face::Call> call;
  std::vector<GroupInfo> groups = {};
  /// By group, then by scenario and level.
  std::vector<std::vector<std::optional<Duration>>> bounds = {};
  std::vector<std::shared_ptr<face::GroupFeed>> feeds = {};  // shared with the run's groups
  std::function<void(GroupResult)> callback = {};
  std::unique_ptr<product::LiveRun> run = {};
  std::vector<std::unique_ptr<runtime::Pool>> deliveries = {};
  std::mutex stopping = {};
  bool stopped = false;
  std::vector<GroupReport> reports = {};
  std::exception_ptr error = {};
};

namespace {

std::vector<TensorInfo> infos_of(const network::Network& network,
                                 const std::vector<TensorId>& tensors) {
  std::vector<TensorInfo> result;
  for (const TensorId id : tensors) result.push_back(face::info_of(network[id]));
  return result;
}

std::vector<GroupInfo> groups_of(const deployment::Deployment& deployment,
                                 product::Networks& networks) {
  const system::System& system = deployment.system;
  const deployment::Setting* setting =
      deployment::setting_for(deployment, system::ScenarioId(0), system.levels - 1);
  std::vector<GroupInfo> result;
  for (std::size_t g = 0; g < system.groups.size(); ++g) {
    const system::Group& group = system.groups[g];
    GroupInfo& info = result.emplace_back();
    info.name = group.name;
    info.is_application = !group.application.empty();
    info.period = period_of(system, system::GroupId(g), system.levels - 1);
    info.deadline = deadline_of(system, system::GroupId(g), system.levels - 1);
    if (setting != nullptr && g < setting->bounds.size()) info.bound = setting->bounds[g];
    if (!group.has_network()) continue;
    const network::Network& network =
        networks.of(deployment.assignments[g].plan.origin.model);
    info.inputs = infos_of(network, network.inputs);
    info.outputs = infos_of(network, network.outputs);
  }
  return result;
}

/// The model under a name that no other one has; also under the one that plans will have for it.
formats::ModelSource held_model(const Model& model, product::InMemory& memory) {
  const auto& parts = Access::of(model);
  formats::ModelSource source = parts.source;
  for (int n = 2;; ++n) {
    const auto& known = memory.models[source.file];
    if (known == nullptr || network::hash_of(*known) == model.hash()) break;
    source.file = fmt::format("{}-{}", parts.source.file, n);
  }
  memory.models[source.file] = parts.network;
  memory.models[formats::absolute(source).file] = parts.network;
  return source;
}

system::System system_of(const System& from, product::InMemory& memory) {
  system::System system;
  system.name = from.name;
  system.file = from.name + ".yaml";
  system::Scenario& all = system.scenarios.emplace_back();
  all.name = "all";
  for (const Group& group : from.groups) {
    system::Group& to = system.groups.emplace_back();
    to.name = group.name;
    to.place = fmt::format("group '{}'", group.name);
    if (group.model.has_value() == !group.application.empty())
      throw InputError(to.place, "has a model and an application, or none; give one of them");
    if (group.model) to.model = held_model(*group.model, memory);
    to.application = group.application;
    to.rates = {group.rate_fps, group.rate_fps};
    to.deadline = group.deadline;
    to.priority = group.priority;
    if (!group.precisions.empty()) to.precisions = face::precisions_of(group.precisions);
    all.groups.emplace_back(system.groups.size() - 1);
  }
  return system;
}

Deployment made_of(const std::string& system, std::shared_ptr<product::InMemory> memory,
                   const DeployRequest& given) {
  face::Call call(given.options);
  return face::guarded(call, [&] {
    const product::Context context = call.context(memory);
    product::DeployRequest request;
    request.system = system;
    request.board = given.board;
    request.processors = given.processors;
    request.method = given.method;
    request.samples = given.samples;
    request.plugins = given.plugins;
    request.seed = given.seed;
    request.context = context;
    product::DeployResult made = product::deploy_system(request);
    if (!made.refusal.empty() || !made.deployment)
      face::refuse(made.refusal.empty() ? "no deployment was found" : made.refusal);
    const auto deployment =
        std::make_shared<const deployment::Deployment>(std::move(*made.deployment));
    const std::string name = deployment->system.name + ".deployment.json";
    memory->deployments[name] = deployment;
    product::Networks networks(context);
    auto groups = groups_of(*deployment, networks);
    return Access::make<Deployment>(deployment, name, std::move(memory), std::move(groups));
  });
}

/// InputError unless the frame fits.
void check_frame(const std::string& group, const network::Network& network,
                 const std::vector<network::Array>& arrays) {
  const auto fits = [&](std::size_t i) {
    const network::Tensor& tensor = network[network.inputs[i]];
    return arrays[i].type == tensor.type && arrays[i].shape == tensor.shape;
  };
  bool all = arrays.size() == network.inputs.size();
  for (std::size_t i = 0; all && i < arrays.size(); ++i) all = fits(i);
  if (!all)
    throw InputError(fmt::format("group '{}'", group),
                     "the frame has not the number, types and shapes of the model's inputs; "
                     "Deployment::groups() tells them");
}

}  // namespace

Deployment deploy(const System& system) { return deploy(system, DeployRequest{}); }
Deployment deploy(const std::string& system_file) { return deploy(system_file, DeployRequest{}); }

Deployment deploy(const System& given, const DeployRequest& request) {
  auto memory = std::make_shared<product::InMemory>();
  const auto system = face::guarded(
      [&] { return std::make_shared<const system::System>(system_of(given, *memory)); });
  memory->systems[system->file] = system;
  return made_of(system->file, std::move(memory), request);
}

Deployment deploy(const std::string& system_file, const DeployRequest& request) {
  return made_of(system_file, std::make_shared<product::InMemory>(), request);
}

Deployment Deployment::from_file(const std::string& path) { return from_file(path, {}); }

Deployment Deployment::from_file(const std::string& path, const Options& options) {
  face::Call call(options);
  return face::guarded(call, [&] {
    product::Networks networks(call.context());
    auto deployment = std::make_shared<const deployment::Deployment>(
        product::open_deployment(path, networks));
    auto groups = groups_of(*deployment, networks);
    return Access::make<Deployment>(std::move(deployment), path,
                                    std::shared_ptr<const product::InMemory>(), std::move(groups));
  });
}

void Deployment::write(const std::string& path) const {
  face::Call call(Options{});
  face::guarded(call, [&] {
    product::Networks networks(call.context(impl()->memory));
    deployment::write_deployment(path, *impl()->deployment, networks.by_source());
  });
}

std::vector<GroupInfo> Deployment::groups() const { return impl()->groups; }

std::vector<std::string> Deployment::scenarios() const {
  std::vector<std::string> names;
  for (const system::Scenario& scenario : impl()->deployment->system.scenarios)
    names.push_back(scenario.name);
  return names;
}

DeploymentRun Deployment::start(std::function<void(GroupResult)> take) const {
  return start(std::move(take), RunOptions{});
}

namespace {

/// A feed for each group with a network.
std::vector<std::shared_ptr<application::LiveGroup>> lives_of(
    const product::LoadedDeployment& loaded, InputPolicy policy,
    std::vector<std::shared_ptr<face::GroupFeed>>& feeds) {
  std::vector<std::shared_ptr<application::LiveGroup>> lives;
  for (const network::Network* network : loaded.networks) {
    feeds.push_back(network == nullptr ? nullptr
                                       : std::make_shared<face::GroupFeed>(network, policy));
    lives.push_back(feeds.back());
  }
  return lives;
}

std::vector<std::vector<std::optional<Duration>>> bounds_of(
    const product::LoadedDeployment& loaded) {
  const system::System& system = loaded.deployment.system;
  std::vector<std::vector<std::optional<Duration>>> bounds(system.groups.size());
  for (std::size_t s = 0; s < system.scenarios.size(); ++s)
    for (std::int64_t level = 0; level < system.levels; ++level) {
      const auto of = product::response_bounds(loaded.deployment, loaded.board,
                                           {system::ScenarioId(s), level});
      for (std::size_t g = 0; g < bounds.size(); ++g) bounds[g].push_back(of[g]);
    }
  return bounds;
}

}  // namespace

DeploymentRun Deployment::start(std::function<void(GroupResult)> take,
                                const RunOptions& options) const {
  const auto call = std::make_shared<face::Call>(options.options);
  return face::guarded(*call, [&] {
    auto running = std::make_shared<Access::Impl<DeploymentRun>>(call);
    running->groups = impl()->groups;
    running->callback = std::move(take);
    product::DeploymentRunRequest request;
    request.deployment = impl()->name;
    request.scenario = options.scenario;
    request.level = options.level;
    request.tasks.libraries = options.plugins;
    request.context = call->context(impl()->memory);
    running->run = std::make_unique<product::LiveRun>(
        std::move(request), [&](const product::LoadedDeployment& loaded) {
          return lives_of(loaded, options.input, running->feeds);
        });
    running->bounds = bounds_of(running->run->loaded());
    for (std::size_t g = 0; g < running->feeds.size(); ++g) {
      if (running->feeds[g] == nullptr) continue;
      const auto next = [state = running.get(), g]() -> std::optional<runtime::Job> {
        auto taken = state->feeds[g]->pop();
        if (!taken) return std::nullopt;
        return runtime::Job{[] {}, [state, g, kept = std::make_shared<face::Taken>(
                                                 std::move(*taken))] {
                              state->callback(state->result_of(g, std::move(*kept)));
                              return true;
                            }};
      };
      running->deliveries.push_back(
          std::make_unique<runtime::Pool>(next, runtime::PoolOptions{"results"}));
      running->feeds[g]->begin();
    }
    running->run->start();
    return Access::of_shared<DeploymentRun>(std::move(running));
  });
}

GroupResult DeploymentRun::Impl::result_of(std::size_t group, face::Taken taken) const {
  GroupResult result;
  result.group = groups[group].name;
  result.frame = taken.frame.frame;
  result.input = taken.input;
  result.repeated = taken.repeated;
  result.outputs = face::frame_of(std::move(taken.result.outputs));
  result.findings = face::findings_of(std::move(taken.result.findings));
  result.arrived = taken.arrived;
  result.due = taken.frame.due;
  result.end = taken.frame.end;
  result.response = taken.frame.end - taken.frame.due;
  result.deadline = taken.frame.deadline;
  result.bound = bounds[group].at(taken.frame.operation);
  result.missed = result.response > result.deadline;
  return result;
}

DeploymentRun::Impl::~Impl() {
  for (const auto& feed : feeds)
    if (feed) feed->close();
  run.reset();
  for (const auto& feed : feeds)
    if (feed) feed->finish();
  deliveries.clear();
}

face::GroupFeed& DeploymentRun::Impl::feed_of(const std::string& group) const {
  for (std::size_t g = 0; g < groups.size(); ++g)
    if (groups[g].name == group) {
      if (feeds[g] != nullptr) return *feeds[g];
      throw InputError(fmt::format("group '{}'", group), "has no model, and takes no frames");
    }
  throw InputError(fmt::format("group '{}'", group),
                   "is none of the deployment; Deployment::groups() tells them");
}

void DeploymentRun::Impl::stop() {
  const std::lock_guard lock(stopping);
  if (std::exchange(stopped, true)) return;
  for (const auto& feed : feeds)
    if (feed) feed->close();
  std::vector<runtime::GroupRecord> records;
  try {
    records = run->stop().record.groups;
  } catch (...) {
    error = std::current_exception();
  }
  for (const auto& feed : feeds)
    if (feed) feed->finish();
  for (const auto& delivery : deliveries) {
    try {
      delivery->wait();
    } catch (...) {
      if (!error) error = std::current_exception();
    }
  }
  for (std::size_t g = 0; g < records.size(); ++g) {
    GroupReport report = feeds[g] ? feeds[g]->counts() : GroupReport{};
    report.group = records[g].name;
    report.due = records[g].frames.due;
    report.done = records[g].frames.done;
    report.skipped = records[g].frames.skipped;
    report.missed = records[g].frames.missed;
    report.largest_response = records[g].responses.largest();
    reports.push_back(std::move(report));
  }
}

bool DeploymentRun::submit(const std::string& group, const Frame& frame) {
  return face::guarded(*impl()->call, [&] {
    face::GroupFeed& feed = impl()->feed_of(group);
    std::vector<network::Array> arrays = face::arrays_of(frame);
    check_frame(group, *feed.network(), arrays);
    return feed.put({-1, std::chrono::steady_clock::now(), std::move(arrays), {}});
  });
}

bool DeploymentRun::submit(const std::string& group, const Image& image) {
  return face::guarded(*impl()->call, [&] {
    face::GroupFeed& feed = impl()->feed_of(group);
    application::Picture picture = face::picture_of(image, 0);
    return feed.put({-1, std::chrono::steady_clock::now(), {}, std::move(picture)});
  });
}

void DeploymentRun::switch_to(const std::string& scenario, std::optional<std::int64_t> level) {
  face::guarded(*impl()->call, [&] { impl()->run->switch_to(scenario, level); });
}

std::vector<GroupReport> DeploymentRun::stop() {
  return face::guarded(*impl()->call, [&] {
    impl()->stop();
    if (impl()->error) std::rethrow_exception(impl()->error);
    return impl()->reports;
  });
}

}  // namespace v1
}  // namespace millrace
