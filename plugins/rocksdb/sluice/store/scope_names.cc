#include "sluice/store/scope_names.h"

#include <algorithm>
#include <charconv>

#include "sluice/text/printable.h"

namespace sluice {
namespace {

// Deeper levels than any database has are no levels.
constexpr int kMaxLevel = 99;

std::vector<std::string> Components(const std::string& path) {
  std::vector<std::string> components;
  size_t start = 0;
  while (start < path.size()) {
    const size_t end = std::min(path.find('/', start), path.size());
    if (end > start) components.push_back(path.substr(start, end - start));
    start = end + 1;
  }
  return components;
}

// As levels are named here alone: no task would obey a lease on L01.
std::optional<int> LevelOf(std::string_view text) {
  if (text.size() < 2 || text[0] != 'L') return std::nullopt;
  int level = 0;
  const auto error =
      std::from_chars(text.data() + 1, text.data() + text.size(), level).ec;
  const bool is_level = error == std::errc() && level >= 0 &&
                        level <= kMaxLevel &&
                        text.substr(1) == std::to_string(level);
  return is_level ? std::optional<int>(level) : std::nullopt;
}

}  // namespace

std::string DatabaseName(const std::string& path,
                         const std::function<bool(const std::string&)>& taken) {
  const auto components = Components(path);
  std::string name;
  for (auto each = components.rbegin(); each != components.rend(); ++each) {
    name = Printable(*each) + (name.empty() ? "" : ":" + name);
    if (!taken(name)) return name;
  }
  for (int number = 2;; ++number) {
    const std::string numbered = name + "~" + std::to_string(number);
    if (!taken(numbered)) return numbered;
  }
}

std::string FamilyScope(const std::string& database,
                        const std::string& family) {
  return database + "/" + Printable(family);
}

std::vector<std::string> ScopesOf(const std::string& database,
                                  const std::string& family, int level) {
  const std::string own = FamilyScope(database, family);
  std::vector<std::string> scopes;
  if (level >= 0) {
    const std::string suffix = "/L" + std::to_string(level);
    scopes = {own + suffix, database + "/*" + suffix, "*/*" + suffix};
  }
  scopes.insert(scopes.end(), {own, database, ""});
  return scopes;
}

ScopeParts SplitScope(std::string_view scope) {
  ScopeParts parts;
  const size_t first = scope.find('/');
  parts.database = scope.substr(0, first);
  if (first == std::string_view::npos) return parts;
  const std::string_view rest = scope.substr(first + 1);
  const size_t last = rest.rfind('/');
  if (last != std::string_view::npos) {
    parts.level = LevelOf(rest.substr(last + 1));
  }
  parts.family = parts.level ? rest.substr(0, last) : rest;
  return parts;
}

}  // namespace sluice
