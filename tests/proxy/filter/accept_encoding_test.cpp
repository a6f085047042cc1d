#include "proxy/filter/accept_encoding.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace brink::filter {
namespace {

constexpr std::array zstd_first{Coding::zstd, Coding::gzip};
constexpr std::array gzip_first{Coding::gzip, Coding::zstd};
constexpr std::array gzip_only{Coding::gzip};

std::string chosen(const std::vector<std::string>& fields, std::span<const Coding> ours = zstd_first) {
  AcceptEncoding accept;
  for (const auto& field : fields) accept.add(field);
  const auto coding = accept.choose(ours);
  return coding ? std::string(to_string(*coding)) : "none";
}

struct Case {
  std::vector<std::string> fields;
  std::string zstd_first;
  std::string gzip_first;
};

TEST(AcceptEncoding, ChoosesByWeightThenByOurOrder) {
  const std::vector<Case> cases = {
      {{}, "identity", "identity"},
      {{""}, "identity", "identity"},
      {{" , ,"}, "identity", "identity"},
      {{"gzip"}, "gzip", "gzip"},
      {{"zstd"}, "zstd", "zstd"},
      {{"gzip, zstd"}, "zstd", "gzip"},
      {{"gzip", "zstd"}, "zstd", "gzip"},
      {{"gzip, deflate, br, zstd"}, "zstd", "gzip"},
      {{"br, deflate"}, "identity", "identity"},
      {{"gzip;q=1.0, zstd;q=0.9"}, "gzip", "gzip"},
      {{"gzip;q=0.001, zstd;q=0.002"}, "zstd", "zstd"},
      {{"zstd;q=0, gzip"}, "gzip", "gzip"},
      {{"gzip;q=0, zstd;q=0"}, "identity", "identity"},
      // Any coding that is not named.
      {{"*"}, "zstd", "gzip"},
      {{"*;q=0.5, gzip;q=0.4"}, "zstd", "zstd"},
      {{"zstd;q=0, *"}, "gzip", "gzip"},
      {{"gzip, *;q=0"}, "gzip", "gzip"},
      // Identity, by name and by *.
      {{"identity"}, "identity", "identity"},
      {{"identity, gzip;q=0.5"}, "identity", "identity"},
      {{"identity;q=0.5, gzip;q=0.5"}, "gzip", "gzip"},
      {{"identity;q=0.4, gzip;q=0.5"}, "gzip", "gzip"},
      {{"identity;q=0"}, "none", "none"},
      {{"identity;q=0, br"}, "none", "none"},
      {{"identity;q=0, gzip"}, "gzip", "gzip"},
      {{"*;q=0"}, "none", "none"},
      {{"*;q=0, identity"}, "identity", "identity"},
      {{"*;q=0, identity;q=0.001"}, "identity", "identity"},
      // Spelling.
      {{"GZip"}, "gzip", "gzip"},
      {{"x-gzip"}, "gzip", "gzip"},
      {{"X-GZIP;Q=0.5"}, "gzip", "gzip"},
      {{"gzip\t;\t q=0.5 ,zstd ; q=0.4"}, "gzip", "gzip"},
      {{"gzip;q=1, gzip;q=0"}, "gzip", "gzip"},
      {{"x-gzip;q=0, gzip"}, "identity", "identity"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(testing::PrintToString(c.fields));
    EXPECT_EQ(chosen(c.fields), c.zstd_first);
    EXPECT_EQ(chosen(c.fields, gzip_first), c.gzip_first);
  }
}

TEST(AcceptEncoding, ReadsEveryValidWeight) {
  for (const auto* weight : {"1", "1.", "1.0", "1.00", "1.000", "0.5", "0.999", "0.001"}) {
    EXPECT_EQ(chosen({std::string("gzip;q=") + weight}), "gzip") << weight;
  }
  for (const auto* weight : {"0", "0.", "0.0", "0.00", "0.000"}) {
    EXPECT_EQ(chosen({std::string("gzip;q=") + weight}), "identity") << weight;
  }
}

TEST(AcceptEncoding, AMemberWithABrokenWeightIsNotThere) {
  for (const auto* rest : {";q=", ";q", ";", ";q=1.1", ";q=1.001", ";q=2", ";q=-1", ";q=.5", ";q=0.5000", ";q=1.0000",
                           ";q =0.5", ";q= 0.5", ";q=0.5;x=1", ";x=1", ";q=a", ";q=0.x", ";level=3;q=0.5"}) {
    EXPECT_EQ(chosen({std::string("zstd") + rest, "gzip;q=0.1"}), "gzip") << rest;
    EXPECT_EQ(chosen({std::string("identity") + rest}), "identity") << rest;
  }
}

TEST(AcceptEncoding, ChoosesOnlyFromOurs) {
  EXPECT_EQ(chosen({"zstd, gzip;q=0.1"}, gzip_only), "gzip");
  EXPECT_EQ(chosen({"zstd"}, gzip_only), "identity");
  EXPECT_EQ(chosen({"zstd, identity;q=0"}, gzip_only), "none");
  EXPECT_EQ(chosen({"zstd, gzip"}, {}), "identity");
  EXPECT_EQ(chosen({"gzip;q=0.2, *;q=0.8"}, gzip_only), "identity") << "* gives identity 0.8";
}

TEST(AcceptEncoding, SaysWhetherACodingMayBeSent) {
  AcceptEncoding accept;
  EXPECT_TRUE(accept.accepts(Coding::identity));
  EXPECT_FALSE(accept.accepts(Coding::zstd)) << "a client that says nothing may be unable to decode";
  accept.add("zstd;q=0.1, identity;q=0");
  EXPECT_TRUE(accept.accepts(Coding::zstd));
  EXPECT_FALSE(accept.accepts(Coding::gzip));
  EXPECT_FALSE(accept.accepts(Coding::identity));
}

TEST(AcceptEncoding, TakesAnyBytes) {
  std::string bytes;
  for (int c = 0; c < 256; ++c) bytes += static_cast<char>(c);
  EXPECT_EQ(chosen({bytes, std::string(100'000, ';'), std::string(100'000, ','), "gzip"}), "gzip");
}

}  // namespace
}  // namespace brink::filter
