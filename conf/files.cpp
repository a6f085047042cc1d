#include "conf/files.hpp"

#include <glob.h>

#include <algorithm>
#include <filesystem>

#include "conf/secrets.hpp"

namespace brink::conf {
namespace {

constexpr std::string_view wildcards = "*?[";

// The paths that an include's pattern names, sorted. A pattern without wildcards names itself, so that a missing file
// is reported where it is read.
std::vector<std::string> matching_files(const std::string& includer, const std::string& pattern) {
  namespace fs = std::filesystem;
  const fs::path directory = fs::path(includer).parent_path();
  if (pattern.find_first_of(wildcards) == std::string::npos) return {(directory / pattern).string()};
  std::string escaped;
  if (!fs::path(pattern).is_absolute()) {
    for (char c : (directory / "").string()) {
      if (c == '\\' || wildcards.find(c) != std::string_view::npos) escaped += '\\';
      escaped += c;
    }
  }
  glob_t found{};
  std::vector<std::string> paths;
  if (glob((escaped + pattern).c_str(), GLOB_NOSORT, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

// A file that cannot be read is a mistake of the include that names it, when there is one.
void FileLoader::fail(const std::string& file, const Include* from, std::string message) {
  complete_ = false;
  problems_.add(from != nullptr ? from->where : Location{file, 0, 0}, std::move(message));
}

bool FileLoader::may_load(const std::string& identity, const std::string& file, const std::vector<std::string>& parents,
                          const Include* from) {
  if (std::find(parents.begin(), parents.end(), identity) != parents.end()) {
    fail(file, from, "include cycle: " + ticked(file) + " is being read already");
    return false;
  }
  if (parents.size() > max_depth) {
    fail(file, from, "includes are nested more than " + std::to_string(max_depth) + " deep");
    return false;
  }
  if (loaded_.size() >= max_files) {
    if (complete_) fail(file, from, "more than " + std::to_string(max_files) + " files");
    return false;
  }
  const auto [earlier, first] = loaded_.emplace(identity, from != nullptr ? from->where : Location{file, 0, 0});
  if (first) return true;
  const Location& at = earlier->second;
  fail(file, from,
       ticked(file) + " is read twice; the first time " +
           (at.line == 0 ? "on the command line" : "by " + at.file + ":" + std::to_string(at.line)));
  return false;
}

void FileLoader::load(const std::string& file, std::vector<std::string> parents, const Include* from) {
  problems_.add_file(file);
  std::error_code error;
  std::string identity = std::filesystem::weakly_canonical(file, error).string();
  if (error) identity = file;
  if (!may_load(identity, file, parents, from)) return;
  std::string text;
  if (std::string wrong = read_file(file, max_file, text); !wrong.empty()) return fail(file, from, std::move(wrong));
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.size() > 1) {
      const YAML::Mark mark = documents[1].Mark();
      problems_.add({file, mark.line + 1, mark.column + 1}, "a file holds one YAML document; use a file for each");
    }
    document_.includes.clear();
    reader_.read_root(documents.empty() ? YAML::Node() : documents.front(), file, from != nullptr, document_);
  } catch (const YAML::Exception& e) {
    complete_ = false;
    problems_.add({file, e.mark.line + 1, e.mark.column + 1}, "YAML syntax: " + e.msg);
    return;
  }
  parents.push_back(std::move(identity));
  load_includes(file, parents);
}

void FileLoader::load_includes(const std::string& file, const std::vector<std::string>& parents) {
  const std::vector<Include> includes = std::exchange(document_.includes, {});
  for (const Include& include : includes) {
    for (const std::string& path : matching_files(file, include.pattern)) load(path, parents, &include);
  }
}

}  // namespace brink::conf
