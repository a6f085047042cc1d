#include "conf/secrets.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "conf/problems.hpp"

namespace brink::conf {
namespace {

constexpr std::size_t max_secret = std::size_t{64} * 1024;
constexpr std::string_view forms = "write `${env:NAME}` or `${file:/path}`, or `$${` for a plain `${`";

bool is_env_name(std::string_view name) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
  if (name.empty() || letters.find(name.front()) == std::string_view::npos) return false;
  return name.find_first_not_of(std::string(letters) + "0123456789") == std::string_view::npos;
}

std::string expand_env(std::string_view name, std::string& out) {
  if (!is_env_name(name)) return ticked(name) + " is no name of an environment variable";
  const char* value = std::getenv(std::string(name).c_str());
  if (value == nullptr) return "the environment variable " + ticked(name) + " is not set";
  out += value;
  return {};
}

std::string expand_file(std::string_view name, const std::filesystem::path& directory, std::string& out) {
  if (name.empty()) return "`${file:}` names no file";
  std::string text;
  if (std::string problem = read_file(directory / name, max_secret, text); !problem.empty()) return problem;
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  out += text;
  return {};
}

}  // namespace

std::string read_file(const std::filesystem::path& path, std::size_t max_bytes, std::string& out) {
  const std::string name = ticked(path.string());
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) return "cannot read " + name + ": no such file";
  if (error) return "cannot read " + name + ": " + error.message();
  // A pipe or a device could block a reload for ever.
  if (!std::filesystem::is_regular_file(status)) return "cannot read " + name + ": it is not a regular file";
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) return "cannot read " + name + ": " + (errno != 0 ? std::strerror(errno) : "it does not open");
  out.resize(max_bytes + 1);
  in.read(out.data(), static_cast<std::streamsize>(out.size()));
  if (in.bad()) return "cannot read " + name + ": the read failed";
  out.resize(static_cast<std::size_t>(in.gcount()));
  if (out.size() > max_bytes) return name + " is larger than " + std::to_string(max_bytes / 1024) + "KiB";
  return {};
}

std::string hide_password(std::string_view raw) {
  // Placeholders are blanked, since a path in one may hold any of the delimiters.
  std::string text(raw);
  for (std::size_t at = text.find("${"); at != std::string::npos; at = text.find("${", at + 1)) {
    const std::size_t end = text.find('}', at);
    if (end == std::string::npos || (at > 0 && text[at - 1] == '$')) continue;
    std::fill(text.begin() + static_cast<std::ptrdiff_t>(at), text.begin() + static_cast<std::ptrdiff_t>(end) + 1,
              '\0');
  }
  const std::size_t scheme = text.find("://"), host = text.rfind('@');
  if (scheme == std::string::npos || host == std::string::npos || text.substr(scheme).starts_with(":///")) {
    return std::string(raw);
  }
  const std::size_t colon = text.find(':', scheme + 3);
  if (colon >= host || text.find_first_not_of('\0', colon + 1) == host) return std::string(raw);
  return std::string(raw.substr(0, colon + 1)) + "***" + std::string(raw.substr(host));
}

bool has_placeholder(std::string_view raw) { return raw.find("${") != std::string_view::npos; }

std::string expand(std::string_view raw, const std::filesystem::path& directory, std::string& out) {
  out.clear();
  while (!raw.empty()) {
    const std::size_t start = raw.find("${");
    out += raw.substr(0, start);
    if (start == std::string_view::npos) break;
    if (start > 0 && raw[start - 1] == '$') {
      out += '{';  // the first `$` of `$${` is out already and is the one to keep
      raw.remove_prefix(start + 2);
      continue;
    }
    const std::size_t end = raw.find('}', start);
    if (end == std::string_view::npos) return "a `${` has no closing `}`; " + std::string(forms);
    const std::string_view inside = raw.substr(start + 2, end - start - 2);
    std::string problem;
    if (inside.starts_with("env:")) {
      problem = expand_env(inside.substr(4), out);
    } else if (inside.starts_with("file:")) {
      problem = expand_file(inside.substr(5), directory, out);
    } else {
      problem = "unknown placeholder " + ticked(raw.substr(start, end - start + 1)) + "; " + std::string(forms);
    }
    if (!problem.empty()) return problem;
    raw.remove_prefix(end + 1);
  }
  return {};
}

}  // namespace brink::conf
