#include "results/statistics/student_t.h"

#include <boost/math/distributions/students_t.hpp>

#include "base/error.h"

namespace gradwire::results {
namespace {

/// In double alone: the same on machines whose long double is no longer than that.
using Policy = boost::math::policies::policy<boost::math::policies::promote_double<false>>;

}  // namespace

double student_quantile(double probability, int freedom) {
  GRADWIRE_ASSERT(probability > 0 && probability < 1 && freedom >= 1);
  return boost::math::quantile(boost::math::students_t_distribution<double, Policy>(freedom),
                               probability);
}

}  // namespace gradwire::results
