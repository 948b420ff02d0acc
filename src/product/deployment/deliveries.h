#pragma once
// What goes into the groups of a running deployment, and where their results go.
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "application/live/delivery.h"
#include "application/live/observer.h"
#include "product/context.h"
#include "product/deployment/loaded_deployment.h"
#include "product/written_over.h"

namespace millrace::product {

struct DeliveriesRequest {
  /// Each group with an application writes into FOLDER/GROUP what its application names relative to
  /// a folder; one that names nothing writes lines, FOLDER/GROUP.jsonl. Empty: as it names them.
  std::string folder = {};
  bool writes_named = true;  // without a folder
  /// By group of the deployment. Nothing: random inputs, and nobody takes results.
  struct Ends {
    application::FeedPolicy policy = application::FeedPolicy::own;
    std::function<void(application::Taken)> take = {};
  };
  std::function<std::optional<Ends>(const LoadedDeployment&, std::size_t)> ends = {};
  FilesRead read = {};  // is not written over
  Context context = {};
  application::Observer* observer = nullptr;  // borrowed; null: nobody
};

/// Deliveries of one run. Stays where it is; one thread at a time.
class Deliveries {
 public:
  explicit Deliveries(DeliveriesRequest request) : request_(std::move(request)) {}

  /// For the groups of `loaded`, before it runs; they are the last ones of `all`, whose bounds hold
  /// from now on. InputError if a result would be written over a file that is read, or another one.
  void add(LoadedDeployment& loaded, const deployment::Deployment& all);
  /// The groups behind so many do not run.
  void keep_first(std::size_t groups);
  /// Begins those that have not begun.
  void begin();
  /// No more frames come in.
  void close();
  /// Times of the first deployment's chains, by operation; after the last frame.
  std::vector<std::map<std::size_t, application::ChainTimes>> chain_times() const;
  /// After the last frame. Rethrows the first error, when all that can be kept is.
  std::vector<application::DeliveryTotals> finish();
  /// By group of the last `all`; null: it has none.
  const std::vector<application::Delivery*>& by_group() const { return by_group_; }
  /// For who observes it.
  application::DeploymentAtWork at_work(const deployment::Deployment& all,
                                        const runtime::Controller& controller) const;

 private:
  application::Output output_of(const application::Application& application,
                                const std::string& group) const;
  void add_group(LoadedDeployment& loaded, std::size_t group);
  void set_bounds(const deployment::Deployment& all, const board::Board& board);

  DeliveriesRequest request_;
  std::vector<std::unique_ptr<application::Delivery>> deliveries_;
  std::vector<application::Delivery*> by_group_;
  std::vector<std::vector<std::optional<Time>>> bounds_;  // by group, then by operation
  std::vector<application::GroupEdges*> edges_;           // by deployment that has some
  std::size_t begun_ = 0;
};

}  // namespace millrace::product
