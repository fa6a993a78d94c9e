package dev.sluice.forecast.trace;

import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PushbackInputStream;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.zip.GZIPInputStream;

/**
 * The jobs of a trace that can be played, and what couldn't be read.
 *
 * @param jobs the jobs, by their time of submission
 * @param skipped how many jobs can't be played: nobody knows how long they ran or what they had
 * @param malformed how many lines aren't of the format
 * @param errors the first of the malformed lines, by number, with the reason
 */
public record Trace(List<TraceJob> jobs, long skipped, long malformed, List<String> errors) {

  /** The most errors that are told one by one. */
  static final int ERRORS = 20;

  /** The longest line that is read; what is longer is malformed. */
  static final int LINE = 16_384;

  /** The most jobs that are read: beyond it the trace is refused. */
  static final int JOBS = 20_000_000;

  private static final int GZIP = 0x1f8b;

  public Trace {
    jobs = List.copyOf(jobs);
    errors = List.copyOf(errors);
  }

  /**
   * Reads a trace, plain or compressed by gzip.
   *
   * @throws IOException if the stream fails, or has more jobs than can be played
   */
  public static Trace read(InputStream from, TraceFormat format) throws IOException {
    return read(from, format.lines());
  }

  /**
   * What the nodes of the nodes' file of Alibaba's traces have altogether, by resource (thousandths
   * for cpu, bytes for memory).
   *
   * @throws IOException if the stream fails
   * @throws IllegalArgumentException if a line isn't one of a node; the message says which and why
   */
  public static SortedMap<String, Long> alibabaNodes(InputStream from) throws IOException {
    SortedMap<String, Long> sum = new TreeMap<>();
    Trace read = read(from, TraceFormat.alibabaNodes(sum));
    if (!read.errors().isEmpty()) {
      throw new IllegalArgumentException(read.errors().getFirst());
    }
    return sum;
  }

  private static Trace read(InputStream from, TraceFormat.Lines lines) throws IOException {
    PushbackInputStream stream = new PushbackInputStream(new BufferedInputStream(from), 2);
    byte[] magic = stream.readNBytes(2);
    stream.unread(magic);
    boolean compressed = magic.length == 2 && ((magic[0] & 0xff) << 8 | magic[1] & 0xff) == GZIP;
    try (Reader reader =
        new BufferedReader(
            new InputStreamReader(
                compressed ? new GZIPInputStream(stream) : stream, StandardCharsets.UTF_8))) {
      return read(reader, lines);
    }
  }

  private static Trace read(Reader reader, TraceFormat.Lines lines) throws IOException {
    List<TraceJob> jobs = new ArrayList<>();
    List<String> errors = new ArrayList<>();
    long skipped = 0;
    long malformed = 0;
    long number = 0;
    StringBuilder line = new StringBuilder();
    while (next(reader, line)) {
      number++;
      try {
        if (line.length() > LINE) {
          throw new TraceFormat.MalformedLineException("longer than " + LINE + " characters");
        }
        switch (lines.read(line.toString())) {
          case TraceFormat.Line.Job(var job) -> jobs.add(job);
          case TraceFormat.Line.Skipped() -> skipped++;
          case TraceFormat.Line.Comment() -> {}
        }
      } catch (TraceFormat.MalformedLineException e) {
        malformed++;
        if (errors.size() < ERRORS) {
          errors.add("line " + number + ": " + e.getMessage());
        }
      }
      if (jobs.size() > JOBS) {
        throw new IOException("more than " + JOBS + " jobs");
      }
    }
    jobs.sort(Comparator.comparing(TraceJob::submittedAt));
    return new Trace(jobs, skipped, malformed, errors);
  }

  /** Reads a line, of which no more is kept than one character beyond the longest. */
  private static boolean next(Reader reader, StringBuilder line) throws IOException {
    line.setLength(0);
    int read = reader.read();
    if (read < 0) {
      return false;
    }
    while (read >= 0 && read != '\n') {
      if (line.length() <= LINE) {
        line.append((char) read);
      }
      read = reader.read();
    }
    return true;
  }
}
