#include "job/job_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "job/effective_options.h"
#include "job/test_engines.h"

namespace cephmark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

class JobFileTest : public testing::Test {
 protected:
  JobFile parse(const std::string& text) {
    return parse_job_file(text, "t.fio", test_engines(), diagnostics, options);
  }
  std::vector<JobSpec> jobs(const std::string& text,
                            const TemplateValues& values = {"vm-3", 3, "node", "rbd"}) {
    const JobFile file = parse(text);
    if (!diagnostics.ok()) return {};
    return make_jobs(file, values, diagnostics);
  }
  JobSpec job(const std::string& options_text) {
    const auto all = jobs("[j]\n" + options_text + "\n");
    EXPECT_EQ(all.size(), 1u) << errors();
    return all.empty() ? JobSpec() : all.front();
  }
  std::string errors() const { return diagnostics.render(Severity::kError); }
  std::string warnings() const { return diagnostics.render(Severity::kWarning); }
  /// The errors of a job with these lines; fresh.
  std::string errors_of(const std::string& options_text) {
    diagnostics = Diagnostics();
    parse("[j]\n" + options_text + "\n");
    return errors();
  }
  std::string warnings_of(const std::string& options_text) {
    diagnostics = Diagnostics();
    parse("[j]\n" + options_text + "\n");
    EXPECT_EQ(errors(), "");
    return warnings();
  }

  Diagnostics diagnostics;
  ParseOptions options{false, SourceAccess::none(), nullptr};
};

constexpr const char* kScenario1 = R"([write-4K]
description="write test with block size of 4K"
ioengine=rbd
clientname=admin
pool=rbd
rbdname={{.Name}}
iodepth=32
runtime=120
rw=write #write = sequential write, randwrite, read, randread
bs=4K
)";

TEST_F(JobFileTest, ReadsTheTemplateOfScenario1WithoutAWord) {
  const auto all = jobs(kScenario1);
  ASSERT_EQ(all.size(), 1u) << errors();
  EXPECT_EQ(warnings(), "");
  const JobSpec& job = all[0];
  EXPECT_EQ(job.name, "write-4K");
  EXPECT_EQ(job.description, "\"write test with block size of 4K\"");
  EXPECT_EQ(job.source, "t.fio:1");
  EXPECT_EQ(job.ioengine, "rbd");
  EXPECT_EQ(job.engine_options.at("rbdname"), "vm-3");
  EXPECT_EQ(job.engine_options.at("pool"), "rbd");
  EXPECT_EQ(job.engine_options.at("clientname"), "admin");
  EXPECT_EQ(job.engine_options.at("busy_poll"), "0");
  EXPECT_EQ(job.iodepth, 32u);
  EXPECT_EQ(job.runtime_ns, 120'000'000'000);
  EXPECT_TRUE(job.rw.writes);
  EXPECT_FALSE(job.rw.reads || job.rw.random);
  EXPECT_EQ(job.block_sizes[1].min_bytes, 4096u);
  EXPECT_FALSE(job.size.is_set() || job.time_based || job.direct);
  EXPECT_THAT(job.written_options, testing::Contains(Pair("rbdname", "vm-3")));
  EXPECT_THAT(job.written_options, testing::Contains(Pair("rw", "write")));
}

TEST_F(JobFileTest, GlobalEngineOptionsServeJobsThatSetTheEngineThemselves) {
  const auto all = jobs("[global]\nclientname=admin\npool=p\n[a]\nioengine=rbd\nrbdname=x\n");
  ASSERT_EQ(all.size(), 1u) << errors();
  EXPECT_EQ(all[0].engine_options.at("pool"), "p");
  EXPECT_THAT(all[0].written_globals, ElementsAre(Pair("clientname", "admin"), Pair("pool", "p")));
}

TEST_F(JobFileTest, AJobThatLeavesTheGlobalEngineLosesItsOptionsOnly) {
  const auto all = jobs("[global]\nioengine=rbd\npool=p\nbs=8k\n[a]\nioengine=null\nsize=1m\n");
  ASSERT_EQ(all.size(), 1u) << errors();
  EXPECT_EQ(all[0].block_sizes[0].min_bytes, 8192u);
  EXPECT_THAT(all[0].engine_options, IsEmpty());
}

TEST_F(JobFileTest, AnEngineOptionWithoutItsEngineIsAnError) {
  EXPECT_THAT(errors_of("pool=rbd\nrw=read"),
              AllOf(HasSubstr("t.fio:2:1: error: 'pool' belongs to the engine rbd"),
                    HasSubstr("this job uses psync"), HasSubstr("    pool=rbd\n    ^~~~")));
}

// PAR-07
TEST_F(JobFileTest, AllMistakesAreReportedAtOnceInOrder) {
  const std::string text =
      errors_of("iodeth=1\nrw=randreed\nbs=0\nnumjobs=0\nsize=150%\ndirect=yes\nverify=crc32c");
  EXPECT_EQ(diagnostics.error_count(), 7u) << text;
  EXPECT_THAT(text,
              HasSubstr("t.fio:2:1: error: there is no option 'iodeth'\n    iodeth=1\n    ^~~~~~\n"
                        "    did you mean iodepth?\n"));
  EXPECT_THAT(text,
              HasSubstr("t.fio:3:4: error: rw: \"randreed\" is not a value of it\n    rw=randreed\n"
                        "       ^~~~~~~~\n    did you mean randread?"));
  EXPECT_THAT(text, HasSubstr("bs: 0 bytes is out of range"));
  EXPECT_THAT(text, HasSubstr("numjobs: 0 is out of range (1 to 4096)"));
  EXPECT_THAT(text, HasSubstr("150 % is more than the whole target"));
  EXPECT_THAT(text, HasSubstr("direct: \"yes\" is not 0 or 1"));
  EXPECT_THAT(text, HasSubstr("fio knows 'verify', cephmark does not honour it yet"));
  EXPECT_LT(text.find("iodeth"), text.find("randreed"));
}

TEST_F(JobFileTest, UnsupportedOptionsBecomeWarningsWhenAllowed) {
  options.allow_unsupported = true;
  const auto all = jobs("[j]\nverify=crc32c\nwrite_bw_log\n");
  EXPECT_EQ(all.size(), 1u) << errors();
  EXPECT_THAT(
      diagnostics.warning_lines(),
      ElementsAre(
          "t.fio:2: fio knows 'verify', cephmark does not honour it yet (the job runs without it)",
          HasSubstr("'write_bw_log'")));
}

TEST_F(JobFileTest, UnsupportedOptionsAtTheirDefaultChangeNothing) {
  EXPECT_EQ(warnings_of("verify=0\nunlink=0\ncontinue_on_error=none\nclat_percentiles=1"), "");
}

// PAR-06
TEST_F(JobFileTest, CommandLineOptionsAreNamedAsSuch) {
  for (const char* name :
       {"output-format", "output", "status-interval", "eta", "readonly", "output_format"})
    EXPECT_THAT(errors_of(std::string(name) + "=x"), HasSubstr("is an option of the command line"))
        << name;
}

// PAR-04
TEST_F(JobFileTest, AnOptionWithoutItsValueIsAnErrorNeverACrash) {
  for (const CoreOption& option : core_options()) {
    const std::string name(option.name);
    const bool flag = option.kind == CoreOption::Kind::kFlag;
    const std::string bare = errors_of(name);
    if (flag)
      EXPECT_THAT(bare, Not(HasSubstr("needs a value"))) << name;
    else
      EXPECT_THAT(bare, HasSubstr("the option '" + name + "' needs a value")) << name;
    EXPECT_THAT(errors_of(name + "="), HasSubstr("needs a value")) << name;
    EXPECT_THAT(errors_of(name + "=   "), HasSubstr("needs a value")) << name;
  }
}

// PAR-08
TEST_F(JobFileTest, WhatReportsCouldNotShowIsAnErrorButNotInComments) {
  EXPECT_THAT(errors_of("description=gr\xf6\xdf"), HasSubstr("t.fio:2:15: error: not valid UTF-8"));
  EXPECT_THAT(errors_of("description=\x1b[31m"), HasSubstr("a control character (0x1b)"));
  EXPECT_THAT(errors_of("description=\xC2\x9B"
                        "31m"),
              HasSubstr("a control character (U+0080 to U+009F)"));
  EXPECT_EQ(errors_of("bs=4k # gr\xf6\xdf\n; \xff\x01\ndescription=a\tb"), "");
  // The line is shown, without what a terminal would obey or could not show.
  EXPECT_THAT(errors_of("description=a\xC2\x9B\x9b\xff\x1bz"), HasSubstr("description=a?????z\n"));
  diagnostics = Diagnostics();
  parse("[j\xff]\nrw=read\n");
  EXPECT_THAT(errors(), Not(HasSubstr("before the first [section]")));
}

TEST_F(JobFileTest, RangesOfDelaysAndSeveralDirectories) {
  const auto all = jobs("[a]\nstartdelay=5-10\ndirectory=x:y\\:z\n[b]\nstartdelay=(1+1)\n");
  ASSERT_EQ(all.size(), 2u) << errors();
  EXPECT_EQ(all[0].startdelay_ns, 5'000'000'000);
  EXPECT_EQ(all[0].startdelay_max_ns, 10'000'000'000);
  EXPECT_EQ(all[0].directory, "x");
  EXPECT_EQ(all[0].more_directories, std::vector<std::string>{"y:z"});
  EXPECT_EQ(all[1].startdelay_ns, 2'000'000'000);
  EXPECT_EQ(all[1].startdelay_max_ns, 0);
  EXPECT_THAT(errors_of("startdelay=10-5"), HasSubstr("the range ends before it begins"));
}

TEST_F(JobFileTest, ZonesWithoutASizeShareWhatIsLeft) {
  const auto all = jobs("[a]\nrw=randread\nsize=1m\nrandom_distribution=zoned:60/10:30:10/\n");
  ASSERT_EQ(all.size(), 1u) << errors();
  const auto& zones = all[0].random_distribution[0].zones;
  ASSERT_EQ(zones.size(), 3u);
  EXPECT_EQ(zones[1].size_percent, 45);
  EXPECT_EQ(zones[2].size_percent, 45);
}

TEST_F(JobFileTest, WhatADistributionCannotBeIsToldWithItsPlace) {
  for (const char* value : {"zipf:0", "zipf:1", "zipf:1000", "pareto:0", "pareto:1", "normal:0",
                            "normal", "normal:100", "zipf:1.2:2"})
    EXPECT_THAT(errors_of("rw=randread\nrandom_distribution=" + std::string(value)),
                HasSubstr("t.fio:3:21: error: random_distribution:"))
        << value;
  for (const char* value : {"zipf", "zipf:100", "zipf:0.5:1", "pareto", "normal:0.1:1"})
    EXPECT_EQ(errors_of("rw=randread\nrandom_distribution=" + std::string(value)), "") << value;
}

TEST_F(JobFileTest, TimeBasedNeedsARuntime) {
  EXPECT_THAT(
      errors_of("ioengine=null\nsize=4k\nrw=write\ntime_based"),
      AllOf(HasSubstr("t.fio:5:1"), HasSubstr("the job \"j\" is time_based but has no runtime")));
  EXPECT_EQ(errors_of("time_based\nruntime=1"), "");
  for (const char* misread : {"runtime=abc", "runtim=10", "runtime="})
    EXPECT_THAT(errors_of(std::string("time_based\n") + misread), Not(HasSubstr("has no runtime")))
        << misread;
  EXPECT_EQ(errors_of("time_based=0"), "");
}

// SAF-03
TEST_F(JobFileTest, AnUndefinedVariableIsAnError) {
  options.access.variable = [](const std::string& name) -> std::optional<std::string> {
    if (name == "DEV") return "sdb";
    return std::nullopt;
  };
  EXPECT_THAT(errors_of("filename=/dev/${NOPE}"),
              AllOf(HasSubstr("t.fio:2:15: error: the environment variable NOPE is not set"),
                    HasSubstr("^~~~~~~")));
  diagnostics = Diagnostics();
  EXPECT_THAT(job("filename=/dev/${DEV}").filenames, ElementsAre("/dev/sdb"));
}

// PAR-01
TEST_F(JobFileTest, SizesAreFiosAndAnIecSuffixIsWarnedAboutOnce) {
  EXPECT_EQ(job("filesize=4MB").filesize.value, 4194304u);
  EXPECT_EQ(job("filesize=4m").filesize.value, 4194304u);
  EXPECT_EQ(job("filesize=4Mi").filesize.value, 4194304u);
  EXPECT_EQ(warnings(), "");
  EXPECT_EQ(job("filesize=4MiB").filesize.value, 4000000u);
  diagnostics = Diagnostics();
  const JobSpec spec = job("bs=4KiB\nsize=4MiB\nrate=1GiB");
  EXPECT_EQ(spec.block_sizes[0].min_bytes, 4000u);
  EXPECT_EQ(spec.rate_bytes_per_s[1], 1000000000u);
  EXPECT_EQ(diagnostics.warning_lines().size(), 1u) << warnings();
  diagnostics = Diagnostics();
  EXPECT_EQ(job("kb_base=1000\nbs=4KiB\nsize=8k").block_sizes[0].min_bytes, 4096u);
  EXPECT_EQ(job("bs=1k\nkb_base=1000").block_sizes[0].min_bytes, 1000u);  // order does not matter
  EXPECT_EQ(warnings(), "");
}

// PAR-02
TEST_F(JobFileTest, OddBlocksAreAnErrorOnDirectFilesAndAWarningOnRbd) {
  EXPECT_THAT(errors_of("kb_base=1000\nbs=1k\nsize=1m\nrw=read\ndirect=1"),
              HasSubstr("blocks of 1000 bytes cannot be read or written with direct=1"));
  EXPECT_EQ(errors_of("kb_base=1000\nbs=1k\nsize=1m\nrw=read"), "");
  EXPECT_THAT(
      warnings_of("ioengine=rbd\npool=p\nrbdname=i\nkb_base=1000\nbs=1k\nrw=write\ndirect=1"),
      HasSubstr("blocks of 1000 bytes are not a multiple of 512"));
}

// PAR-03
TEST_F(JobFileTest, ColonsInFileNames) {
  EXPECT_THAT(job("filename=/x/pci-0000\\:06\\:00:/y").filenames,
              ElementsAre("/x/pci-0000:06:00", "/y"));
  options.path_exists = [](const std::string& path) { return path == "/x/pci-0000:06:00"; };
  EXPECT_THAT(errors_of("filename=/x/pci-0000:06:00"),
              AllOf(HasSubstr("names 3 files that are not all there; but \"/x/pci-0000:06:00\" is"),
                    HasSubstr("write filename=/x/pci-0000\\:06\\:00")));
  EXPECT_EQ(errors_of("filename=/a:/b"), "");
}

// PAR-05
TEST_F(JobFileTest, AJobsFilesReplaceTheInheritedOnesInAnyOrder) {
  for (const char* lines : {"nrfiles=1\nfilename=x\nsize=4k", "filename=x\nsize=4k\nnrfiles=1"}) {
    const auto all = jobs(std::string("[global]\nfilename=a:b:c\n[j]\n") + lines + "\n");
    ASSERT_EQ(all.size(), 1u) << errors();
    EXPECT_THAT(all[0].filenames, ElementsAre("x"));
    EXPECT_EQ(all[0].nrfiles, 1);
  }
}

// PAR-09, and two sections of one name
TEST_F(JobFileTest, StagesGroupsAndSectionsOfOneName) {
  const auto all = jobs(
      "[p]\nstonewall\nrw=randread\nruntime=3\ntime_based\n[q]\nnew_group\n[p]"
      "\nstonewall\nstartdelay=5\n[r]\n");
  ASSERT_EQ(all.size(), 4u) << errors();
  EXPECT_EQ(all[0].stage, 0);
  EXPECT_EQ(all[1].stage, 0);
  EXPECT_EQ(all[2].stage, 1);
  EXPECT_EQ(all[3].stage, 1);
  EXPECT_EQ(all[0].group, 0);
  EXPECT_EQ(all[1].group, 1);
  EXPECT_EQ(all[2].group, 2);
  EXPECT_EQ(all[3].group, 2);
  EXPECT_EQ(all[0].name, all[2].name);
  EXPECT_NE(all[0].source, all[2].source);
  EXPECT_EQ(all[2].startdelay_ns, 5'000'000'000);
  EXPECT_THAT(warnings(), HasSubstr("counts from the start of its own stage"));
}

TEST_F(JobFileTest, GlobalsAffectJobsBelowOnly) {
  const auto all = jobs("[a]\nrw=read\n[global]\nbs=64k\n[b]\n[global x]\nbs=8k\niodepth=1\n[c]\n");
  ASSERT_EQ(all.size(), 3u) << errors();
  EXPECT_EQ(all[0].block_sizes[0].min_bytes, 4096u);
  EXPECT_EQ(all[1].block_sizes[0].min_bytes, 65536u);
  EXPECT_EQ(all[2].block_sizes[0].min_bytes, 8192u);
  parse("[a]\nrw=read\n[global]\nbs=8k\n");
  EXPECT_THAT(warnings(), HasSubstr("this section has no effect: no job stands below it"));
}

TEST_F(JobFileTest, EnginesAreNamed) {
  EXPECT_THAT(errors_of("ioengine=rdb\npool=p"),
              AllOf(HasSubstr("there is no engine \"rdb\""), HasSubstr("did you mean rbd?")));
  EXPECT_EQ(diagnostics.error_count(), 1u);
  EXPECT_THAT(errors_of("ioengine=http"),
              HasSubstr("fio knows the engine http, cephmark does not have it"));
  EXPECT_THAT(errors_of("ioengine=rbd\nrbdname=x"), HasSubstr("the job \"j\" needs pool="));
  EXPECT_THAT(
      errors_of("ioengine=rbd\npool=p\nrbdname=x\nrbd_encryption_format=luks1"),
      HasSubstr("fio's engine rbd knows 'rbd_encryption_format', cephmark does not honour it yet"));
  EXPECT_THAT(errors_of("ioengine = null"), HasSubstr("begins with a blank"));
  EXPECT_THAT(errors_of("ioengine=rbd\npool=p\nrbdname=x\nbusy_poll=7"),
              HasSubstr("busy_poll: \"7\" is not 0 or 1"));
}

// USE-03
TEST_F(JobFileTest, DepthIsCheckedAgainstTheEngine) {
  EXPECT_THAT(errors_of("ioengine=null\niodepth=70000"),
              HasSubstr("more than the engine null can have in flight"));
  EXPECT_THAT(warnings_of("iodepth=32"),
              HasSubstr("iodepth=32 has no effect: the engine psync does one I/O at a time"));
}

// USE-04
TEST_F(JobFileTest, OptionsThatContradictOrDoNothing) {
  EXPECT_THAT(errors_of("rate=1m\nrate_iops=10"),
              HasSubstr("rate and rate_iops exclude each other"));
  EXPECT_THAT(warnings_of("rw=randread\nrwmixread=70"),
              HasSubstr("rwmixread has no effect with rw=randread"));
  EXPECT_EQ(job("rw=randrw\nrwmixread=70\nrwmixwrite=70").rwmixread, 30);
  EXPECT_EQ(job("rw=randrw\nrwmixwrite=70\nrwmixread=60").rwmixread, 60);
  EXPECT_THAT(errors_of("size=1k"),
              HasSubstr("size: 1024 byte(s) is less than one block (4096 bytes)"));
}

TEST_F(JobFileTest, HowFilesAreOpenedAndGoneThrough) {
  for (const auto& [text, sync] :
       {std::pair{"none", SyncWrites::kNone}, std::pair{"0", SyncWrites::kNone},
        std::pair{"sync", SyncWrites::kSync}, std::pair{"1", SyncWrites::kSync},
        std::pair{"dsync", SyncWrites::kDsync}})
    EXPECT_EQ(job(std::string("sync=") + text).sync, sync) << text;
  EXPECT_TRUE(job("rw=write\noverwrite=1").overwrite);
  EXPECT_EQ(job("file_service_type=sequential").file_service_type, FileService::kSequential);
  EXPECT_THAT(errors_of("sync=2"), HasSubstr("sync"));
  EXPECT_THAT(warnings_of("ioengine=null\nsync=dsync"),
              HasSubstr("the engine null opens no files"));
  EXPECT_THAT(errors_of("file_service_type=zipf"), HasSubstr("not honoured"));
  EXPECT_THAT(errors_of("file_service_type=roundrobin:8"), HasSubstr("not honoured"));
  EXPECT_THAT(errors_of("file_service_type=x"), HasSubstr("roundrobin or sequential"));
  EXPECT_THAT(errors_of("rw=randread\nfile_service_type=sequential"),
              HasSubstr("drawn over all files"));
}

TEST_F(JobFileTest, TrapsKeepFiosValueAndAreWarnedAbout) {
  EXPECT_EQ(job("bs = 8k\nsize=1m").block_sizes[0].min_bytes, 8u);
  EXPECT_THAT(warnings(),
              HasSubstr("\" 8k\" is read as 8: fio sees no unit behind a blank after '='"));
  EXPECT_EQ(job("runtime=10sec").runtime_ns, 10'000);
  EXPECT_THAT(warnings(), HasSubstr("\"10sec\" is read as 10 us"));
  EXPECT_EQ(job("bs=4k-8k\nrw=rw\nrwmixread=5").block_sizes[1].min_bytes, 8192u);
  EXPECT_THAT(warnings(), HasSubstr("\"4k-8k\" is a list to fio"));
  EXPECT_THAT(job("filename=a#b").filenames, ElementsAre("a"));
  EXPECT_THAT(warnings(), HasSubstr("the value is \"a\""));
  EXPECT_THAT(errors_of("rw=\"read\""), HasSubstr("\"\"read\"\" is not a value of it"));
  diagnostics = Diagnostics();
  EXPECT_EQ(jobs("[jobx\nrw=read\n").at(0).name, "job");
  EXPECT_THAT(warnings(), HasSubstr("the section does not end with ']'"));
}

TEST_F(JobFileTest, TemplatesWorkInAnyOption) {
  const JobFile file = parse(
      "[{{.Host}}-{{ .Index }}]\nioengine=rbd\nrbdname={{.Name}}\npool={{.Pool}}\n"
      "offset={{.Index}}m\nruntime=1{{.Index}}\n");
  ASSERT_EQ(errors(), "");
  EXPECT_TRUE(file.has_templates());
  for (int i = 0; i < 1000; ++i) {
    const auto all =
        make_jobs(file, {"vm-" + std::to_string(i), i, "node", "volumes"}, diagnostics);
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].name, "node-" + std::to_string(i));
    EXPECT_EQ(all[0].engine_options.at("pool"), "volumes");
    EXPECT_EQ(all[0].engine_options.at("rbdname"), "vm-" + std::to_string(i));
    EXPECT_EQ(all[0].offset.value, i * uint64_t{1048576});
  }
  EXPECT_EQ(errors(), "");
  make_jobs(file, {"vm", 0, "node", ""}, diagnostics);
  EXPECT_THAT(errors(), HasSubstr("{{.Pool}} is used, but no pool was given"));
  EXPECT_THAT(errors_of("description={{.Nmae}}"),
              AllOf(HasSubstr("{{.Nmae}} is not a field of a job template"),
                    HasSubstr("did you mean {{.Name}}?")));
  EXPECT_THAT(errors_of("description={{.Name"), HasSubstr("\"{{\" without \"}}\""));
}

TEST_F(JobFileTest, ATemplateMayChooseTheUnit) {
  const auto all = jobs("[j]\nkb_base=10{{.Index}}\nbs=1k\nsize=1m\n", {"v", 24, "h", ""});
  EXPECT_THAT(errors(), HasSubstr("kb_base: \"100\" is not a value of it"));  // VM 0's value
}

TEST_F(JobFileTest, EffectiveOptionsTellDefaultsToo) {
  const auto all = effective_options(job("rw=randread\nruntime=1500ms\nbsrange=4k-64k"));
  EXPECT_THAT(all, testing::IsSupersetOf(
                       {Pair("iodepth", "1"), Pair("rw", "randread"), Pair("runtime", "1500000us"),
                        Pair("bsrange", "4096-65536"), Pair("ioengine", "psync"),
                        Pair("ramp_time", "0s"), Pair("random_distribution", "random")}));
}

TEST_F(JobFileTest, WhatWasReadInAnotherWayStandsBesideWhatItLedTo) {
  parse("[global]\nbs = 8k\n[j]\nsize=1.5g\n");
  try {
    diagnostics.throw_if_errors();
    FAIL() << "1 byte is no size for blocks of 8";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("error: size: 1 byte(s) is less than one block"),
                                    HasSubstr("warning: bs: \" 8k\" is read as 8"),
                                    HasSubstr("warning: size: \"1.5g\" is read as 1")));
  }
}

TEST_F(JobFileTest, OptionsAtTheValueThatChangesNothingAreTaken) {
  for (const char* line : {"unified_rw_reporting=none", "unified_rw_reporting=0", "verify=0"})
    EXPECT_EQ(errors_of(line), "") << line;
  for (const char* line : {"unified_rw_reporting=1", "unified_rw_reporting=", "percentile_list="})
    EXPECT_NE(errors_of(line), "") << line;
}

TEST_F(JobFileTest, AnUnknownEngineHidesNoOtherMistake) {
  EXPECT_THAT(errors_of("ioengine=rdb\niodeth=4\nrbdname=x"),
              AllOf(HasSubstr("there is no engine \"rdb\""), HasSubstr("did you mean iodepth?"),
                    Not(HasSubstr("rbdname"))));
}

TEST_F(JobFileTest, StructureMistakes) {
  parse("rw=read\n[j]\n");
  EXPECT_THAT(errors(), HasSubstr("stands before the first [section]"));
  diagnostics = Diagnostics();
  parse("# nothing\n");
  EXPECT_THAT(errors(), HasSubstr("t.fio: error: no job"));
  EXPECT_THROW(diagnostics.throw_if_errors(), UsageError);
}

TEST_F(JobFileTest, IncludesAreReadAndBounded) {
  options.access.read_file = [](const std::string& path) -> std::optional<std::string> {
    if (path == "common.inc") return "bs=16k\niodepth=1\n";
    if (path == "self.inc") return "include self.inc\ninclude self.inc\n";
    if (path == "bad.inc") return "[x]\nbos=1\n";
    return std::nullopt;
  };
  EXPECT_EQ(job("include common.inc").block_sizes[0].min_bytes, 16384u);
  EXPECT_THAT(errors_of("include self.inc"), HasSubstr("does a file include itself?"));
  EXPECT_THAT(errors_of("include bad.inc"),
              AllOf(HasSubstr("bad.inc:1:1: error: a section inside an included file"),
                    HasSubstr("bad.inc:2:1: error: there is no option 'bos'")));
  EXPECT_THAT(errors_of("include nope"), HasSubstr("cannot read the included file \"nope\""));
}

TEST_F(JobFileTest, WindowsTextsAndMissingNewlinesAreFine) {
  const auto all = jobs("\xEF\xBB\xBF[j]\r\n\trw=write\r\n  bs=8k\t \r\n;x\r\niodepth=1");
  ASSERT_EQ(all.size(), 1u) << errors();
  EXPECT_EQ(all[0].block_sizes[1].min_bytes, 8192u);
  EXPECT_TRUE(all[0].rw.writes);
}

}  // namespace
}  // namespace cephmark
