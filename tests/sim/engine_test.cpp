#include "tests/sim/engine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/sim/text.hpp"

namespace brink::sim {
namespace {

// Round numbers: 10 prompt tokens a ms; a step of 10 ms + 1 ms a running request.
EngineConfig round_config() {
  EngineConfig config;
  config.prefill_tokens_per_ms = 10;
  config.step_ms = 10;
  config.step_batch_ms = 1;
  config.max_batch = 2;
  config.max_queue = 2;
  config.kv_blocks = 100;
  return config;
}

Prompt prompt(std::uint32_t tokens, std::vector<BlockHash> blocks = {}) {
  return {.tokens = tokens, .blocks = std::move(blocks)};
}

// Everything that happens until the engine is idle.
std::vector<Event> run_out(Engine& engine) {
  std::vector<Event> all;
  while (engine.next_event_time() != Engine::never) {
    for (const Event& event : engine.advance(engine.next_event_time())) all.push_back(event);
  }
  return all;
}

Millis time_of(const std::vector<Event>& events, RequestId id, EventKind kind) {
  const auto found = std::ranges::find_if(events, [&](const Event& e) { return e.id == id && e.kind == kind; });
  return found == events.end() ? Engine::never : found->at;
}

TEST(Engine, a_lone_request_pays_prefill_once_and_a_step_for_each_token) {
  Engine engine(round_config());
  engine.submit(1, 0, prompt(100), 3);
  const auto events = run_out(engine);
  ASSERT_EQ(events.size(), 4U);  // first token, two more, finished
  EXPECT_EQ(events[0].kind, EventKind::first_token);
  EXPECT_DOUBLE_EQ(events[0].at, 10 + 11);
  EXPECT_DOUBLE_EQ(events[1].at, 21 + 11);
  EXPECT_DOUBLE_EQ(events[2].at, 32 + 11);
  EXPECT_EQ(events[3].kind, EventKind::finished);
  EXPECT_DOUBLE_EQ(events[3].at, events[2].at);
  EXPECT_EQ(events[3].tokens, 3U);
}

TEST(Engine, requests_share_steps_and_a_newcomer_waits_for_the_next_one) {
  Engine engine(round_config());
  engine.submit(1, 0, prompt(10), 3);  // step 1: 1 + 11 = 12
  engine.submit(2, 5, prompt(20), 1);  // step 2 from 12: 2 + 12 = 14, to 26
  const auto events = run_out(engine);
  EXPECT_DOUBLE_EQ(time_of(events, 1, EventKind::first_token), 12);
  EXPECT_DOUBLE_EQ(time_of(events, 2, EventKind::first_token), 26);
  EXPECT_DOUBLE_EQ(time_of(events, 2, EventKind::finished), 26);
  EXPECT_DOUBLE_EQ(time_of(events, 1, EventKind::finished), 26 + 11);  // alone again
}

TEST(Engine, the_batch_limit_makes_the_third_wait_for_a_place) {
  Engine engine(round_config());
  for (const RequestId id : {1, 2, 3}) engine.submit(id, 0, prompt(10), 2);
  engine.advance(12);
  EXPECT_EQ(engine.running(), 2U);
  EXPECT_EQ(engine.waiting(), 1U);
  const auto events = run_out(engine);
  // 1 ends at 12 + 1 + 12 = 25; only then is 3 taken in, beside 2: 25 + 1 + 12.
  EXPECT_DOUBLE_EQ(time_of(events, 1, EventKind::finished), 25);
  EXPECT_DOUBLE_EQ(time_of(events, 3, EventKind::first_token), 38);
}

TEST(Engine, a_full_queue_rejects_and_says_so) {
  Engine engine(round_config());
  for (const RequestId id : {1, 2, 3, 4}) engine.submit(id, 0, prompt(10), 1);
  EXPECT_DOUBLE_EQ(engine.next_event_time(), 0);
  const auto events = engine.advance(0);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].id, 4U);
  EXPECT_EQ(events[0].kind, EventKind::rejected);
  EXPECT_EQ(events[0].rejection, Rejection::queue_full);
}

TEST(Engine, without_a_queue_an_idle_engine_still_serves) {
  EngineConfig config = round_config();
  config.max_queue = 0;
  Engine engine(config);
  engine.submit(1, 0, prompt(10), 1);
  engine.submit(2, 0, prompt(10), 1);
  const auto events = run_out(engine);
  EXPECT_LT(time_of(events, 1, EventKind::finished), Engine::never);
  EXPECT_EQ(time_of(events, 2, EventKind::rejected), 0);
}

TEST(Engine, what_never_fits_into_memory_is_rejected) {
  Engine engine(round_config());
  engine.submit(1, 0, prompt(1590), 10);  // exactly 100 blocks
  engine.submit(2, 0, prompt(1590), 11);
  const auto events = run_out(engine);
  EXPECT_LT(time_of(events, 1, EventKind::finished), Engine::never);
  ASSERT_EQ(time_of(events, 2, EventKind::rejected), 0);
  EXPECT_EQ(events[0].rejection, Rejection::too_long);
}

TEST(Engine, short_memory_makes_requests_wait_in_order) {
  Engine engine(round_config());
  engine.submit(1, 0, prompt(900), 60);  // 60 of 100 blocks
  engine.submit(2, 0, prompt(900), 60);  // does not fit beside it
  engine.advance(500);
  EXPECT_EQ(engine.running(), 1U);
  EXPECT_EQ(engine.waiting(), 1U);
  EXPECT_DOUBLE_EQ(engine.kv_usage(), 0.6);
  const auto events = run_out(engine);
  EXPECT_LT(time_of(events, 1, EventKind::finished), time_of(events, 2, EventKind::first_token));
  EXPECT_DOUBLE_EQ(engine.kv_usage(), 0);
}

TEST(Engine, a_repeated_prefix_costs_no_prefill) {
  Engine engine(round_config());
  engine.submit(1, 0, prompt(50, {11, 12, 13}), 1);
  EXPECT_DOUBLE_EQ(time_of(run_out(engine), 1, EventKind::first_token), 5 + 11);
  engine.submit(2, 100, prompt(52, {11, 12, 99}), 1);  // two of three blocks: 52 - 32 tokens left
  const auto events = run_out(engine);
  EXPECT_DOUBLE_EQ(time_of(events, 2, EventKind::first_token), 100 + 2 + 11);
  EXPECT_EQ(events[0].cached_tokens, 32U);
  EXPECT_EQ(engine.totals().prefix_queries, 102U);
  EXPECT_EQ(engine.totals().prefix_hits, 32U);
}

TEST(Engine, a_wholly_cached_prompt_still_computes_its_last_token) {
  Engine engine(round_config());
  engine.submit(1, 0, prompt(32, {1, 2}), 1);
  run_out(engine);
  engine.submit(2, 100, prompt(32, {1, 2}), 1);
  EXPECT_DOUBLE_EQ(time_of(run_out(engine), 2, EventKind::first_token), 100 + 0.1 + 11);
}

TEST(Engine, slowness_counts_from_the_next_step) {
  Engine engine(round_config());
  engine.submit(1, 0, prompt(10), 2);
  engine.set_slowness(4);
  const auto events = run_out(engine);
  EXPECT_DOUBLE_EQ(events[0].at, 12);
  EXPECT_DOUBLE_EQ(events[1].at, 12 + 4 * 11);
}

TEST(Engine, cancelling_frees_place_and_memory_at_once) {
  Engine engine(round_config());
  engine.submit(1, 0, prompt(320, {1, 2, 3}), 100);
  engine.submit(2, 0, prompt(10), 1);
  engine.advance(0);
  EXPECT_GT(engine.kv_usage(), 0);
  EXPECT_TRUE(engine.cancel(1));
  EXPECT_EQ(engine.running(), 0U);
  EXPECT_DOUBLE_EQ(engine.kv_usage(), 0);
  EXPECT_TRUE(engine.cancel(2));
  EXPECT_FALSE(engine.cancel(2));
  EXPECT_TRUE(run_out(engine).empty());
  EXPECT_EQ(engine.totals().generation_tokens, 0U);
}

TEST(Engine, late_calls_give_the_same_events_as_timely_ones) {
  const auto feed = [](Engine& engine) {
    engine.submit(1, 0, prompt(100), 5);
    engine.submit(2, 30, prompt(40), 3);  // the engine catches up by itself
    engine.submit(3, 31, prompt(40), 3);
  };
  Engine timely(round_config());
  Engine late(round_config());
  feed(timely);
  feed(late);
  const auto expected = run_out(timely);
  const auto events = late.advance(1e6);
  ASSERT_EQ(events.size(), expected.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].id, expected[i].id);
    EXPECT_DOUBLE_EQ(events[i].at, expected[i].at);
  }
}

TEST(Engine, steps_without_length_come_to_an_end) {
  EngineConfig config = round_config();
  config.step_ms = config.step_batch_ms = 0;
  Engine engine(config);
  engine.submit(1, 7, prompt(10), 1000);
  EXPECT_EQ(engine.advance(8).size(), 1001U);
  EXPECT_EQ(engine.next_event_time(), Engine::never);
}

TEST(Engine, refuses_numbers_that_make_no_engine) {
  EngineConfig config = round_config();
  config.prefill_tokens_per_ms = 0;
  EXPECT_THROW(Engine{config}, std::invalid_argument);
}

TEST(KvCache, drops_the_least_recently_used_tail_first) {
  KvCache cache(4);
  ASSERT_TRUE(cache.acquire(std::vector<BlockHash>{1, 2}, 0));
  ASSERT_TRUE(cache.acquire(std::vector<BlockHash>{7, 8}, 0));
  cache.release(std::vector<BlockHash>{1, 2}, 0);
  cache.release(std::vector<BlockHash>{7, 8}, 0);
  ASSERT_TRUE(cache.acquire({}, 1));
  EXPECT_EQ(cache.match(std::vector<BlockHash>{1, 2}), 1U);
  EXPECT_EQ(cache.match(std::vector<BlockHash>{7, 8}), 2U);
}

TEST(KvCache, never_makes_room_from_the_prefix_it_is_about_to_use) {
  KvCache cache(3);
  ASSERT_TRUE(cache.acquire(std::vector<BlockHash>{1, 2}, 0));
  cache.release(std::vector<BlockHash>{1, 2}, 0);
  const auto hits = cache.acquire(std::vector<BlockHash>{1, 2, 3}, 0);
  ASSERT_TRUE(hits);
  EXPECT_EQ(*hits, 2U);
  EXPECT_FALSE(cache.acquire({}, 1));  // full, and nothing has changed
  EXPECT_EQ(cache.in_use(), 3U);
}

TEST(Text, block_chains_agree_exactly_as_far_as_the_texts_do) {
  const std::string shared(128, 'a');
  const auto one = block_chain(shared + std::string(64, 'b'), 0);
  const auto two = block_chain(shared + std::string(64, 'c'), 0);
  ASSERT_EQ(one.size(), 3U);
  EXPECT_EQ(one[1], two[1]);
  EXPECT_NE(one[2], two[2]);
  EXPECT_NE(one[0], one[1]);  // equal blocks at different places are different
}

}  // namespace
}  // namespace brink::sim
