package dev.sluice.forecast.trace;

import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.forecast.runtimes.FinishedRun.End;
import dev.sluice.forecast.trace.TraceJob.JobOwner;
import java.io.Serial;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** Public formats of traces (docs/expected-starts.md#traces). */
public enum TraceFormat {
  /** The standard workload format of the Parallel Workloads Archive, version 2.2. */
  SWF {
    @Override
    Lines lines() {
      return new SwfLines();
    }
  },
  /** The Helios traces of SenseTime: a table of jobs with a header. */
  HELIOS {
    @Override
    Lines lines() {
      return new TableLines(HELIOS_COLUMNS, TraceFormat::helios);
    }
  },
  /** The GPU traces of Alibaba: a table of pods with a header. */
  ALIBABA {
    @Override
    Lines lines() {
      return new TableLines(ALIBABA_COLUMNS, TraceFormat::alibaba);
    }
  };

  private static final List<String> HELIOS_COLUMNS =
      List.of("job_id", "user", "vc", "gpu_num", "cpu_num", "state", "submit_time", "duration");
  private static final List<String> ALIBABA_COLUMNS =
      List.of("name", "cpu_milli", "memory_mib", "num_gpu", "creation_time", "deletion_time");
  private static final String CPU = "cpu";
  private static final String MEMORY = "memory";
  private static final String GPU = "nvidia.com/gpu";

  /** Thousandths of GPUs, as the traces of Alibaba call them in manifests. */
  private static final String GPU_MILLI = "alibabacloud.com/gpu-milli";

  private static final List<String> NODE_COLUMNS = List.of("sn", "cpu_milli", "memory_mib", "gpu");

  /** No time of a trace is later, or before 1970: it would overflow what is computed with it. */
  private static final long LAST_SECOND = 32_503_680_000L;

  private static final BigDecimal MOST = BigDecimal.valueOf(1_000_000_000_000L);

  /** A reader of lines, which remembers the header. */
  abstract Lines lines();

  /** The format of this name, in any case; empty if there is none. */
  public static Optional<TraceFormat> of(String name) {
    return Arrays.stream(values())
        .filter(each -> each.name().toLowerCase(Locale.ROOT).equals(name.toLowerCase(Locale.ROOT)))
        .findFirst();
  }

  /** Reads the lines of one trace, in order. */
  @FunctionalInterface
  interface Lines {
    Line read(String line) throws MalformedLineException;
  }

  /** What a line is. */
  sealed interface Line {
    /** A job that can be played. */
    record Job(TraceJob job) implements Line {}

    /** A job that can't be played: nobody knows how long it ran or what it had. */
    record Skipped() implements Line {}

    /** No job. */
    record Comment() implements Line {}
  }

  /** A line that isn't of the format. */
  static final class MalformedLineException extends Exception {
    @Serial private static final long serialVersionUID = 1;

    MalformedLineException(String message) {
      super(message);
    }
  }

  /** Fields are numbers, -1 is unknown; a comment begins with a semicolon. */
  private static final class SwfLines implements Lines {
    private static final int FIELDS = 18;
    private static final String START = "UnixStartTime:";
    private static final long COMPLETED = 1;
    private long start;

    @Override
    public Line read(String line) throws MalformedLineException {
      String text = line.strip();
      if (text.isEmpty() || text.startsWith(";")) {
        int at = text.indexOf(START);
        if (at >= 0) {
          start = seconds("UnixStartTime", text.substring(at + START.length()).strip());
        }
        return new Line.Comment();
      }
      String[] fields = text.split("\\s+");
      if (fields.length != FIELDS) {
        throw new MalformedLineException(fields.length + " fields, must be " + FIELDS);
      }
      long lasted = whole("run time", fields[3]);
      long processors = whole("requested processors", fields[7]);
      if (processors <= 0) {
        processors = whole("processors", fields[4]);
      }
      if (lasted < 0 || processors <= 0) {
        return new Line.Skipped();
      }
      long waited = whole("wait time", fields[2]);
      long limit = whole("requested time", fields[8]);
      return new Line.Job(
          new TraceJob(
              fields[0],
              Instant.ofEpochSecond(start + Math.max(0, whole("submit time", fields[1]))),
              Duration.ofSeconds(lasted),
              optional(waited),
              amounts(CPU, BigDecimal.valueOf(processors).movePointRight(3)),
              limit > 0 ? optional(limit) : Optional.empty(),
              whole("status", fields[10]) == COMPLETED ? End.SUCCEEDED : End.FAILED,
              new JobOwner(fields[11], fields[12], fields[13], fields[14])));
    }
  }

  /** The fields of a row by the names of the columns; empty where there is no such column. */
  private record Row(Map<String, String> fields) {

    String text(String column) {
      return fields.getOrDefault(column, "");
    }
  }

  /** A row of a table as a job. */
  @FunctionalInterface
  private interface RowReader {
    Line read(Row row) throws MalformedLineException;
  }

  /** Fields are separated by commas, and named by the first line; none is quoted. */
  private static final class TableLines implements Lines {
    private final List<String> required;
    private final RowReader reader;
    private List<String> columns = List.of();

    private TableLines(List<String> required, RowReader reader) {
      this.required = required;
      this.reader = reader;
    }

    @Override
    public Line read(String line) throws MalformedLineException {
      if (line.isBlank()) {
        return new Line.Comment();
      }
      List<String> fields = Arrays.stream(line.strip().split(",", -1)).map(String::strip).toList();
      if (columns.isEmpty()) {
        List<String> missing = required.stream().filter(name -> !fields.contains(name)).toList();
        if (!missing.isEmpty()) {
          throw new MalformedLineException("the header lacks " + String.join(", ", missing));
        }
        columns = fields;
        return new Line.Comment();
      }
      if (fields.size() != columns.size()) {
        throw new MalformedLineException(
            fields.size() + " fields, must be " + columns.size() + " as in the header");
      }
      Map<String, String> row = new HashMap<>();
      for (int i = 0; i < fields.size(); i++) {
        row.put(columns.get(i), fields.get(i));
      }
      return reader.read(new Row(row));
    }
  }

  private static Line helios(Row row) throws MalformedLineException {
    long lasted = whole("duration", row.text("duration"));
    BigDecimal cpus = amount("cpu_num", row.text("cpu_num"));
    BigDecimal gpus = amount("gpu_num", row.text("gpu_num"));
    if (lasted < 0 || cpus.signum() + gpus.signum() == 0) {
      return new Line.Skipped();
    }
    SortedMap<String, Long> amounts = amounts(CPU, cpus.movePointRight(3));
    amounts.putAll(amounts(GPU, gpus));
    String waited = row.text("queue");
    return new Line.Job(
        new TraceJob(
            row.text("job_id"),
            date("submit_time", row.text("submit_time")),
            Duration.ofSeconds(lasted),
            waited.isEmpty() ? Optional.empty() : optional(whole("queue", waited)),
            amounts,
            Optional.empty(),
            row.text("state").equals("COMPLETED") ? End.SUCCEEDED : End.FAILED,
            new JobOwner(row.text("user"), "", "", row.text("vc"))));
  }

  private static Line alibaba(Row row) throws MalformedLineException {
    String scheduled = row.text("scheduled_time");
    if (scheduled.isEmpty() || row.text("deletion_time").isEmpty()) {
      return new Line.Skipped();
    }
    Instant created = Instant.ofEpochSecond(seconds("creation_time", row.text("creation_time")));
    Instant started = Instant.ofEpochSecond(seconds("scheduled_time", scheduled));
    Instant deleted = Instant.ofEpochSecond(seconds("deletion_time", row.text("deletion_time")));
    SortedMap<String, Long> amounts = amounts(CPU, amount("cpu_milli", row.text("cpu_milli")));
    amounts.putAll(
        amounts(
            MEMORY,
            amount("memory_mib", row.text("memory_mib")).multiply(BigDecimal.valueOf(1 << 20))));
    amounts.putAll(gpus(row));
    if (deleted.isBefore(started) || started.isBefore(created) || amounts.isEmpty()) {
      return new Line.Skipped();
    }
    return new Line.Job(
        new TraceJob(
            row.text("name"),
            created,
            Duration.between(started, deleted),
            Optional.of(Duration.between(created, started)),
            amounts,
            Optional.empty(),
            row.text("pod_phase").equals("Failed") ? End.FAILED : End.SUCCEEDED,
            new JobOwner("", "", "", row.text("qos"))));
  }

  /** GPUs, in thousandths where the trace says how much of each a pod has. */
  private static SortedMap<String, Long> gpus(Row row) throws MalformedLineException {
    BigDecimal gpus = amount("num_gpu", row.text("num_gpu"));
    if (!row.fields().containsKey("gpu_milli")) {
      return amounts(GPU, gpus);
    }
    String share = row.text("gpu_milli");
    return amounts(
        GPU_MILLI,
        share.isEmpty() ? gpus.movePointRight(3) : gpus.multiply(amount("gpu_milli", share)));
  }

  /**
   * A reader of the nodes' file of Alibaba's traces.
   *
   * @param sum gets what all nodes have, by resource; GPUs also in thousandths
   */
  static Lines alibabaNodes(Map<String, Long> sum) {
    return new TableLines(
        NODE_COLUMNS,
        row -> {
          BigDecimal gpus = amount("gpu", row.text("gpu"));
          BigDecimal memory = amount("memory_mib", row.text("memory_mib"));
          SortedMap<String, Long> node = amounts(CPU, amount("cpu_milli", row.text("cpu_milli")));
          node.putAll(amounts(MEMORY, memory.multiply(BigDecimal.valueOf(1 << 20))));
          node.putAll(amounts(GPU, gpus));
          node.putAll(amounts(GPU_MILLI, gpus.movePointRight(3)));
          node.forEach((resource, amount) -> sum.merge(resource, amount, ResourceAmounts::add));
          return new Line.Comment();
        });
  }

  private static Optional<Duration> optional(long seconds) {
    return seconds < 0 ? Optional.empty() : Optional.of(Duration.ofSeconds(seconds));
  }

  private static SortedMap<String, Long> amounts(String resource, BigDecimal amount) {
    SortedMap<String, Long> amounts = new TreeMap<>();
    if (amount.signum() > 0) {
      amounts.put(resource, amount.longValue());
    }
    return amounts;
  }

  /** A number of seconds, without what follows the point. */
  private static long whole(String field, String text) throws MalformedLineException {
    BigDecimal number = number(field, text);
    return number.signum() < 0 ? -1 : number.longValue();
  }

  private static BigDecimal amount(String field, String text) throws MalformedLineException {
    BigDecimal number = number(field, text);
    return number.signum() < 0 ? BigDecimal.ZERO : number;
  }

  private static BigDecimal number(String field, String text) throws MalformedLineException {
    // digits are bounded first: what BigDecimal reads takes time by their number
    if (text.length() <= 32) {
      try {
        BigDecimal number = new BigDecimal(text);
        if (number.compareTo(MOST) <= 0 && Math.abs((long) number.scale()) <= 32) {
          return number;
        }
      } catch (NumberFormatException _) {
        // told below
      }
    }
    throw new MalformedLineException(
        "%s: \"%s\" isn't a number up to %s".formatted(field, shortened(text), MOST));
  }

  private static long seconds(String field, String text) throws MalformedLineException {
    long seconds = whole(field, text);
    if (seconds < 0 || seconds > LAST_SECOND) {
      throw new MalformedLineException(
          "%s: \"%s\" isn't a time in seconds since 1970".formatted(field, shortened(text)));
    }
    return seconds;
  }

  private static Instant date(String field, String text) throws MalformedLineException {
    try {
      Instant date = LocalDateTime.parse(text.replace(' ', 'T')).toInstant(ZoneOffset.UTC);
      if (date.getEpochSecond() >= 0 && date.getEpochSecond() <= LAST_SECOND) {
        return date;
      }
    } catch (DateTimeException _) {
      // told below
    }
    throw new MalformedLineException(
        "%s: \"%s\" isn't a time like 2020-04-01 00:00:04".formatted(field, shortened(text)));
  }

  private static String shortened(String text) {
    return text.length() <= 40 ? text : text.substring(0, 40) + "…";
  }
}
