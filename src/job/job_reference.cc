#include "job/job_reference.h"

#include <fmt/format.h>

#include "job/job_draft.h"
#include "job/known_options.h"

namespace cephmark {

namespace {

constexpr std::string_view kLanguage = R"(# Job files

<!-- Rendered from the option tables in src/job. Do not edit: change the table, then run
     CEPHMARK_UPDATE_DOCS=1 ctest -R JobReference -->

cephmark reads fio's job files: the same text gives the same work, value for value. All mistakes in a file are
reported at once, each with its line, a caret and a suggestion; what fio reads in a way that few people mean is
kept as fio reads it and warned about. `examples/` has files to begin with.

## Lines

- `[name]` begins a job, `[global]` (any name that begins so) gives defaults to the jobs below it. Two sections of one
  name are two jobs.
- `option=value`, or a bare `option` where it is a flag. No blanks around `=`: in fio they belong to the value, and
  `bs = 8k` is 8 bytes.
- `#` and `;` begin a comment, also in the middle of a line and inside quotes. Quotes are part of a value.
- `include FILE` reads more options of the section, from the working directory or from beside the including file.
- `${VARIABLE}` is taken from the environment. A variable that is not set is an error (fio puts nothing in its place).
- `$ncpus`, `$pagesize`, `$mb_memory` are numbers, and `+ - * /` with one of them are calculated.
- `{{.Name}}`, `{{.Index}}`, `{{.Host}}`, `{{.Pool}}` in a value (or a section's name) are filled in for each VM.
- Within a section the order of lines has no meaning, except that the last of several equal options counts. A value in
  a job replaces the one in `[global]` completely, lists too.

## Numbers

- Sizes: `k m g t p` (also `kb`, `Ki`...) are powers of 1024; **`KiB MiB GiB` are powers of 1000**. With `kb_base=1000`
  it is the other way round. Engines' own options always use 1024.
- No decimals: `1.5k` is 1. An unknown unit is ignored: `4q` is 4. `0x` makes a number hexadecimal.
- Times: `us ms s m h d`; a bare number is seconds. **Anything else is microseconds: `10sec` is 10 us.**
- Per cent (`size`, `io_size`, `offset`, `offset_increment`): of the target's size, up to `100%`.
- `READ,WRITE,TRIM`: one value is for all three, the last of two for writes and trims, an empty one keeps the default.
- `(4k + 4k)`, `(1h+30m)`: whole numbers with their units and `+ - * / %`, brackets around all of it. A time without a
  unit in it has the option's own.
- Flags and booleans are `0` or `1`.

All of these are warned about where they are likely not meant.

## Where cephmark differs from fio

| fio | cephmark |
|---|---|
| `size=150%` runs for ever, `numjobs=0` starts 2^32 jobs, `time_based` without `runtime` runs once | errors |
| an unset `${VARIABLE}` becomes nothing | an error |
| `startdelay` counts from the start of the run, also behind a `stonewall` | counts from the start of the job's own stage |
| engine options in `[global]` need the engine there too | the engine of each job decides |
| `filename=/dev/disk/by-path/pci-0000:06` silently names two files | an error when the whole is a path that exists |
| `fsync=N` flushes before the write that follows N others, so not behind the last one | behind every Nth write, the last one too |
| `loops` drops caches before each loop (`invalidate`) | before the job begins |
| options without effect (`iodepth` with psync, `rwmixread` with `rw=read`) are silent | a warning |
| options that fio knows and cephmark does not honour yet | an error; with `--allow-unsupported` a warning that is kept in the result |

## Options

)";

std::string_view kind_name(OptionKind kind) {
  switch (kind) {
    case OptionKind::kText:
      return "text";
    case OptionKind::kInteger:
      return "number";
    case OptionKind::kSize:
      return "size";
    case OptionKind::kTime:
      return "time";
    case OptionKind::kBool:
      return "0 or 1";
    case OptionKind::kFlag:
      return "flag";
    case OptionKind::kChoice:
      return "word";
    case OptionKind::kList:
      return "list";
  }
  return "";
}

std::string row_text(std::string_view name, std::string_view alias, std::string_view kind,
                     std::string_view default_value, std::string_view help) {
  const std::string names =
      alias.empty() ? fmt::format("`{}`", name) : fmt::format("`{}`, `{}`", name, alias);
  return fmt::format("| {} | {} | {} | {} |\n", names, kind, default_value, help);
}

}  // namespace

std::string render_job_reference() {
  std::string out(kLanguage);
  out += "| option | value | default | meaning |\n|---|---|---|---|\n";
  for (const CoreOption& option : core_options())
    out += row_text(option.name, option.alias, kind_name(option.kind), option.default_value,
                    option.help);
  out +=
      "\nEach engine adds options of its own: see engines.md.\n\n## Options of fio "
      "that are not honoured yet\n\n";
  std::string line;
  for (const KnownOption& option : known_options()) {
    if (!option.engine.empty() || find_core_option(option.name)) continue;
    const std::string word =
        option.neutral.empty()
            ? fmt::format("`{}`", option.name)
            : fmt::format("`{}` (accepted as `{}={}`)", option.name, option.name, option.neutral);
    if (!line.empty() && line.size() + word.size() > 115) {
      out += line + ",\n";
      line.clear();
    }
    line += (line.empty() ? "" : ", ") + word;
  }
  return out + line + "\n";
}

std::string render_engine_reference(std::span<const EngineDescription> engines) {
  std::string out =
      "# Engines\n\n<!-- Rendered from the engine table. Do not edit: change the table, then run\n"
      "     CEPHMARK_UPDATE_DOCS=1 ctest -R EngineReference -->\n\n"
      "The options of each engine, for job files (job-file.md has those that all engines "
      "share).\n\n";
  for (const EngineDescription& engine : engines) {
    out += fmt::format("## {}\n\n{}\n\n", engine.name, engine.summary);
    if (engine.options.empty()) continue;
    out += "| option | value | default | meaning |\n|---|---|---|---|\n";
    for (const EngineOption& option : engine.options)
      out += row_text(option.name, option.alias, kind_name(option.kind),
                      option.required ? std::string_view("required") : option.default_value,
                      option.help);
    out += "\n";
  }
  while (out.size() > 1 && out[out.size() - 2] == '\n') out.pop_back();  // ends with one newline
  return out;
}

}  // namespace cephmark
