package dev.sluice.journal;

import dev.sluice.core.engine.Engine;
import dev.sluice.core.engine.EngineState;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.journal.JournalRecord.Applied;
import dev.sluice.journal.JournalRecord.Checkpoint;
import dev.sluice.journal.JournalRecord.CycleRun;
import dev.sluice.journal.JournalRecord.Decided;
import dev.sluice.journal.JournalRecord.Gap;
import dev.sluice.journal.SegmentReader.Item;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a journal holds of the time between two moments: the engine's state at the first, and the
 * events and decisions until the second, of all sessions.
 *
 * @param state the engine at the begin, of the session that goes furthest back; it may be empty
 * @param moments events and decisions after the state, by their time; those of replicas that only
 *     listened are among them, so an event can be there more than once
 * @param skipped parts of the journal that are missing, each with its reason
 */
public record JournalHistory(EngineState state, List<Moment> moments, List<String> skipped) {

  private static final Logger LOG = LoggerFactory.getLogger(JournalHistory.class);

  /** An event that was applied, or a decision, at the engine's time. */
  public record Moment(Instant at, JournalRecord journalRecord) {}

  public JournalHistory {
    moments = List.copyOf(moments);
    skipped = List.copyOf(skipped);
  }

  /**
   * Reads a journal.
   *
   * @param from the first time; what was before is in the state
   * @param to the last time
   * @throws IOException when the directory can't be read, or holds nothing of that time
   */
  public static JournalHistory between(Path directory, Instant from, Instant to)
      throws IOException {
    RecordTypes types = JournalRecord.types();
    JournalDirectory journal = new JournalDirectory(directory, types);
    List<Session> sessions = new ArrayList<>();
    for (Path path : journal.sessions()) {
      Session session = new Session(from, to);
      List<Path> segments = journal.segments(path);
      for (Path segment : segments) {
        try (SegmentReader reader = new SegmentReader(segment, types)) {
          session.read(segment, reader, segment.equals(segments.getLast()));
        }
      }
      sessions.add(session);
    }
    List<String> skipped = new ArrayList<>();
    List<Moment> moments = new ArrayList<>();
    for (Session session : sessions) {
      skipped.addAll(session.skipped);
      moments.addAll(session.moments);
    }
    moments.sort(Comparator.comparing(Moment::at));
    EngineState state =
        sessions.stream()
            .map(session -> session.beginState)
            .filter(Objects::nonNull)
            .min(Comparator.comparing(EngineState::now))
            .orElseThrow(
                () -> new IOException(directory + " holds nothing of the time that was asked for"));
    return new JournalHistory(state, moments, skipped);
  }

  /** Reads one session. */
  private static final class Session {
    private final Instant from;
    private final Instant to;
    private final List<Moment> moments = new ArrayList<>();
    private final List<String> skipped = new ArrayList<>();
    private Instant now = Instant.MIN;

    /** The engine while the first time isn't reached. */
    private @Nullable Engine engine;

    private @Nullable EngineState beginState;

    private Session(Instant from, Instant to) {
      this.from = from;
      this.to = to;
    }

    private void read(Path segment, SegmentReader reader, boolean last) {
      while (true) {
        switch (reader.next()) {
          case Item.Entry entry -> {
            if (entry.value() instanceof Gap(var lost)) {
              skipped.add(segment + ": %d records were not written".formatted(lost));
            } else {
              take(entry.value());
            }
          }
          case Item.Unreadable(var reason, var sequence, var _) ->
              skipped.add(segment + ": record %d: %s".formatted(sequence, reason));
          case Item.End end -> {
            if (!JournalDirectory.isSound(end, last)) {
              skipped.add(segment + ": damaged at %d: %s".formatted(end.offset(), end.reason()));
            }
            finish();
            return;
          }
        }
      }
    }

    /** A session that ends before the first time begins nothing. */
    private void finish() {
      if (beginState == null && engine != null && !now.isBefore(from)) {
        beginState = engine.export();
      }
    }

    private void take(JournalRecord journalRecord) {
      switch (journalRecord) {
        case Checkpoint(var state) -> {
          if (beginState == null && !state.now().isAfter(to)) {
            // the last one before the first time is the shortest way to it
            engine = Engine.restore(state.options(), state, _ -> {});
          }
        }
        case Applied(var event) -> applied(event);
        case Decided _ -> keep(journalRecord);
        case CycleRun _ -> cycle();
        default -> {}
      }
    }

    private void applied(SchedulerEvent event) {
      if (event instanceof SchedulerEvent.TimePassed(var time)) {
        now = time;
      }
      if (beginState == null && engine != null && !now.isBefore(from)) {
        beginState = engine.export();
        engine = null;
      }
      Engine unfinished = engine;
      if (unfinished != null) {
        try {
          unfinished.apply(event);
        } catch (RuntimeException e) {
          // events that the engine refused are left out, as they were then
          LOG.debug("journal applied=false", e);
        }
      }
      keep(new Applied(event));
    }

    private void cycle() {
      Engine unfinished = engine;
      if (unfinished != null) {
        try {
          boolean unused = unfinished.cycle();
        } catch (RuntimeException e) {
          skipped.add("the engine failed in a cycle: " + e);
          engine = null;
        }
      }
    }

    private void keep(JournalRecord journalRecord) {
      if (beginState != null && !now.isAfter(to)) {
        moments.add(new Moment(now, journalRecord));
      }
    }
  }
}
