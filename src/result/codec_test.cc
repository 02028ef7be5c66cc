// Round trips to the last bit, and strict reading: every kind of damage is an Error that names the
// place.
#include "result/codec.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "base/fd.h"
#include "base/subprocess.h"
#include "result/figures.h"
#include "support/test_result.h"

namespace cephmark {
namespace {

RunResult rich_result() {
  RunResult result = testing::make_test_result(2);
  result.taints = {{"cache-mode", "on"}};
  result.witness.health_changes = {"HEALTH_OK -> HEALTH_WARN"};
  result.witness.background_work = {"scrub"};
  result.vms[1].targets[0].allocated_bytes.reset();
  result.vms[0].jobs[0].op(Op::kWrite).errors = {{EIO, 2}, {4711, 1}};
  result.vms[0].jobs[0].error_samples = {{5, Op::kWrite, 4096, 8192, EIO, 3}};
  result.vms[0].jobs[0].end_flushes = 4;
  result.vms[0].jobs[0].end_flush_ns = 77;
  result.vms[0].jobs[1].failure = "could not";
  result.vms[0].jobs[1].finished = false;
  result.vms[0].jobs[1].abandoned = 2;
  result.stop_reason = "interrupted (SIGINT)";
  result.late_arrivals = 3;
  return result;
}

TEST(Codec, WhatWasWrittenIsRead) {
  for (const RunResult& result :
       {rich_result(), testing::make_error_result(), testing::make_failed_result(),
        testing::make_interrupted_result(), RunResult{}}) {
    const std::string text = result_text(result);
    EXPECT_EQ(result_text(parse_result(text, "test")), text);
  }
}

// What the first version wrote stays readable, or is refused in words that say what to do.
TEST(Codec, AStoredResultOfVersionOneIsRead) {
  const std::string path = CEPHMARK_SOURCE_DIR "/tests/golden/result-v1.json";
  const RunResult result = parse_result(read_file(path), path);
  EXPECT_EQ(result.runner, "native");
  ASSERT_EQ(result.vms.size(), 1u);
  EXPECT_EQ(result.vms[0].jobs.at(0).find(Op::kRead)->ios, 256u);
  EXPECT_EQ(result.plan.vms.at(0).jobs.at(0).ioengine, "null");
  for (const int other : {0, 99}) {
    Json json = parse_json(read_file(path), path);
    json["schema_version"] = other;
    try {
      result_from_json(json, "old.json");
      FAIL();
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what())
                    .find("old.json: is a result of schema version " + std::to_string(other)),
                std::string::npos)
          << error.what();
      EXPECT_FALSE(error.hint().empty());
    }
  }
}

TEST(Codec, NothingIsLost) {
  const RunResult a = rich_result();
  const RunResult b = parse_result(result_text(a), "test");
  EXPECT_EQ(b.id, a.id);
  EXPECT_EQ(b.start_wall_ns, a.start_wall_ns);
  EXPECT_EQ(b.late_arrivals, 3u);
  EXPECT_EQ(b.budget_bytes, a.budget_bytes);
  EXPECT_EQ(b.environment.osd_memory_bytes, a.environment.osd_memory_bytes);
  EXPECT_EQ(b.witness.extra_ops, a.witness.extra_ops);
  EXPECT_EQ(b.vms[0].jobs[0].find(Op::kWrite)->errors, a.vms[0].jobs[0].find(Op::kWrite)->errors);
  EXPECT_FALSE(b.vms[1].targets[0].allocated_bytes.has_value());
  EXPECT_EQ(b.vms[0].targets[0].allocated_bytes, a.vms[0].targets[0].allocated_bytes);
  EXPECT_EQ(b.vms[0].jobs[1].abandoned, 2);
  EXPECT_FALSE(b.vms[0].jobs[1].finished);
  EXPECT_EQ(b.vms[0].jobs[0].error_samples[0].length, 8192u);
  EXPECT_EQ(b.vms[0].jobs[0].error_samples[0].file, 3u);
  EXPECT_EQ(b.vms[0].jobs[0].end_flushes, 4u);
  EXPECT_EQ(b.vms[0].jobs[0].end_flush_ns, 77);
  EXPECT_EQ(b.phases.size(), a.phases.size());
  EXPECT_EQ(b.interval_response[1].size(), a.interval_response[1].size());
  EXPECT_EQ(b.fleet_service.sum_ns(), a.fleet_service.sum_ns());
  const RunFigures fa = figures_of(a), fb = figures_of(b);
  for (size_t i = 0; i < fa.stages.size(); ++i) {
    EXPECT_EQ(fb.stages[i].data.iops, fa.stages[i].data.iops);
    EXPECT_EQ(fb.stages[i].response.stddev_ns(), fa.stages[i].response.stddev_ns());
  }
}

TEST(Codec, DocumentsAreValidByTheSchema) {
  const std::string source = CEPHMARK_SOURCE_DIR;
  std::vector<std::string> command = {"python3", source + "/tests/check_schema.py",
                                      source + "/docs/result-schema.json"};
  const auto check = [&](const std::string& name, const std::string& text) {
    const std::string path =
        ::testing::TempDir() + "/schema-" + std::to_string(::getpid()) + "-" + name;
    write_file_atomically(path, text);
    auto argv = command;
    argv.push_back(path);
    const CommandResult result = run_command(argv);
    ::unlink(path.c_str());
    return result.exit_code == 0 ? std::string() : result.out + result.err;
  };
  EXPECT_EQ(check("rich", result_text(rich_result())), "");
  EXPECT_EQ(check("failed", result_text(testing::make_failed_result())), "");
  EXPECT_EQ(check("empty", result_text(RunResult{})), "");
  Json damaged = result_to_json(rich_result());
  damaged["vms"][0]["jobs"][0]["ops"]["read"]["ios"] = "many";
  EXPECT_NE(check("damaged", damaged.dump()), "");
  damaged = result_to_json(rich_result());
  damaged["surprise"] = 1;
  EXPECT_NE(check("surprise", damaged.dump()), "");
}

TEST(Codec, DamageIsNamed) {
  struct Damage {
    std::function<void(Json&)> damage;
    const char* says;
  };
  const Damage cases[] = {
      {[](Json& j) { j.erase("id"); }, "x.json.id: is missing"},
      {[](Json& j) { j["surprise"] = 1; }, "x.json.surprise: is not a known key"},
      {[](Json& j) { j["schema_version"] = 2; }, "schema version 2"},
      {[](Json& j) { j["connections"] = -1; }, "x.json.connections: must be from 0"},
      {[](Json& j) { j["connections"] = "4"; }, "x.json.connections: must be a whole number"},
      {[](Json& j) { j["measured_ns"] = 1.5; }, "x.json.measured_ns: must be a whole number"},
      {[](Json& j) { j["vms"][1]["vm"] = 7; }, "x.json.vms[1].vm: is no VM of the plan"},
      {[](Json& j) { j["vms"][1]["jobs"][0]["job"] = 2; }, "jobs[0].job: is no job of the plan"},
      {[](Json& j) { j["vms"][0]["jobs"][0]["ops"]["read"]["ios"] = -4; },
       "ops.read.ios: must be a whole number"},
      {[](Json& j) { j["vms"][0]["jobs"][0]["ops"]["erase"] = 1; }, "ops.erase"},
      {[](Json& j) { j["vms"][0]["jobs"][0]["ops"]["read"]["response"]["count"] = 1; },
       "ops.read.response"},
      {[](Json& j) { j["vms"][0]["jobs"][0]["depth_counters"]["depth"].erase(0); },
       "must have 7 numbers"},
      {[](Json& j) { j["phases"][0]["kind"] = "lunch"; }, "phases[0].kind: is not a known phase"},
      {[](Json& j) { j["environment"]["host"]["cpus"] = 2; },
       "environment.host.cpus: must be a string"},
  };
  const Json good = result_to_json(rich_result());
  for (const auto& one : cases) {
    Json json = good;
    one.damage(json);
    try {
      result_from_json(json, "x.json");
      ADD_FAILURE() << "read without complaint; expected: " << one.says;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(one.says), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(parse_result("{\"id\":\"a\",\"id\":\"b\"}", "x.json"), Error);
  EXPECT_THROW(parse_result(result_text(rich_result()).substr(0, 5000), "x.json"), Error);
}

}  // namespace
}  // namespace cephmark
