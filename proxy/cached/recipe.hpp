// What a backend's answer becomes in the cache. One for each fetch; its worker's thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cache/entry.hpp"
#include "proxy/http/errors.hpp"
#include "proxy/http/head.hpp"

namespace brink::cached {

class Recipe {
 public:
  virtual ~Recipe() = default;

  struct Opened {
    bool store = false;       // also shared with those who wait for it
    const char* reason = "";  // why not
    cache::EntryPtr instead;  // answer with this, and disregard the body
    bool store_instead = false;
    std::string lines;        // with `store`: the head's field lines as others may see them, without framing
    // The request fields that selected this answer, and what the request said in them: others may only have it if they
    // say the same.
    std::vector<std::string> vary;
    std::string vary_key;
  };
  virtual Opened on_head(const http::ResponseHead& head) = 0;
  // False: the answer cannot be stored after all, it goes on all the same.
  virtual bool on_piece(std::string_view piece) = 0;
  // The answer is whole: what to store, the answer itself first. Empty: nothing.
  virtual std::vector<cache::EntryPtr> make(std::string body) = 0;
  // No answer: an entry to answer with all the same, or nullptr.
  virtual cache::EntryPtr on_failure(http::ErrorKind kind) = 0;
};

}  // namespace brink::cached
