package dev.sluice.lab.bench.trace;

import dev.sluice.app.whatif.TraceFormatOption;
import dev.sluice.forecast.trace.Trace;
import dev.sluice.forecast.trace.TraceFormat;
import dev.sluice.forecast.trace.TraceJob;
import dev.sluice.lab.bench.month.JobTrace;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options that say which jobs are played. */
public final class TraceOptions {

  /** How far run times of a user are spread, and those that repeat. */
  private static final double VARYING = 0.5;

  private static final double REPEATING = 0.05;

  /** Where the jobs come from. */
  static final class Origin {
    @Option(names = "--trace", paramLabel = "FILE", description = "The jobs of a trace.")
    private @Nullable Path trace;

    @Option(
        names = "--made-up",
        paramLabel = "NUMBER",
        description = "So many made-up jobs, which are written in the format and read again.")
    private int madeUp;

    @Option(
        names = "--repeating",
        paramLabel = "NUMBER",
        description = "The same, but each user's jobs last equally long, give or take a twentieth.")
    private int repeating;

    @Option(
        names = "--month",
        paramLabel = "NUMBER",
        description = "So many jobs of the month that \"bench month\" simulates.")
    private int month;
  }

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec = CommandSpec.create();

  @ArgGroup(multiplicity = "1")
  private Origin origin = new Origin();

  @Mixin private TraceFormatOption traceFormatOption = new TraceFormatOption();

  /**
   * Reads or makes up the jobs, and prints how many a trace has.
   *
   * @throws ParameterException if an option is wrong
   * @throws IOException if the trace can't be read, or has no jobs to play; the message says why
   */
  public List<TraceJob> read() throws IOException {
    TraceFormat traceFormat = traceFormatOption.format(spec);
    Path file = origin.trace;
    if (file == null && Math.max(origin.madeUp, Math.max(origin.repeating, origin.month)) < 2) {
      throw new ParameterException(
          spec.commandLine(), "--made-up, --repeating and --month must be 2 or more");
    }
    if (origin.month > 0) {
      return JobTrace.jobs(origin.month);
    }
    Trace trace;
    try (InputStream in = file == null ? madeUp(traceFormat) : Files.newInputStream(file)) {
      trace = Trace.read(in, traceFormat);
    } catch (IOException e) {
      throw new IOException("can't read " + file + ": " + e.getMessage(), e);
    }
    if (trace.jobs().size() < 2) {
      throw new IOException(file + " has no jobs to play");
    }
    PrintWriter out = spec.commandLine().getOut();
    out.printf(
        Locale.ROOT,
        "%,d jobs, %,d skipped, %,d lines malformed%n",
        trace.jobs().size(),
        trace.skipped(),
        trace.malformed());
    return trace.jobs();
  }

  private InputStream madeUp(TraceFormat traceFormat) {
    String text =
        origin.repeating > 0
            ? MadeUpTrace.text(traceFormat, origin.repeating, REPEATING)
            : MadeUpTrace.text(traceFormat, origin.madeUp, VARYING);
    return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
  }

  /**
   * The same jobs, submitted so fast that they need a share of the quota on average.
   *
   * @param quota how much there is of the resources that count; a job keeps these alone
   * @param load the share, of the resource of which they need most
   */
  public static List<TraceJob> squeezed(List<TraceJob> jobs, Map<String, Long> quota, double load) {
    Instant begin = jobs.getFirst().submittedAt();
    double span = Duration.between(begin, jobs.getLast().submittedAt()).toMillis();
    double needed =
        quota.entrySet().stream()
            .mapToDouble(each -> amountTimesMillis(jobs, each.getKey()) / each.getValue())
            .max()
            .orElse(0);
    double factor = span <= 0 ? 1 : needed / span / load;
    return jobs.stream()
        .map(
            job -> {
              TreeMap<String, Long> amounts = new TreeMap<>(job.amounts());
              amounts.keySet().retainAll(quota.keySet());
              double passed = Duration.between(begin, job.submittedAt()).toMillis();
              return new TraceJob(
                  job.id(),
                  begin.plusMillis(Math.round(passed * factor)),
                  job.lasted(),
                  job.waited(),
                  amounts,
                  job.limit(),
                  job.end(),
                  job.owner());
            })
        .toList();
  }

  /** What jobs have of a resource, times how many milliseconds they have it. */
  public static double amountTimesMillis(List<TraceJob> jobs, String resource) {
    return jobs.stream()
        .mapToDouble(
            job -> (double) job.amounts().getOrDefault(resource, 0L) * job.lasted().toMillis())
        .sum();
  }
}
