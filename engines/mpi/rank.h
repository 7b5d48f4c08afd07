#pragma once
#include <string>

#include "engines/mpi/communicator.h"

namespace gradwire::engines {

/// The first rank: hands out the runs of `folder`/work, itself among those who take some, and
/// writes what ranks report to standard output. "stop" on standard input, or its end, ends the
/// runs that are under way after their steps.
void lead(Communicator& communicator, const std::string& folder);

/// Any other rank.
void follow(Communicator& communicator, const std::string& folder);

}  // namespace gradwire::engines
