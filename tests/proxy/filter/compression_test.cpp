#include "proxy/filter/compression.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace brink::filter {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

// What a route that compresses decides for a client that accepts gzip and zstd, and a JSON response of 1000 bytes.
struct Scenario {
  CompressOptions options;
  Fields request_fields{{"Accept-Encoding", "gzip, zstd"}};
  Fields response_fields{{"Content-Type", "application/json"}};
  unsigned status = 200;
  std::optional<std::uint64_t> length = 1000;

  Decision decide() const {
    RequestFacts request;
    for (const auto& [name, value] : request_fields) request.note(name, value);
    ResponseFacts response;
    response.status = status;
    response.length = length;
    for (const auto& [name, value] : response_fields) response.note(name, value);
    return filter::decide(options, request, response);
  }
  std::string skip() const { return to_string(decide().skip); }
};

std::string added(const Decision& decision) {
  std::string out;
  append_fields(out, decision);
  return out;
}

TEST(Compression, CompressesAJsonResponse) {
  const auto decision = Scenario{}.decide();
  EXPECT_EQ(decision.skip, Skip::none);
  EXPECT_EQ(decision.coding, Coding::zstd);
  EXPECT_FALSE(decision.flush);
  EXPECT_TRUE(decision.weak_etag);
  EXPECT_EQ(added(decision), "content-encoding: zstd\r\nvary: accept-encoding\r\n");
  EXPECT_EQ(decision.spec.coding, Coding::zstd);
  EXPECT_EQ(decision.spec.level, 3);
  EXPECT_EQ(decision.spec.length, 1000U);
  EXPECT_FALSE(decision.spec.events);
}

TEST(Compression, TheRouteOrdersTheCodings) {
  Scenario s;
  s.options.encodings = {Coding::gzip, Coding::zstd};
  s.options.level = 6;
  const auto decision = s.decide();
  EXPECT_EQ(decision.coding, Coding::gzip);
  EXPECT_EQ(decision.spec.level, 6);
  EXPECT_EQ(added(decision), "content-encoding: gzip\r\nvary: accept-encoding\r\n");
}

TEST(Compression, ABodyOfUnknownLengthIsFlushed) {
  Scenario s;
  s.length.reset();
  EXPECT_TRUE(s.decide().flush);
  EXPECT_FALSE(s.decide().spec.events);
  for (const auto* type : {"text/event-stream", "Text/Event-Stream; charset=utf-8", "application/x-ndjson"}) {
    s.response_fields = {{"Content-Type", type}};
    EXPECT_TRUE(s.decide().flush) << type;
    EXPECT_TRUE(s.decide().spec.events) << type;
  }
}

TEST(Compression, SkipsStatusesWithoutABody) {
  Scenario s;
  for (const unsigned status : {100U, 101U, 103U, 204U, 205U, 304U}) {
    s.status = status;
    EXPECT_EQ(s.skip(), "status") << status;
  }
  for (const unsigned status : {200U, 201U, 400U, 404U, 429U, 500U, 503U}) {
    s.status = status;
    EXPECT_EQ(s.skip(), "none") << status;
  }
}

TEST(Compression, SkipsRanges) {
  Scenario partial;
  partial.status = 206;
  EXPECT_EQ(partial.skip(), "range");
  EXPECT_EQ(added(partial.decide()), "vary: accept-encoding\r\n") << "as its 200 would";
  EXPECT_FALSE(partial.decide().weak_etag) << "the bytes are those that the strong one names";

  Scenario content_range;
  content_range.response_fields.emplace_back("content-range", "bytes 0-9/10");
  EXPECT_EQ(content_range.skip(), "range");

  Scenario asked;
  asked.request_fields.emplace_back("RANGE", "bytes=0-9");
  EXPECT_EQ(asked.skip(), "range");
  EXPECT_EQ(added(asked.decide()), "vary: accept-encoding\r\n");
}

TEST(Compression, HeedsNoTransform) {
  Scenario request;
  request.request_fields.emplace_back("Cache-Control", "max-age=0, No-Transform");
  EXPECT_EQ(request.skip(), "no_transform");

  Scenario response;
  response.response_fields.emplace_back("cache-control", "public");
  response.response_fields.emplace_back("cache-control", "no-transform");
  EXPECT_EQ(response.skip(), "no_transform");
  EXPECT_EQ(added(response.decide()), "") << "it is the same for every client";

  Scenario other;
  other.response_fields.emplace_back("cache-control", "no-store, no-transformation");
  EXPECT_EQ(other.skip(), "none");
}

TEST(Compression, SkipsWhatIsEncoded) {
  for (const auto* coding : {"gzip", "br", "zstd", "identity, gzip", "unheard-of"}) {
    Scenario s;
    s.response_fields.emplace_back("Content-Encoding", coding);
    EXPECT_EQ(s.skip(), "encoded") << coding;
    EXPECT_EQ(added(s.decide()), "") << coding;
  }
  for (const auto* coding : {"identity", "Identity", "", ","}) {
    Scenario s;
    s.response_fields.emplace_back("Content-Encoding", coding);
    EXPECT_EQ(s.skip(), "none") << coding;
    EXPECT_EQ(edit_of(s.decide(), "Content-Encoding"), FieldEdit::drop);
  }
}

TEST(Compression, SkipsSmallBodies) {
  Scenario s;
  s.length = 255;
  EXPECT_EQ(s.skip(), "small");
  EXPECT_EQ(added(s.decide()), "");
  s.length = 256;
  EXPECT_EQ(s.skip(), "none");
  s.options.min_size = 0;
  s.length = 1;
  EXPECT_EQ(s.skip(), "none");
  s.length = 0;
  EXPECT_EQ(s.skip(), "small") << "nothing does not shrink";
  s.length.reset();
  EXPECT_EQ(s.skip(), "none") << "a stream is not held back until it is known to be long enough";
}

TEST(Compression, CompressesTypesThatShrink) {
  for (const auto* type :
       {"text/html", "text/plain; charset=utf-8", "TEXT/CSS", "text/event-stream", "application/json",
        "application/json;charset=utf-8", "application/problem+json", "application/ld+json", "image/svg+xml",
        "application/xml", "application/atom+xml", "application/javascript", "text/javascript", "application/x-ndjson",
        "application/wasm", "application/ndjson ; x=y", "font/ttf"}) {
    EXPECT_TRUE(is_compressible(type)) << type;
  }
  for (const auto* type : {"", "image/png", "image/jpeg", "video/mp4", "audio/mpeg", "application/zip", "font/woff2",
                           "application/octet-stream", "application/gzip", "application/pdf", "text/", "text", "+json",
                           "application/jsonx", "multipart/byteranges", ";text/html", "application/x; a=b+json"}) {
    EXPECT_FALSE(is_compressible(type)) << type;
  }
  Scenario png;
  png.response_fields = {{"Content-Type", "image/png"}};
  EXPECT_EQ(png.skip(), "type");
  EXPECT_EQ(added(png.decide()), "");
  Scenario none;
  none.response_fields.clear();
  EXPECT_EQ(none.skip(), "type");
}

TEST(Compression, WhatCouldHaveBeenCompressedVaries) {
  Scenario silent;
  silent.request_fields.clear();
  EXPECT_EQ(silent.skip(), "not_accepted");
  EXPECT_EQ(added(silent.decide()), "vary: accept-encoding\r\n");
  EXPECT_EQ(edit_of(silent.decide(), "ETag"), FieldEdit::keep);
  EXPECT_EQ(edit_of(silent.decide(), "Content-Length"), FieldEdit::keep);

  Scenario refuses;
  refuses.request_fields = {{"accept-encoding", "br, identity;q=0"}};
  EXPECT_EQ(refuses.skip(), "not_acceptable");
  EXPECT_EQ(refuses.decide().coding, Coding::identity);
  EXPECT_EQ(added(refuses.decide()), "vary: accept-encoding\r\n");
}

TEST(Compression, VaryIsNotSaidTwice) {
  for (const auto* vary : {"Accept-Encoding", "origin, accept-encoding", "*"}) {
    Scenario s;
    s.response_fields.emplace_back("Vary", vary);
    EXPECT_EQ(added(s.decide()), "content-encoding: zstd\r\n") << vary;
  }
  Scenario s;
  s.response_fields.emplace_back("Vary", "accept-encoding-x, origin");
  EXPECT_EQ(added(s.decide()), "content-encoding: zstd\r\nvary: accept-encoding\r\n");
}

TEST(Compression, ANotModifiedSaysWhatItsCompressed200Said) {
  Scenario s;
  s.status = 304;
  s.length.reset();
  s.response_fields = {{"ETag", "\"a\""}};
  EXPECT_EQ(edit_of(s.decide(), "ETag"), FieldEdit::weaken);
  EXPECT_EQ(edit_of(s.decide(), "Content-Length"), FieldEdit::keep);
  EXPECT_EQ(added(s.decide()), "vary: accept-encoding\r\n");
  s.request_fields.clear();
  EXPECT_EQ(edit_of(s.decide(), "ETag"), FieldEdit::keep) << "this client got the 200 as it was";
  EXPECT_EQ(added(s.decide()), "vary: accept-encoding\r\n");
}

TEST(Compression, FieldsOfTheUnencodedBytesGo) {
  const auto decision = Scenario{}.decide();
  for (const auto* name : {"Content-Length", "ACCEPT-RANGES", "content-md5", "Digest", "Content-Digest", "Repr-Digest",
                           "Content-Encoding"}) {
    EXPECT_EQ(edit_of(decision, name), FieldEdit::drop) << name;
  }
  for (const auto* name : {"Content-Type", "Content-Language", "Cache-Control", "Vary", "Want-Content-Digest", "Age"}) {
    EXPECT_EQ(edit_of(decision, name), FieldEdit::keep) << name;
  }
  EXPECT_EQ(edit_of(decision, "etag"), FieldEdit::weaken);
}

TEST(Compression, WeakensStrongTagsOnly) {
  EXPECT_EQ(weaken("\"abc\""), "W/\"abc\"");
  EXPECT_EQ(weaken("W/\"abc\""), "W/\"abc\"");
  EXPECT_EQ(weaken("\"\""), "W/\"\"");
  EXPECT_EQ(weaken("abc"), "abc") << "no tag: not ours to mend";
  EXPECT_EQ(weaken(""), "");
}

TEST(Compression, ARouteWithoutCodingsChangesNothing) {
  Scenario s;
  s.options.encodings.clear();
  EXPECT_EQ(s.decide().coding, Coding::identity);
  EXPECT_EQ(s.skip(), "not_accepted");
  EXPECT_EQ(added(s.decide()), "");
}

}  // namespace
}  // namespace brink::filter
