package dev.sluice.journal;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.journal.JournalRecord.Applied;
import dev.sluice.journal.JournalRecord.Checkpoint;
import dev.sluice.journal.JournalRecord.Gap;
import dev.sluice.journal.JournalRecord.Header;
import dev.sluice.journal.SegmentReader.Item;
import java.io.IOException;
import java.io.PrintWriter;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code sluice journal}: what a journal holds, and whether it is whole. */
@Command(
    name = "journal",
    description = "Lists, verifies and prints a journal; see docs/journal.md.",
    mixinStandardHelpOptions = true,
    subcommands = {
      JournalCommand.ListCommand.class,
      JournalCommand.VerifyCommand.class,
      JournalCommand.DumpCommand.class
    })
public final class JournalCommand implements Runnable {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "ls, verify or dump?");
  }

  /** The directory of a journal. */
  static final class DirectoryParameter {

    @Parameters(paramLabel = "DIR", description = "The directory of the journal.")
    private Path directory = Path.of("");

    /**
     * The directory.
     *
     * @throws IOException when there is none
     */
    Path existing() throws IOException {
      if (!Files.isDirectory(directory)) {
        throw new IOException(directory + " is no directory");
      }
      return directory;
    }
  }

  /** The part of a journal between two times. */
  public static final class RangeOptions {

    @Option(
        names = "--from",
        paramLabel = "TIME",
        converter = Time.class,
        description = "The first time, such as 2026-01-31T08:00:00Z; by the engine's time.")
    private Instant from = Instant.MIN;

    @Option(
        names = "--to",
        paramLabel = "TIME",
        converter = Time.class,
        description = "The last time.")
    private Instant to = Instant.MAX;

    /** The first time. */
    public Instant from() {
      return from;
    }

    /** The last time. */
    public Instant to() {
      return to;
    }
  }

  /** A time as RFC 3339 has it. */
  static final class Time implements ITypeConverter<Instant> {
    @Override
    public Instant convert(String text) {
      try {
        return OffsetDateTime.parse(text).toInstant();
      } catch (DateTimeException e) {
        throw new TypeConversionException(
            "\"" + text + "\" is no time, such as 2026-01-31T08:00:00Z");
      }
    }
  }

  /** What the commands have in common: they read segment after segment. */
  abstract static class Reading implements Callable<Integer> {

    @Spec private CommandSpec spec = CommandSpec.create();

    @Mixin private DirectoryParameter directory = new DirectoryParameter();

    private final RecordTypes types = JournalRecord.types();

    /** Reads a segment; returns whether it is whole. */
    abstract boolean read(SegmentReader reader, Path segment, boolean last, PrintWriter out)
        throws IOException;

    /** Begins a session. */
    void session(Path session, boolean written, PrintWriter out) {}

    @Override
    public final Integer call() {
      PrintWriter out = spec.commandLine().getOut();
      boolean whole = true;
      try {
        JournalDirectory journal = new JournalDirectory(directory.existing(), types);
        for (Path session : journal.sessions()) {
          session(session, journal.isWritten(session), out);
          List<Path> segments = journal.segments(session);
          for (Path segment : segments) {
            try (SegmentReader reader = new SegmentReader(segment, types)) {
              whole &= read(reader, segment, segment.equals(segments.getLast()), out);
            }
          }
        }
        out.flush();
        return whole ? 0 : 1;
      } catch (IOException e) {
        spec.commandLine().getErr().println("sluice: " + e.getMessage());
        return 3;
      }
    }
  }

  /** {@code sluice journal ls}. */
  @Command(
      name = "ls",
      description = "Lists sessions and their segments.",
      mixinStandardHelpOptions = true,
      exitCodeListHeading = "%nExit codes:%n",
      exitCodeList = {
        "0:the journal was listed",
        "2:the command line is wrong",
        "3:the directory can't be read"
      })
  static final class ListCommand extends Reading {

    @Override
    void session(Path session, boolean written, PrintWriter out) {
      out.println(session.getFileName() + (written ? " (being written)" : ""));
    }

    @Override
    boolean read(SegmentReader reader, Path segment, boolean last, PrintWriter out)
        throws IOException {
      Instant time = Instant.MIN;
      Item item = reader.next();
      for (int i = 0; i < 10 && item instanceof Item.Entry entry && time == Instant.MIN; i++) {
        time = timeOf(entry, time);
        item = reader.next();
      }
      Header header = reader.header();
      out.printf(
          "  %s  %d bytes  from record %s  %s%n",
          segment.getFileName(),
          Files.size(segment),
          header == null ? "?" : header.firstSequence(),
          time == Instant.MIN ? "-" : time);
      return true;
    }
  }

  private static Instant timeOf(Item.Entry entry, Instant before) {
    return entry.value() instanceof Applied(SchedulerEvent.TimePassed(var time)) ? time : before;
  }

  /** {@code sluice journal verify}. */
  @Command(
      name = "verify",
      description = "Reads everything, and tells what is damaged, missing or unreadable.",
      mixinStandardHelpOptions = true,
      exitCodeListHeading = "%nExit codes:%n",
      exitCodeList = {
        "0:every record is there and can be read",
        "1:something is damaged, missing or unreadable; a line for each tells what and where",
        "2:the command line is wrong",
        "3:the directory can't be read"
      })
  static final class VerifyCommand extends Reading {

    private long expected = -1;
    private long chain;

    @Override
    void session(Path session, boolean written, PrintWriter out) {
      expected = -1;
    }

    @Override
    boolean read(SegmentReader reader, Path segment, boolean last, PrintWriter out) {
      boolean whole = true;
      long records = 0;
      while (true) {
        switch (reader.next()) {
          case Item.Entry(Header header, var _, var _) -> {
            if (expected >= 0
                && (header.firstSequence() != expected || header.previous() != chain)) {
              whole = problem(out, segment, 0, "doesn't follow the segment before");
            }
          }
          case Item.Entry(Gap(var lost), var sequence, var offset) ->
              whole =
                  problem(
                      out,
                      segment,
                      offset,
                      "records %d to %d were not written".formatted(sequence, sequence + lost - 1));
          case Item.Entry(Checkpoint _, var _, var _) -> {}
          case Item.Entry _ -> records++;
          case Item.Unreadable(var reason, var sequence, var offset) ->
              whole = problem(out, segment, offset, "record " + sequence + ": " + reason);
          case Item.End end -> {
            if (!JournalDirectory.isSound(end, last)) {
              whole = problem(out, segment, end.offset(), end.reason());
            }
            expected = reader.sequence();
            chain = reader.chain();
            out.printf("%s: %d records%n", segment, records);
            return whole;
          }
        }
      }
    }

    private static boolean problem(PrintWriter out, Path segment, long offset, String reason) {
      out.printf("%s at %d: %s%n", segment, offset, reason);
      return false;
    }
  }

  /** The forms in which records are printed. */
  enum Output {
    TEXT,
    JSON
  }

  /** {@code sluice journal dump}. */
  @Command(
      name = "dump",
      description = "Prints the records, a line each.",
      mixinStandardHelpOptions = true,
      exitCodeListHeading = "%nExit codes:%n",
      exitCodeList = {
        "0:every record was printed",
        "1:something is damaged or unreadable; a line on the error stream tells what and where",
        "2:the command line is wrong",
        "3:the directory can't be read"
      })
  static final class DumpCommand extends Reading {

    @Spec private CommandSpec spec = CommandSpec.create();

    @Mixin private RangeOptions range = new RangeOptions();

    @Option(
        names = {"-o", "--output"},
        defaultValue = "text",
        paramLabel = "FORMAT",
        description = "${COMPLETION-CANDIDATES}; text by default.")
    private Output output = Output.TEXT;

    private final RecordTypes types = JournalRecord.types();
    private final ObjectMapper json =
        new ObjectMapper().configure(JsonGenerator.Feature.AUTO_CLOSE_TARGET, false);
    private Instant time = Instant.MIN;

    @Override
    boolean read(SegmentReader reader, Path segment, boolean last, PrintWriter out)
        throws IOException {
      boolean whole = true;
      PrintWriter errors = spec.commandLine().getErr();
      while (true) {
        switch (reader.next()) {
          case Item.Entry entry -> {
            time = timeOf(entry, time);
            if (!time.isBefore(range.from()) && !time.isAfter(range.to())) {
              print(entry, out);
            }
          }
          case Item.Unreadable(var reason, var sequence, var offset) -> {
            errors.printf("%s at %d: record %d: %s%n", segment, offset, sequence, reason);
            whole = false;
          }
          case Item.End end -> {
            if (!JournalDirectory.isSound(end, last)) {
              errors.printf("%s at %d: %s%n", segment, end.offset(), end.reason());
              whole = false;
            }
            return whole;
          }
        }
      }
    }

    private void print(Item.Entry entry, PrintWriter out) throws IOException {
      if (output == Output.TEXT) {
        out.printf("%d %s %s%n", entry.sequence(), time, entry.value());
        return;
      }
      ObjectNode line = JsonNodeFactory.instance.objectNode();
      line.put("sequence", entry.sequence());
      line.put("time", time.toString());
      line.setAll(tree((Record) entry.value()));
      out.println(json.writeValueAsString(line));
    }

    private ObjectNode tree(Record value) {
      ObjectNode object = JsonNodeFactory.instance.objectNode();
      RecordTypes.RecordType type = types.of(value);
      object.put("kind", type.type().getSimpleName());
      for (RecordTypes.Component component : type.components()) {
        add(object, component.name(), component.of(value));
      }
      return object;
    }

    private void add(ObjectNode object, String name, @Nullable Object value) {
      ArrayNode one = JsonNodeFactory.instance.arrayNode();
      add(one, value);
      object.set(name, one.get(0));
    }

    private void add(ArrayNode array, @Nullable Object value) {
      switch (value) {
        case null -> array.addNull();
        case Optional<?> optional -> add(array, optional.orElse(null));
        case List<?> list -> each(array.addArray(), list);
        case Set<?> set -> each(array.addArray(), set);
        case Map<?, ?> map -> {
          ObjectNode object = array.addObject();
          map.forEach((key, each) -> add(object, String.valueOf(key), each));
        }
        case Boolean flag -> array.add(flag.booleanValue());
        case Integer number -> array.add(number.intValue());
        case Long number -> array.add(number.longValue());
        case Double number -> array.add(number.doubleValue());
        case BigDecimal number -> array.add(number.toString());
        case Record inner -> array.add(tree(inner));
        default -> array.add(value.toString());
      }
    }

    private void each(ArrayNode array, Iterable<?> values) {
      values.forEach(each -> add(array, each));
    }
  }
}
