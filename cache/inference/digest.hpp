// SHA-256 over parts, as hexadecimal text. One thread at a time; one object is good for any number of digests.
#pragma once

#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace brink::cache::inference {

class Digest {
 public:
  Digest();  // throws std::runtime_error where OpenSSL has no SHA-256
  void start();
  void add(std::string_view bytes);
  void add_part(std::string_view part);  // its length first, so that parts cannot run into each other
  std::string finish();                  // 64 hexadecimal digits in lower case

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

}  // namespace brink::cache::inference
