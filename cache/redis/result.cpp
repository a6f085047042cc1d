#include "cache/redis/result.hpp"

namespace brink::cache::redis {

bool Reply::is_error(std::string_view kind) const {
  return is_error() && text.starts_with(kind) && (text.size() == kind.size() || text[kind.size()] == ' ');
}

std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::none:
      return "none";
    case ErrorKind::timeout:
      return "timeout";
    case ErrorKind::unavailable:
      return "unavailable";
    case ErrorKind::refused:
      return "refused";
    case ErrorKind::protocol:
      return "protocol";
    case ErrorKind::server:
      return "server";
  }
  return "unknown";
}

}  // namespace brink::cache::redis
