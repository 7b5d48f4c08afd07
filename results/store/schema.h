#pragma once
#include <span>
#include <string>

#include "results/store/sqlite.h"

/// The database's schema and how an older one becomes the present one. The tables are documented in
/// docs/database.md.
namespace gradwire::results {

/// "GrdW": marks a SQLite file as a Gradwire database (PRAGMA application_id).
inline constexpr std::int64_t kApplicationId = 0x47726457;

/// Migration i takes a database from version i to version i + 1; version 0 is an empty file. A
/// migration that has shipped is never changed: the next version appends one.
struct Migration {
  const char* sql;
};

extern const char* const kViews;  ///< their definitions (views.cc)

std::span<const Migration> migrations();
/// = migrations().size().
int schema_version();

/// Throws StoreError where the file is another program's database or a newer Gradwire's. Gives the
/// file's version (0 = empty).
int checked_version(const Connection& connection, int newest);

/// Brings the database to version list.size() in one transaction: all migrations or none.
void migrate(const Connection& connection, std::span<const Migration> list);

}  // namespace gradwire::results
