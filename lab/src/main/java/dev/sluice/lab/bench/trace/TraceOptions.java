package dev.sluice.lab.bench.trace;

import dev.sluice.app.whatif.WhatIfCommand.TraceFormatOption;
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
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
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

  /**
   * A made-up trace as text of each format, with the same jobs: many small ones and one in 25 that
   * needs most of what 100 GPUs give. What a user's jobs last is spread around a time of that user,
   * as far as the standard deviation of its logarithm says. In the format with limits, they are one
   * to three times as long as the run.
   */
  private static final class MadeUpTrace {

    private static final Instant BEGIN = Instant.parse("2026-01-01T00:00:00Z");
    private static final DateTimeFormatter DATE =
        DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss", Locale.ROOT);
    private static final int CAPACITY = 100;
    private static final double LOAD = 0.85;
    private static final int USERS = 12;

    private MadeUpTrace() {}

    /** The text of a trace. */
    static String text(TraceFormat format, int jobs, double spread) {
      Random random = new Random(7);
      StringBuilder text =
          new StringBuilder(
              switch (format) {
                case SWF -> "; UnixStartTime: " + BEGIN.getEpochSecond() + "\n";
                case HELIOS ->
                    "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,"
                        + "duration,queue\n";
                case ALIBABA ->
                    "name,cpu_milli,memory_mib,num_gpu,qos,pod_phase,creation_time,deletion_time,"
                        + "scheduled_time\n";
              });
      double at = 0;
      for (int i = 0; i < jobs; i++) {
        int size = random.nextInt(25) == 0 ? 60 + random.nextInt(31) : 1 + random.nextInt(12);
        int user = random.nextInt(USERS);
        long lasts = (long) Math.exp(5.5 + 0.2 * user + spread * random.nextGaussian()) + 5;
        long limit = (long) Math.ceil(lasts * (1 + 2 * random.nextDouble()));
        line(text, format, new Job(i, (long) at, size, user, lasts, limit));
        at += size * (double) lasts / CAPACITY / LOAD * -Math.log(1 - random.nextDouble());
      }
      return text.toString();
    }

    private record Job(int number, long at, int size, int user, long lasts, long limit) {}

    private static void line(StringBuilder text, TraceFormat format, Job job) {
      long submitted = BEGIN.getEpochSecond() + job.at;
      text.append(
          switch (format) {
            case SWF ->
                "%d %d 0 %d %d -1 -1 %d %d -1 1 %d 1 1 1 -1 -1 -1"
                    .formatted(
                        job.number, job.at, job.lasts, job.size, job.size, job.limit, job.user);
            case HELIOS ->
                "%d,u%d,vc,%d,%d,1,COMPLETED,%s,%s,%s,%d,0"
                    .formatted(
                        job.number,
                        job.user,
                        job.size,
                        4 * job.size,
                        date(submitted),
                        date(submitted),
                        date(submitted + job.lasts),
                        job.lasts);
            case ALIBABA ->
                "job-%d,%d,%d,%d,u%d,Succeeded,%d,%d,%d"
                    .formatted(
                        job.number,
                        4_000 * job.size,
                        8_192 * job.size,
                        job.size,
                        job.user,
                        submitted,
                        submitted + job.lasts,
                        submitted);
          });
      text.append('\n');
    }

    private static String date(long second) {
      return DATE.format(LocalDateTime.ofEpochSecond(second, 0, ZoneOffset.UTC));
    }
  }
}
