#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "arrays.h"
#include "millrace/millrace.h"
#include "module.h"
#include "pictures.h"
#include "settings.h"
#include "work.h"

namespace millrace::python {
namespace {

using namespace nb::literals;

Group group_of(nb::dict given) {
  Group group;
  const Settings settings(std::move(given));
  settings.take("name", group.name);
  settings.take("model", group.model);
  settings.take("application", group.application);
  settings.take("rate", group.rate_fps);
  settings.take("deadline", group.deadline);
  settings.take("priority", group.priority);
  settings.take("jitter", group.jitter);
  settings.take("offset", group.offset);
  settings.take("min_distance", group.min_distance);
  settings.take("sporadic", group.sporadic);
  settings.take("burst", group.burst);
  settings.take("aperiodic", group.aperiodic);
  settings.take("budget", group.budget);
  settings.take("budget_every", group.budget_every);
  settings.take("burst_distance", group.burst_distance);
  return group;
}

DeployRequest request_of(nb::dict given) {
  DeployRequest request;
  const Settings settings(std::move(given));
  settings.take("processors", request.processors);
  settings.take("board", request.board);
  settings.take("method", request.method);
  settings.take("samples", request.samples);
  settings.take("plugins", request.plugins);
  settings.take("seed", request.seed);
  settings.take("cache", request.options.cache);
  return request;
}

Deployment deployed_file(const std::string& file, nb::dict given, nb::handle listener) {
  DeployRequest request = request_of(given);
  return worked(listener, request, [&] { return deploy(file, request); });
}

GroupEdge edge_of(nb::dict given) {
  GroupEdge edge;
  const Settings settings(std::move(given));
  settings.take("from", edge.from);
  settings.take("to", edge.to);
  settings.take("output", edge.output);
  settings.take("input", edge.input);
  settings.take("queue", edge.queue);
  return edge;
}

Chain chain_of(nb::dict given) {
  Chain chain;
  const Settings settings(std::move(given));
  settings.take("name", chain.name);
  settings.take("groups", chain.groups);
  settings.take("reaction", chain.reaction);
  settings.take("age", chain.age);
  return chain;
}

Deployment deployed(nb::dict parts, nb::dict given, nb::handle listener) {
  DeployRequest request = request_of(given);
  System system;
  system.name = nb::cast<std::string>(parts["name"]);
  for (const nb::handle group : parts["groups"])
    system.groups.push_back(group_of(nb::cast<nb::dict>(group)));
  for (const nb::handle edge : parts["edges"])
    system.edges.push_back(edge_of(nb::cast<nb::dict>(edge)));
  for (const nb::handle chain : parts["chains"])
    system.chains.push_back(chain_of(nb::cast<nb::dict>(chain)));
  return worked(listener, request, [&] { return deploy(system, request); });
}

nb::list groups_of(const Deployment& deployment) {
  return rows_of(deployment.groups(), [](const GroupInfo& group) {
    return nb::make_tuple(group.name, seconds_of(group.period), seconds_of(group.deadline),
                          seconds_or_none(group.bound), group.is_application);
  });
}

nb::list chains_of(const Deployment& deployment) {
  return rows_of(deployment.chains(), [](const ChainInfo& chain) {
    return nb::make_tuple(chain.name, seconds_or_none(chain.reaction), seconds_or_none(chain.age));
  });
}

/// As time.monotonic() has it.
double clock_of(std::chrono::steady_clock::time_point moment) {
  return std::chrono::duration<double>(moment.time_since_epoch()).count();
}

nb::tuple tuple_of(GroupResult result, const std::vector<nb::object>& names) {
  return nb::make_tuple(result.group, result.frame, result.input, result.repeated,
                        names.empty() ? nb::dict() : dict_of(std::move(result.outputs), names),
                        dict_of(result.findings), seconds_of(result.response),
                        seconds_of(result.deadline), seconds_or_none(result.bound), result.missed,
                        result.source, clock_of(result.arrived), clock_of(result.due),
                        clock_of(result.released), clock_of(result.end));
}

/// Frames of the groups, in real time. What a callback raises comes out of stop().
class Live {
 public:
  Live(const Deployment& deployment, nb::callable take, nb::dict given)
      : groups_(deployment.groups()), take_(std::move(take)) {
    for (const GroupInfo& group : groups_) {
      names_.emplace_back();
      for (const TensorInfo& output : group.outputs)
        if (!group.is_application) names_.back().push_back(nb::str(output.name.c_str()));
    }
    RunOptions options;
    bool every = false;
    const Settings settings(std::move(given));
    settings.take("scenario", options.scenario);
    settings.take("every", every);
    settings.take("own_inputs", options.own_inputs);
    settings.take("output", options.output);
    options.input = every ? InputPolicy::every : InputPolicy::newest;
    options.options.listener = std::make_shared<AsksForSignals>();
    const nb::gil_scoped_release released;
    run_.emplace(
        deployment.start([this](GroupResult result) { give(std::move(result)); }, options));
  }
  ~Live() {
    end_or_leave(run_, process_, [](DeploymentRun&) {});
  }
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;

  bool feed(const std::string& group, nb::handle given, const std::string& colours) {
    DeploymentRun run = alive();
    const GroupInfo& info = group_named(group);
    if (!info.is_application) {
      const Frame frame = frame_of(given, info.inputs);
      const nb::gil_scoped_release released;
      return run.submit(group, frame);
    }
    const Image image =
        nb::isinstance<Image>(given) ? nb::cast<Image>(given) : image_of(given, colours);
    const nb::gil_scoped_release released;
    return run.submit(group, image);
  }
  void enter(const std::string& scenario, std::optional<std::int64_t> level) {
    DeploymentRun run = alive();
    const nb::gil_scoped_release released;
    run.switch_to(scenario, level);
  }
  nb::list stop() {
    std::vector<GroupReport> reports;
    {
      DeploymentRun run = alive();
      const nb::gil_scoped_release released;
      reports = run.stop();
    }
    if (raised_) std::rethrow_exception(std::exchange(raised_, nullptr));
    return rows_of(reports, [](const GroupReport& each) {
      return nb::make_tuple(each.group, each.due, each.done, each.skipped, each.missed,
                            each.submitted, each.overwritten, each.repeated, each.without_input,
                            each.undelivered, seconds_of(each.largest_response), each.kept,
                            each.held, seconds_of(each.longest_held), each.overruns);
    });
  }
  nb::list stop_chains() {
    std::vector<ChainReport> reports;
    {
      DeploymentRun run = alive();
      const nb::gil_scoped_release released;
      reports = run.stop_chains();
    }
    return rows_of(reports, [](const ChainReport& each) {
      return nb::make_tuple(each.name, each.scenario, each.level, each.frames,
                            seconds_of(each.largest_age), seconds_or_none(each.age_bound),
                            seconds_of(each.largest_reaction),
                            seconds_or_none(each.reaction_bound));
    });
  }
  bool has_failed() const { return raised_ != nullptr; }

 private:
  DeploymentRun alive() const {
    process_.check("run", "start one in the child");
    return *run_;
  }
  const GroupInfo& group_named(const std::string& name) const {
    for (const GroupInfo& group : groups_)
      if (group.name == name) return group;
    throw Error(ErrorKind::input,
                "group '" + name + "': is none of the deployment; groups tells them",
                {"group '" + name + "'", "is none of the deployment", "groups tells them"});
  }
  /// On a thread of the group.
  void give(GroupResult result) {
    const nb::gil_scoped_acquire gil;
    if (raised_) return;
    try {
      const auto group = static_cast<std::size_t>(&group_named(result.group) - groups_.data());
      take_(tuple_of(std::move(result), names_[group]));
    } catch (...) {
      raised_ = std::current_exception();
    }
  }

  std::vector<GroupInfo> groups_;
  std::vector<std::vector<nb::object>> names_;  // of outputs, by group
  nb::callable take_;
  std::exception_ptr raised_;  // with the GIL
  std::optional<DeploymentRun> run_;
  OwnProcess process_;
};

}  // namespace

void add_deployments(nb::module_& module) {
  nb::class_<Deployment>(module, "Deployment")
      .def_static(
          "from_file", [](const std::string& path) { return Deployment::from_file(path); },
          "path"_a)
      .def("save", &Deployment::write, "path"_a)
      .def_prop_ro("groups", &groups_of)
      .def_prop_ro("chains", &chains_of)
      .def_prop_ro("scenarios", &Deployment::scenarios);
  nb::class_<Live>(module, "Live")
      .def(nb::init<const Deployment&, nb::callable, nb::dict>(), "deployment"_a, "take"_a,
           "settings"_a)
      .def("feed", &Live::feed, "group"_a, "frame"_a, "colours"_a)
      .def("enter", &Live::enter, "scenario"_a, "level"_a.none())
      .def("stop", &Live::stop)
      .def("stop_chains", &Live::stop_chains)
      .def_prop_ro("failed", &Live::has_failed);
  module.def("deploy_file", &deployed_file, "file"_a, "settings"_a, "listener"_a.none());
  module.def("deploy", &deployed, "system"_a, "settings"_a, "listener"_a.none());
}

}  // namespace millrace::python
