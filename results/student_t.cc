#include "results/student_t.h"

#include <boost/math/distributions/students_t.hpp>

#include "base/error.h"

namespace gradwire::results {

double student_quantile(double probability, int freedom) {
  GRADWIRE_ASSERT(probability > 0 && probability < 1 && freedom >= 1);
  return boost::math::quantile(boost::math::students_t(freedom), probability);
}

}  // namespace gradwire::results
