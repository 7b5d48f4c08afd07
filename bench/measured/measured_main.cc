#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "bench/measured/device_fit.h"
#include "bench/measured/hold_out.h"
#include "bench/measured/measured.h"
#include "bench/measured/stranger_errors.h"
#include "bench/measured/table.h"
#include "bench/rows/alone.h"

/// gradwire-bench-measured [SEED [FILE...]]: `gradwire bench measured` alone.
/// gradwire-bench-measured --constants: scripts/device-kernels.json.
/// gradwire-bench-measured --hold-outs: errors where all of a device or of a kind is left out.
/// gradwire-bench-measured --errors: scenarios/published/prediction-errors.csv; --error-rows: its
/// rows one by one.
int main(int count, char** arguments) {
  using namespace gradwire::bench;
  if (count > 1 && std::string_view(arguments[1]) == "--constants") {
    std::cout << device_fits_json();
    return 0;
  }
  if (count > 1 && std::string_view(arguments[1]) == "--errors") {
    std::cout << stranger_errors_csv();
    return 0;
  }
  if (count > 1 && std::string_view(arguments[1]) == "--error-rows") {
    std::cout << stranger_rows_csv();
    return 0;
  }
  if (count > 1 && std::string_view(arguments[1]) == "--hold-outs") {
    std::cout << hold_out_table(shipped_measured());
    return 0;
  }
  MeasuredOptions options;
  options.list = true;
  if (count > 1) options.seed = std::strtoull(arguments[1], nullptr, 10);
  for (int i = 2; i < count; ++i) options.tables.push_back(arguments[i]);
  return run_alone("gradwire-bench-measured",
                   [&](const Say& say) { return bench_measured(options, say); });
}
