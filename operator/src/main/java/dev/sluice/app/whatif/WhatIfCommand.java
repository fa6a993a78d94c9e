package dev.sluice.app.whatif;

import dev.sluice.api.config.Configuration;
import dev.sluice.api.config.ConfigurationException;
import dev.sluice.api.config.ConfigurationLoader;
import dev.sluice.api.config.GoDuration;
import dev.sluice.app.module.OptionsMapper;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.forecast.trace.Trace;
import dev.sluice.forecast.trace.TraceFormat;
import dev.sluice.forecast.whatif.PlayInput;
import dev.sluice.forecast.whatif.RecordedPast;
import dev.sluice.forecast.whatif.TracePast;
import dev.sluice.forecast.whatif.WhatIf;
import dev.sluice.journal.JournalCommand;
import dev.sluice.journal.JournalHistory;
import dev.sluice.kube.client.KubeconfigOption;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
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
      "Plays the work of a journal or of a trace, or what a cluster has now, twice: as it is and"
          + " with what a file changes, and compares waits, use, preemptions and lost work.",
      "The file has ClusterQueues, Cohorts, LocalQueues, ResourceFlavors, Topologies, Nodes and"
          + " WorkloadPriorityClasses as they shall be; an object with the annotation"
          + " sluice.dev/what-if: removed is taken away."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:the comparison was printed",
      "1:the file declares something that isn't understood, or the API server refused; the message"
          + " says what",
      "2:the command line is wrong",
      "3:a file can't be read or written, or the cluster can't be reached"
    })
public final class WhatIfCommand implements Callable<Integer> {

  private static final Duration NEAR = Duration.ofSeconds(10);

  /** Where the operator is, unless its configuration says otherwise. */
  private static final String NAMESPACE = "kueue-system";

  private static final Duration LONGEST = Duration.ofHours(8_760);

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

  @Mixin private TraceFormatOption traceFormatOption = new TraceFormatOption();

  @Option(
      names = "--cluster",
      paramLabel = "FILE",
      description =
          "What the trace runs on before the change, YAML or JSON, or the nodes' file (.csv or"
              + " .csv.gz) of a trace of format alibaba: one queue of their size; else one of the"
              + " trace's size.")
  private @Nullable Path cluster;

  @Option(
      names = "--load",
      paramLabel = "FACTOR",
      defaultValue = "1.0",
      description =
          "By what the times between submissions of the trace are divided (default:"
              + " ${DEFAULT-VALUE}).")
  private double load = 1;

  @Option(
      names = "--for",
      paramLabel = "DURATION",
      description =
          "Instead of a journal: what the cluster has now, played from now on for so long, such as"
              + " 24h.")
  private @Nullable String horizon;

  @Mixin private KubeconfigOption kubeconfig = new KubeconfigOption();

  @Option(
      names = "--run-time",
      paramLabel = "DURATION",
      defaultValue = "1h",
      description =
          "With --for: of Workloads whose run time nobody knows (default: ${DEFAULT-VALUE}).")
  private String runTime = "1h";

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "With --for: the operator's configuration file.")
  private @Nullable Path config;

  @Option(names = "--html", paramLabel = "FILE", description = "Writes a page with plots as well.")
  private @Nullable Path html;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FORMAT",
      description = "table or json; table unless given.")
  private Output output = Output.TABLE;

  @Override
  public Integer call() {
    PrintWriter err = spec.commandLine().getErr();
    if (Stream.of(journal, trace, horizon).filter(Objects::nonNull).count() != 1) {
      throw new ParameterException(
          spec.commandLine(), "one of --journal, --trace and --for is needed");
    }
    if (horizon != null) {
      Duration length = duration("--for", horizon);
      Duration unknown = duration("--run-time", runTime);
      return kubeconfig.exitCode(spec, () -> written(() -> ofCluster(length, unknown)));
    }
    if (!(load > 0 && load <= 1_000)) {
      throw new ParameterException(
          spec.commandLine(), "--load: " + load + " must be above 0 and at most 1000");
    }
    TraceFormat traceFormat = traceFormatOption.format(spec);
    try {
      return written(() -> journal != null ? ofJournal(journal) : ofTrace(traceFormat));
    } catch (IOException e) {
      err.println("sluice: " + e.getMessage());
      return 3;
    }
  }

  /** Compares two plays. */
  @FunctionalInterface
  private interface Comparison {
    WhatIfComparison made() throws IOException;
  }

  /** Prints a comparison; returns the exit code. */
  private int written(Comparison comparison) throws IOException {
    PrintWriter out = spec.commandLine().getOut();
    try {
      WhatIfComparison made = comparison.made();
      if (output == Output.JSON) {
        out.println(made.document().toPrettyString());
      } else {
        made.lines().forEach(out::println);
      }
      out.flush();
      if (html != null) {
        Files.writeString(html, new WhatIfPage(made).html());
      }
      return 0;
    } catch (IllegalArgumentException e) {
      spec.commandLine().getErr().println("sluice: " + e.getMessage());
      return 1;
    }
  }

  private Duration duration(String option, String text) {
    try {
      Duration read = GoDuration.parse(text);
      if (read.isPositive() && read.compareTo(LONGEST) <= 0) {
        return read;
      }
    } catch (IllegalArgumentException notDuration) {
      // told below, as any other value that isn't allowed
    }
    throw new ParameterException(
        spec.commandLine(),
        option + ": \"" + text + "\" must be a duration above 0 and of at most 8760h, such as 24h");
  }

  private WhatIfComparison ofCluster(Duration length, Duration unknown) throws IOException {
    DeclarationFile.Declared declared = DeclarationFile.read(file);
    try (KubernetesClient client =
        new KubernetesClientBuilder().withConfig(kubeconfig.config()).build()) {
      Configuration configuration =
          ConfigurationLoader.load(Optional.ofNullable(config), Optional.empty(), () -> NAMESPACE);
      LivePresent present =
          new LivePresent(
              client,
              new LivePresent.Options(
                  new OptionsMapper(configuration), configuration.namespace(), length, unknown),
              Instant.now().truncatedTo(ChronoUnit.MILLIS));
      PlayInput presentInput = present.input();
      PlayInput otherInput = present.input(declared);
      return comparison(
          WhatIf.play(presentInput, List.of()),
          changed(otherInput, declared),
          declared,
          remarks(presentInput, otherInput, declared));
    } catch (ConfigurationException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted");
    }
  }

  /** Plays with what the file declares, and with the factors of its schedules. */
  private static WhatIf.Played changed(PlayInput playInput, DeclarationFile.Declared declared) {
    return WhatIf.play(
        playInput,
        declared.at(playInput.begin()),
        declared.later(playInput.begin(), playInput.end()));
  }

  /** What isn't as it was or would be, and whom back-fill can't help in one of the plays. */
  private static List<String> remarks(
      PlayInput presentInput, PlayInput otherInput, DeclarationFile.Declared declared) {
    Set<String> all = new LinkedHashSet<>(presentInput.remarks());
    all.addAll(WhatIf.unbounded(presentInput, List.of()));
    all.addAll(WhatIf.unbounded(otherInput, declared.events()));
    return new ArrayList<>(all);
  }

  /** What the file declares, where nobody knows from which classes priorities come. */
  private DeclarationFile.Declared declared() throws IOException {
    DeclarationFile.Declared declared = DeclarationFile.read(file);
    if (!declared.priorities().isEmpty()) {
      throw new IllegalArgumentException(
          "WorkloadPriorityClass "
              + declared.priorities().keySet().iterator().next()
              + ": only with --for can it be changed, since journals and traces have priorities and"
              + " not where they come from");
    }
    return declared;
  }

  private WhatIfComparison ofJournal(Path directory) throws IOException {
    DeclarationFile.Declared declared = declared();
    if (!Files.isDirectory(directory)) {
      throw new IOException(directory + " is no directory");
    }
    RecordedPast past =
        new RecordedPast(JournalHistory.between(directory, range.from(), range.to()));
    PlayInput playInput = past.input();
    WhatIf.Played before = WhatIf.play(playInput, List.of());
    List<String> remarks = remarks(playInput, playInput, declared);
    remarks.add(fidelity(past.starts(), before.starts()));
    return comparison(before, changed(playInput, declared), declared, remarks);
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

  private WhatIfComparison ofTrace(TraceFormat traceFormat) throws IOException {
    DeclarationFile.Declared declared = declared();
    Path from = trace == null ? Path.of("") : trace;
    Trace read;
    try (InputStream in = Files.newInputStream(from)) {
      read = Trace.read(in, traceFormat);
    }
    if (read.jobs().isEmpty()) {
      throw new IllegalArgumentException(
          from + " has no jobs to play; " + String.join("; ", read.errors()));
    }
    DeclarationFile.Declared queues = new DeclarationFile.Declared();
    if (cluster == null) {
      queues.events().addAll(TracePast.oneQueue(read.jobs()));
    } else if (traceFormat == TraceFormat.ALIBABA && isTable(cluster)) {
      try (InputStream in = Files.newInputStream(cluster)) {
        queues.events().addAll(TracePast.oneQueue(Trace.alibabaNodes(in)));
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(cluster + ": " + e.getMessage(), e);
      }
    } else {
      queues = DeclarationFile.read(cluster);
    }
    PlayInput playInput =
        TracePast.of(read.jobs(), queues.at(read.jobs().getFirst().submittedAt()), load);
    playInput = playInput.with(queues.later(playInput.begin(), playInput.end()));
    List<String> remarks = remarks(playInput, playInput, declared);
    if (read.skipped() + read.malformed() > 0) {
      remarks.add(
          "%d jobs were left out, since nobody knows how long they ran or what they had, and %d malformed lines"
              .formatted(read.skipped(), read.malformed()));
    }
    return comparison(
        WhatIf.play(playInput, List.of()), changed(playInput, declared), declared, remarks);
  }

  private static boolean isTable(Path file) {
    return file.toString().endsWith(".csv") || file.toString().endsWith(".csv.gz");
  }

  private static WhatIfComparison comparison(
      WhatIf.Played before,
      WhatIf.Played after,
      DeclarationFile.Declared declared,
      List<String> remarks) {
    return new WhatIfComparison(before.outcome(), after.outcome(), declared.lines(), remarks);
  }
}
