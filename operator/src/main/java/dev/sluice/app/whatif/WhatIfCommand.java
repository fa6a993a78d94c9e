package dev.sluice.app.whatif;

import dev.sluice.api.config.Configuration;
import dev.sluice.api.config.ConfigurationException;
import dev.sluice.api.config.ConfigurationLoader;
import dev.sluice.api.config.GoDuration;
import dev.sluice.app.module.OptionsMapper;
import dev.sluice.app.whatif.WhatIfComparison.ResultTable;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.forecast.trace.Trace;
import dev.sluice.forecast.trace.TraceFormat;
import dev.sluice.forecast.whatif.PlayInput;
import dev.sluice.forecast.whatif.PlayOutcome;
import dev.sluice.forecast.whatif.PlayOutcome.Course;
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
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
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

  /**
   * One page of HTML that needs nothing else: no script, no network, no other file. It is light or
   * dark as the reader's system is.
   */
  private static final class WhatIfPage {

    /** The most ClusterQueues that get plots of their own; tables have all. */
    private static final int QUEUES = 40;

    private static final int WIDTH = 640;
    private static final int HEIGHT = 200;
    private static final int LEFT = 56;
    private static final int RIGHT = 12;
    private static final int TOP = 26;
    private static final int BOTTOM = 34;

    private static final String STYLE =
        """
        :root { color-scheme: light dark; --ink: #1f2328; --paper: #ffffff; --rule: #d1d9e0; --before: #6e7781; --after: #0969da; }
        @media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --rule: #30363d; --before: #9198a1; --after: #4493f8; } }
        body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
        table { border-collapse: collapse; margin: .5rem 0 1.5rem; } th, td { border-bottom: 1px solid var(--rule); padding: .2rem .8rem .2rem 0; text-align: left; white-space: nowrap; }
        .wide { overflow-x: auto; } .plots { display: flex; flex-wrap: wrap; gap: 1rem; }
        svg { max-width: 100%; height: auto; } svg text { fill: var(--ink); font: 11px system-ui, sans-serif; }
        .grid { stroke: var(--rule); } .before, .after { fill: none; stroke-width: 1.6; }
        .before { stroke: var(--before); stroke-dasharray: 5 3; } .after { stroke: var(--after); }
        """;

    private final WhatIfComparison comparison;
    private final StringBuilder html = new StringBuilder();

    WhatIfPage(WhatIfComparison comparison) {
      this.comparison = comparison;
    }

    /** The page. */
    String html() {
      html.setLength(0);
      PlayOutcome before = comparison.before();
      html.append("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">")
          .append("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")
          .append("<title>Sluice: what if</title><style>\n")
          .append(STYLE)
          .append("</style></head><body>\n<h1>What if</h1>\n");
      paragraph("From " + before.begin() + " to " + before.end() + ".");
      paragraph(
          "Changed: "
              + (comparison.changes().isEmpty()
                  ? "nothing"
                  : String.join(", ", comparison.changes()))
              + ".");
      comparison.remarks().forEach(this::paragraph);
      paragraph("In plots the dashed line is before the change, the other one after it.");
      html.append("<div class=\"plots\">\n");
      plots();
      html.append("</div>\n");
      comparison.tables().forEach(this::table);
      return html.append("</body></html>\n").toString();
    }

    private void paragraph(String text) {
      html.append("<p>").append(escaped(text)).append("</p>\n");
    }

    private void table(ResultTable table) {
      html.append("<h2>").append(escaped(table.title())).append("</h2>\n");
      if (table.rows().isEmpty()) {
        paragraph("None.");
        return;
      }
      html.append("<div class=\"wide\"><table><thead>");
      row("th", table.head());
      html.append("</thead><tbody>\n");
      table.rows().forEach(row -> row("td", row));
      html.append("</tbody></table></div>\n");
    }

    private void row(String cell, List<String> texts) {
      html.append("<tr>");
      for (String text : texts) {
        html.append('<').append(cell).append('>').append(escaped(text));
        html.append("</").append(cell).append('>');
      }
      html.append("</tr>\n");
    }

    private void plots() {
      PlayOutcome before = comparison.before();
      PlayOutcome after = comparison.after();
      plot(
          "Waits: so many of 100 Workloads waited so many minutes at most",
          List.of("0", "50", "100"),
          minutes(before.waits().getFirst().percentileSeconds()),
          minutes(after.waits().getFirst().percentileSeconds()));
      Set<String> queues = new TreeSet<>(before.courses().keySet());
      queues.addAll(after.courses().keySet());
      double hours = Duration.between(before.begin(), before.end()).toMillis() / 3_600_000.0;
      List<String> times = List.of("0 h", hours(hours / 2), hours(hours));
      for (String queue : queues.stream().limit(QUEUES).toList()) {
        Course one = before.courses().get(queue);
        Course other = after.courses().get(queue);
        plot(queue + ": Workloads that wait", times, waiting(one), waiting(other));
        Set<String> resources = new TreeSet<>();
        for (Course course : courses(one, other)) {
          resources.addAll(course.used().keySet());
        }
        for (String resource : resources) {
          plot(
              queue + ": " + resource + " in use",
              times,
              used(one, resource),
              used(other, resource));
        }
      }
    }

    private static List<Course> courses(@Nullable Course one, @Nullable Course other) {
      List<Course> courses = new ArrayList<>();
      if (one != null) {
        courses.add(one);
      }
      if (other != null) {
        courses.add(other);
      }
      return courses;
    }

    private static List<Double> waiting(@Nullable Course course) {
      return course == null ? List.of() : course.waiting();
    }

    private static List<Double> used(@Nullable Course course, String resource) {
      return course == null ? List.of() : course.used().getOrDefault(resource, List.of());
    }

    private static List<Double> minutes(List<Double> seconds) {
      return seconds.stream().map(each -> each / 60).toList();
    }

    private static String hours(double hours) {
      return String.format(Locale.ROOT, hours < 10 ? "%.1f h" : "%.0f h", hours);
    }

    /** Two lines over the same axis. */
    private void plot(String title, List<String> ticks, List<Double> before, List<Double> after) {
      double top =
          Math.max(
              before.stream().max(Double::compare).orElse(0.0),
              after.stream().max(Double::compare).orElse(0.0));
      top = top <= 0 ? 1 : top;
      add(
          "<svg width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">",
          WIDTH, HEIGHT, WIDTH, HEIGHT);
      add("<title>%s</title>", escaped(title));
      text(LEFT, 15, "start", title);
      for (int i = 0; i <= 2; i++) {
        double y = HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * i / 2.0;
        add(
            "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>",
            LEFT, y, WIDTH - RIGHT, y);
        text(LEFT - 6, y + 4, "end", number(top * i / 2));
        text(
            LEFT + (WIDTH - LEFT - RIGHT) * i / 2.0,
            HEIGHT - BOTTOM + 18,
            List.of("start", "middle", "end").get(i),
            ticks.get(i));
      }
      line("before", before, top);
      line("after", after, top);
      html.append("</svg>\n");
    }

    private void line(String style, List<Double> values, double top) {
      StringBuilder points = new StringBuilder();
      for (int i = 0; i < values.size(); i++) {
        double x = LEFT + (WIDTH - LEFT - RIGHT) * (double) i / Math.max(1, values.size() - 1);
        double y = HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * values.get(i) / top;
        points.append(String.format(Locale.ROOT, "%.1f,%.1f ", x, y));
      }
      add("<polyline class=\"%s\" points=\"%s\"/>", style, points.toString().strip());
    }

    private void text(double x, double y, String anchor, String text) {
      add("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>", x, y, anchor, escaped(text));
    }

    private void add(String format, Object... values) {
      html.append(String.format(Locale.ROOT, format, values)).append('\n');
    }

    private static String number(double value) {
      return value >= 1e9
          ? String.format(Locale.ROOT, "%.1fG", value / 1e9)
          : String.format(Locale.ROOT, value >= 100 ? "%,.0f" : "%.1f", value);
    }

    private static String escaped(String text) {
      StringBuilder escaped = new StringBuilder();
      for (int i = 0; i < text.length(); i++) {
        char each = text.charAt(i);
        switch (each) {
          case '&' -> escaped.append("&amp;");
          case '<' -> escaped.append("&lt;");
          case '>' -> escaped.append("&gt;");
          case '"' -> escaped.append("&quot;");
          default -> escaped.append(each);
        }
      }
      return escaped.toString();
    }
  }

  /** The option {@code --format} of commands that read a trace. */
  public static final class TraceFormatOption {

    @Option(
        names = "--format",
        paramLabel = "FORMAT",
        defaultValue = "swf",
        description = "Format of the trace: swf, helios or alibaba (default: ${DEFAULT-VALUE}).")
    private String format = "swf";

    /**
     * The format that was given.
     *
     * @param spec the command
     * @throws ParameterException if there is no such format
     */
    public TraceFormat format(CommandSpec spec) {
      return TraceFormat.of(format)
          .orElseThrow(
              () ->
                  new ParameterException(
                      spec.commandLine(),
                      "--format: \"" + format + "\" is none of swf, helios, alibaba"));
    }
  }
}
