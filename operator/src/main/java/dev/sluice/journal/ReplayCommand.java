package dev.sluice.journal;

import dev.sluice.core.engine.Engine;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.journal.JournalCommand.DirectoryParameter;
import dev.sluice.journal.JournalCommand.RangeOptions;
import dev.sluice.journal.JournalRecord.Applied;
import dev.sluice.journal.JournalRecord.Checkpoint;
import dev.sluice.journal.JournalRecord.CycleRun;
import dev.sluice.journal.JournalRecord.Decided;
import dev.sluice.journal.JournalRecord.Gap;
import dev.sluice.journal.JournalRecord.Header;
import dev.sluice.journal.SegmentReader.Item;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code sluice replay}: decides everything in a journal once more, and compares. */
@Command(
    name = "replay",
    description = {
      "Applies the events of a journal to an engine once more, and compares its decisions with"
          + " those of the journal, byte by byte.",
      "The first difference is shown with what was before it."
    },
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:every decision that could be replayed is the same; with --self-test: the difference was"
          + " found",
      "1:a decision differs, or nothing could be replayed; the message says which",
      "2:the command line is wrong",
      "3:the directory can't be read"
    })
public final class ReplayCommand implements Callable<Integer> {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private DirectoryParameter directory = new DirectoryParameter();

  @Mixin private RangeOptions range = new RangeOptions();

  @Option(
      names = "--self-test",
      description =
          "Changes the first admission of the replay before it is compared, and succeeds only if"
              + " the difference is found.")
  private boolean selfTest;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    try {
      Replay.Result result =
          new Replay(
                  directory.existing(),
                  range.from(),
                  range.to(),
                  selfTest ? new PlantedDifference() : Function.identity())
              .run();
      result.skipped().forEach(reason -> out.println("not replayed: " + reason));
      result.difference().map(Replay::lines).ifPresent(lines -> lines.forEach(out::println));
      out.printf(
          "%d events, %d cycles, %d decisions the same%n",
          result.events(), result.cycles(), result.decisions());
      out.flush();
      return result.difference().isEmpty() != selfTest && result.events() > 0 ? 0 : 1;
    } catch (IOException e) {
      spec.commandLine().getErr().println("sluice: " + e.getMessage());
      return 3;
    }
  }

  /** Sends the first admission to another ClusterQueue. */
  private static final class PlantedDifference implements Function<Decision, Decision> {

    private boolean planted;

    @Override
    public Decision apply(Decision decision) {
      if (planted || !(decision instanceof Decision.Admit admit)) {
        return decision;
      }
      planted = true;
      return new Decision.Admit(
          admit.id(),
          admit.version(),
          admit.clusterQueue() + "-planted",
          admit.podSets(),
          admit.at(),
          admit.queuedAt(),
          admit.considered());
    }
  }

  /**
   * Replays a journal: applies its events to an engine again, and compares the decisions with those
   * that the journal holds, byte by byte (docs/journal.md#replay). Not thread-safe.
   */
  static final class Replay {

    private static final Logger LOG = LoggerFactory.getLogger(Replay.class);
    private static final int CONTEXT = 10;

    /**
     * The first decision that was made otherwise.
     *
     * @param segment the file
     * @param sequence the number of the event or cycle that the decisions follow
     * @param time the engine's time
     * @param recorded the decisions in the journal, of that event or cycle
     * @param made the decisions of the replay
     * @param context the last records before
     */
    record Difference(
        Path segment,
        long sequence,
        Instant time,
        List<Decision> recorded,
        List<Decision> made,
        List<String> context) {}

    /**
     * What a replay found.
     *
     * @param events the events that were applied
     * @param cycles the cycles that were run
     * @param decisions the decisions that were compared and equal
     * @param skipped parts of the journal that could not be replayed, each with its reason
     * @param difference the first difference; empty if there is none
     */
    record Result(
        long events,
        long cycles,
        long decisions,
        List<String> skipped,
        Optional<Difference> difference) {}

    private final RecordTypes types = JournalRecord.types();
    private final RecordEncoder canonical = RecordEncoder.canonical(types);
    private final JournalDirectory directory;
    private final Instant from;
    private final Instant to;
    private final List<String> skipped = new ArrayList<>();
    private final Deque<Item.Entry> context = new ArrayDeque<>();
    private final List<Decision> made = new ArrayList<>();
    private final List<Decision> recorded = new ArrayList<>();
    private final Function<Decision, Decision> change;
    private @Nullable Engine engine;
    private @Nullable Difference difference;
    private Path segment = Path.of("");
    private Instant now = Instant.MIN;
    private boolean stepping;
    private long step;
    private long expected;
    private long events;
    private long cycles;
    private long decisions;

    /** A replay of the decisions between two times, both included. */
    Replay(Path directory, Instant from, Instant to) {
      this(directory, from, to, Function.identity());
    }

    /** A replay whose decisions are changed before they are compared; for tests. */
    Replay(Path directory, Instant from, Instant to, Function<Decision, Decision> change) {
      this.directory = new JournalDirectory(directory, types);
      this.from = from;
      this.to = to;
      this.change = change;
    }

    /**
     * Replays session after session, until the first difference.
     *
     * @throws IOException when the directory can't be read
     */
    Result run() throws IOException {
      for (Path session : directory.sessions()) {
        List<Path> segments = directory.segments(session);
        forget();
        for (int i = first(segments); i < segments.size() && difference == null; i++) {
          segment = segments.get(i);
          read(i == segments.size() - 1);
        }
        if (difference == null && !compare(true)) {
          break;
        }
      }
      return new Result(
          events, cycles, decisions, List.copyOf(skipped), Optional.ofNullable(difference));
    }

    /** The last segment from which everything since {@link #from} can be replayed. */
    private int first(List<Path> segments) {
      int first = 0;
      for (int i = 1; i < segments.size(); i++) {
        try (SegmentReader reader = new SegmentReader(segments.get(i), types)) {
          Item item = reader.next();
          while (item instanceof Item.Entry entry) {
            if (entry.value() instanceof Applied(SchedulerEvent.TimePassed(var time))) {
              first = time.isBefore(from) ? i : first;
              break;
            }
            item = reader.next();
          }
        }
      }
      return first;
    }

    private void forget() {
      engine = null;
      stepping = false;
      made.clear();
      recorded.clear();
      context.clear();
    }

    private void read(boolean last) {
      try (SegmentReader reader = new SegmentReader(segment, types)) {
        while (difference == null) {
          switch (reader.next()) {
            case Item.Entry entry -> take(entry);
            case Item.Unreadable(var reason, var sequence, var offset) -> {
              skip("record %d at %d: %s".formatted(sequence, offset, reason));
              forget();
            }
            case Item.End end -> {
              if (!JournalDirectory.isSound(end, last)) {
                skip("damaged at %d: %s".formatted(end.offset(), end.reason()));
                forget();
              }
              expected = reader.sequence();
              return;
            }
          }
        }
      }
    }

    private void skip(String reason) {
      skipped.add(segment + ": " + reason);
    }

    private void take(Item.Entry entry) {
      switch (entry.value()) {
        case Header header -> {
          if (engine != null && header.firstSequence() != expected) {
            skip("records %d to %d are missing".formatted(expected, header.firstSequence() - 1));
            forget();
          }
        }
        case Checkpoint(var state) -> {
          if (engine == null) {
            engine = Engine.restore(state.options(), state, made::add);
          }
        }
        case Gap(var lost) -> {
          skip("%d records from %d on were not written".formatted(lost, entry.sequence()));
          forget();
        }
        case Applied(var event) -> {
          if (begin(entry)) {
            events++;
            if (event instanceof SchedulerEvent.TimePassed(var time)) {
              now = time;
            }
            apply(event);
          }
        }
        case CycleRun _ -> {
          if (begin(entry)) {
            cycles++;
            cycle();
          }
        }
        case Decided(var decision) -> {
          if (engine != null) {
            recorded.add(decision);
          }
        }
      }
      remember(entry);
    }

    private void remember(Item.Entry entry) {
      if (engine != null && !(entry.value() instanceof Checkpoint)) {
        if (context.size() == CONTEXT) {
          context.removeFirst();
        }
        context.add(entry);
      }
    }

    /** Compares what was decided last; whether the next event or cycle is to be replayed. */
    private boolean begin(Item.Entry entry) {
      if (engine == null || !compare(false)) {
        return false;
      }
      stepping = true;
      step = entry.sequence();
      return true;
    }

    /** Events that the engine refused are logged and left out; so they are here. */
    private void apply(SchedulerEvent event) {
      try {
        if (engine != null) {
          engine.apply(event);
        }
      } catch (RuntimeException e) {
        LOG.debug("journal record={} applied=false", step, e);
      }
    }

    private void cycle() {
      try {
        if (engine != null) {
          boolean unused = engine.cycle();
        }
      } catch (RuntimeException e) {
        skip("the engine failed in the cycle %d: %s".formatted(step, e));
        forget();
      }
    }

    /**
     * Compares the decisions of the last event or cycle.
     *
     * @param end whether the journal ends there, so that decisions may be missing
     */
    private boolean compare(boolean end) {
      boolean equal = true;
      if (stepping && !now.isBefore(from) && !now.isAfter(to)) {
        List<Decision> ours = made.stream().map(change).toList();
        equal = end ? recorded.size() <= ours.size() : recorded.size() == ours.size();
        for (int i = 0; equal && i < recorded.size(); i++) {
          equal =
              Arrays.equals(
                  canonical.comparable((Record) recorded.get(i)),
                  canonical.comparable((Record) ours.get(i)));
        }
        if (equal) {
          decisions += recorded.size();
        } else {
          difference =
              new Difference(
                  segment,
                  step,
                  now,
                  List.copyOf(recorded),
                  ours,
                  context.stream().map(each -> each.sequence() + " " + each.value()).toList());
        }
      }
      stepping = false;
      made.clear();
      recorded.clear();
      return equal && !now.isAfter(to);
    }

    /** A difference in lines for people. */
    static List<String> lines(Difference difference) {
      List<String> lines = new ArrayList<>();
      lines.add(
          String.format(
              Locale.ROOT,
              "decided otherwise after record %d of %s, at %s",
              difference.sequence(),
              difference.segment(),
              difference.time()));
      difference.context().forEach(line -> lines.add("  before    " + line));
      difference.recorded().forEach(each -> lines.add("  recorded  " + each));
      difference.made().forEach(each -> lines.add("  replayed  " + each));
      return lines;
    }
  }
}
