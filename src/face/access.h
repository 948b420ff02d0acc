#pragma once
// What stands behind the handles of include/millrace.
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "face/call.h"
#include "formats/model_source.h"
#include "millrace/model.h"
#include "millrace/plan.h"
#include "millrace/profile.h"
#include "millrace/session.h"
#include "millrace/tensor.h"
#include "network/calibration_file.h"
#include "network/network.h"
#include "plan/plan_file.h"
#include "product/loaded.h"
#include "profile/profile.h"
#include "runtime/pool.h"
#include "runtime/session.h"

namespace millrace {
inline namespace v1 {

/// The only friend of the handles.
struct Access {
  template <class Handle>
  static const auto& of(const Handle& handle) {
    return *handle.impl();
  }
  /// A handle on what `Handle::Impl` is made of here.
  template <class Handle, class... Parts>
  static Handle make(Parts&&... parts) {
    using Impl = typename Handle::Impl;
    return Handle(std::make_shared<Impl>(Impl{std::forward<Parts>(parts)...}));
  }
  template <class Handle, class Impl>
  static Handle of_shared(std::shared_ptr<Impl> impl) {
    return Handle(std::move(impl));
  }
  template <class Handle>
  struct ImplOf {
    using Type = typename Handle::Impl;
  };
  template <class Handle>
  using Impl = typename ImplOf<Handle>::Type;
};

struct [[gnu::visibility("hidden")]] Tensor::Impl {
  network::Array array;
};

struct [[gnu::visibility("hidden")]] Model::Impl {
  formats::ModelSource source;  // its file is the name in memory, too
  std::shared_ptr<const network::Network> network;
};

struct [[gnu::visibility("hidden")]] Profile::Impl {
  std::shared_ptr<const profile::Profile> profile;
};

struct [[gnu::visibility("hidden")]] Calibration::Impl {
  network::CalibrationTable table;
};

struct [[gnu::visibility("hidden")]] Plan::Impl {
  Model model;
  std::shared_ptr<const plan::PlanFile> file;  // its origin names the model
  std::string name;                            // in messages; ends in ".json"
  std::vector<Candidate> candidates = {};
  Options options = {};  // with which engines it was made
  std::string file_name = {};  // that it was read from; empty: it was made here
};

/// Ended and torn down in the right order.
struct [[gnu::visibility("hidden")]] Session::Impl {
  explicit Impl(std::shared_ptr<face::Call> call_of) : call(std::move(call_of)) {}
  ~Impl();

  std::shared_ptr<face::Call> call;
  std::unique_ptr<product::Loaded> loaded = {};
  std::optional<runtime::Session> session = {};
  std::mutex run = {};                        // one frame of run() at a time
  std::unique_ptr<runtime::Pool> taking = {};  // of a session with a callback
};

}  // namespace v1
}  // namespace millrace
