#include "cache/inference/digest.hpp"

#include <openssl/evp.h>

#include <array>
#include <stdexcept>

namespace brink::cache::inference {
namespace {

void check(int result) {
  if (result != 1) throw std::runtime_error("SHA-256 is not available");
}

}  // namespace

void Digest::Free::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }

Digest::Digest() : context_(EVP_MD_CTX_new()) { check(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr)); }

// Without naming the algorithm again: OpenSSL 3 would look it up again.
void Digest::start() { check(EVP_DigestInit_ex(context_.get(), nullptr, nullptr)); }

void Digest::add(std::string_view bytes) { check(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size())); }

void Digest::add_part(std::string_view part) {
  add(std::to_string(part.size()));
  add(":");
  add(part);
}

std::string Digest::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned size = 0;
  check(EVP_DigestFinal_ex(context_.get(), bytes.data(), &size));
  std::string text;
  text.reserve(2 * std::size_t{size});
  for (unsigned i = 0; i < size; ++i) {
    text.push_back("0123456789abcdef"[bytes[i] >> 4]);
    text.push_back("0123456789abcdef"[bytes[i] & 15]);
  }
  return text;
}

}  // namespace brink::cache::inference
