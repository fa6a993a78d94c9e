package dev.sluice.app.whatif;

import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.forecast.trace.Trace;
import dev.sluice.forecast.trace.TraceFormat;
import dev.sluice.forecast.whatif.PlayInput;
import dev.sluice.forecast.whatif.RecordedPast;
import dev.sluice.forecast.whatif.TracePast;
import dev.sluice.forecast.whatif.WhatIf;
import dev.sluice.journal.JournalCommand;
import dev.sluice.journal.JournalHistory;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code sluice what-if}: the same work under other rules. */
@Command(
    name = "what-if",
    description = {
      "Plays the work of a journal or of a trace twice, as it was and with what a file changes, and"
          + " compares waits, use, preemptions and lost work.",
      "The file has ClusterQueues, Cohorts, LocalQueues, ResourceFlavors, Topologies and Nodes as"
          + " they shall be; an object with the annotation sluice.dev/what-if: removed is taken away."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:the comparison was printed",
      "1:the file declares something that isn't understood; the message says what",
      "2:the command line is wrong",
      "3:a file can't be read or written"
    })
public final class WhatIfCommand implements Callable<Integer> {

  private static final Duration NEAR = Duration.ofSeconds(10);

  /** What is printed. */
  private enum Output {
    TABLE,
    JSON
  }

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = {"-f", "--filename"},
      paramLabel = "FILE",
      required = true,
      description = "What is changed, YAML or JSON.")
  private Path file = Path.of("");

  @Option(names = "--journal", paramLabel = "DIR", description = "The journal of the past.")
  private @Nullable Path journal;

  @Mixin private JournalCommand.RangeOptions range = new JournalCommand.RangeOptions();

  @Option(names = "--trace", paramLabel = "FILE", description = "A trace instead of a journal.")
  private @Nullable Path trace;

  @Option(
      names = "--format",
      paramLabel = "FORMAT",
      defaultValue = "swf",
      description = "Format of the trace: swf, helios or alibaba (default: ${DEFAULT-VALUE}).")
  private String format = "swf";

  @Option(
      names = "--cluster",
      paramLabel = "FILE",
      description =
          "What the trace runs on before the change, YAML or JSON; else one queue of the trace's"
              + " size.")
  private @Nullable Path cluster;

  @Option(
      names = "--load",
      paramLabel = "FACTOR",
      defaultValue = "1.0",
      description =
          "By what the times between submissions of the trace are divided (default:"
              + " ${DEFAULT-VALUE}).")
  private double load = 1;

  @Option(names = "--html", paramLabel = "FILE", description = "Writes a page with plots as well.")
  private @Nullable Path html;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FORMAT",
      description = "table or json; table unless given.")
  private Output output = Output.TABLE;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    if ((journal == null) == (trace == null)) {
      throw new ParameterException(spec.commandLine(), "one of --journal and --trace is needed");
    }
    if (!(load > 0 && load <= 1_000)) {
      throw new ParameterException(
          spec.commandLine(), "--load: " + load + " must be above 0 and at most 1000");
    }
    TraceFormat traceFormat =
        TraceFormat.of(format)
            .orElseThrow(
                () ->
                    new ParameterException(
                        spec.commandLine(),
                        "--format: \"" + format + "\" is none of swf, helios, alibaba"));
    try {
      List<SchedulerEvent> changes = DeclarationFile.read(file);
      WhatIfComparison comparison =
          journal != null ? ofJournal(journal, changes) : ofTrace(traceFormat, changes);
      if (output == Output.JSON) {
        out.println(comparison.document().toPrettyString());
      } else {
        comparison.lines().forEach(out::println);
      }
      out.flush();
      if (html != null) {
        Files.writeString(html, new WhatIfPage(comparison).html());
      }
      return 0;
    } catch (IllegalArgumentException e) {
      err.println("sluice: " + e.getMessage());
      return 1;
    } catch (IOException e) {
      err.println("sluice: " + e.getMessage());
      return 3;
    }
  }

  private WhatIfComparison ofJournal(Path directory, List<SchedulerEvent> changes)
      throws IOException {
    if (!Files.isDirectory(directory)) {
      throw new IOException(directory + " is no directory");
    }
    RecordedPast past =
        new RecordedPast(JournalHistory.between(directory, range.from(), range.to()));
    PlayInput playInput = past.input();
    WhatIf.Played before = WhatIf.play(playInput, List.of());
    List<String> remarks = new ArrayList<>(playInput.remarks());
    remarks.add(fidelity(past.starts(), before.starts()));
    return comparison(before, WhatIf.play(playInput, changes), changes, remarks);
  }

  /** How well the play of the unchanged past is the past. */
  private static String fidelity(
      Map<WorkloadId, List<Instant>> recorded, Map<WorkloadId, List<Instant>> played) {
    long near =
        recorded.entrySet().stream()
            .filter(
                each -> {
                  List<Instant> starts = played.get(each.getKey());
                  return starts != null
                      && Duration.between(starts.getFirst(), each.getValue().getFirst())
                              .abs()
                              .compareTo(NEAR)
                          <= 0;
                })
            .count();
    return "with nothing changed, %d of %d Workloads that started in the journal start within %d seconds of their time"
        .formatted(near, recorded.size(), NEAR.toSeconds());
  }

  private WhatIfComparison ofTrace(TraceFormat traceFormat, List<SchedulerEvent> changes)
      throws IOException {
    Path from = trace == null ? Path.of("") : trace;
    Trace read;
    try (InputStream in = Files.newInputStream(from)) {
      read = Trace.read(in, traceFormat);
    }
    if (read.jobs().isEmpty()) {
      throw new IllegalArgumentException(
          from + " has no jobs to play; " + String.join("; ", read.errors()));
    }
    List<SchedulerEvent> declared =
        cluster == null ? TracePast.oneQueue(read.jobs()) : DeclarationFile.read(cluster);
    PlayInput playInput = TracePast.of(read.jobs(), declared, load);
    List<String> remarks = new ArrayList<>();
    if (read.skipped() + read.malformed() > 0) {
      remarks.add(
          "%d jobs were left out, since nobody knows how long they ran or what they had, and %d malformed lines"
              .formatted(read.skipped(), read.malformed()));
    }
    return comparison(
        WhatIf.play(playInput, List.of()), WhatIf.play(playInput, changes), changes, remarks);
  }

  private static WhatIfComparison comparison(
      WhatIf.Played before,
      WhatIf.Played after,
      List<SchedulerEvent> changes,
      List<String> remarks) {
    return new WhatIfComparison(
        before.outcome(),
        after.outcome(),
        changes.stream().map(DeclarationFile::text).toList(),
        remarks);
  }
}
