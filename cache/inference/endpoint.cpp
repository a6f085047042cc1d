#include "cache/inference/endpoint.hpp"

namespace brink::cache::inference {

Endpoint endpoint_of(std::string_view method, std::string_view path) {
  if (method != "POST") return Endpoint::other;
  if (path.ends_with("/chat/completions")) return Endpoint::chat;
  if (path.ends_with("/completions")) return Endpoint::completions;
  if (path.ends_with("/embeddings")) return Endpoint::embeddings;
  if (path.ends_with("/rerank")) return Endpoint::rerank;
  if (path.ends_with("/moderations")) return Endpoint::moderations;
  if (path.ends_with("/responses")) return Endpoint::responses;
  return Endpoint::other;
}

}  // namespace brink::cache::inference
