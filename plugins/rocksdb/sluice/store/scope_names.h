// Names of scopes: DATABASE, DATABASE/FAMILY, and levels of compactions.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// A name for the database at a path: its last component, or as many from the
// end as make it unlike all that are taken, with ':' for '/'.
std::string DatabaseName(const std::string& path,
                         const std::function<bool(const std::string&)>& taken);

std::string FamilyScope(const std::string& database, const std::string& family);

// Scopes that a task obeys, the narrowest first; level -1 for a flush.
std::vector<std::string> ScopesOf(const std::string& database,
                                  const std::string& family, int level);

// What a scope names. Levels and stars are of compactions alone.
struct ScopeParts {
  std::string database;
  std::string family;
  std::optional<int> level;
};

// Splits "DATABASE/REST/Ln" and "DATABASE/REST"; a REST that ends as a level
// does is split as one.
ScopeParts SplitScope(std::string_view scope);

}  // namespace sluice
