#pragma once
// `bench`: a plan or a model under load.
#include <string>
#include <vector>

#include "product/loaded.h"
#include "runtime/bench/bench.h"
#include "runtime/bench/slices.h"

namespace millrace::product {

using runtime::BenchResult;
using runtime::BenchRow;
using runtime::SliceClient;

struct BenchRequest : runtime::BenchOptions {
  RunnableOptions runnable;
  std::vector<std::string> beside = {};  // other plans of the network, a row each
};

/// Measures the plan that `request.runnable` names, which `loaded` is.
BenchResult bench(Loaded& loaded, const BenchRequest& request);

/// Serves slices of the same plan, as long as the client asks for them.
void serve_slices(const Loaded& loaded, const BenchRequest& request, const SliceClient& client);

}  // namespace millrace::product
