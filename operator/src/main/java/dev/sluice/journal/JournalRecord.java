package dev.sluice.journal;

import dev.sluice.core.engine.EngineState;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.SchedulerEvent;
import java.time.Instant;

/** A record of the journal: one frame of a segment (docs/journal.md#records). */
public sealed interface JournalRecord {

  /**
   * The run of one process that writes a journal.
   *
   * @param startedAt when it began
   * @param identity the identity of the process, unlike any other
   * @param term how often the lease had changed hands when the process got it; 0 while it doesn't
   *     lead, and without an election
   */
  record Session(Instant startedAt, String identity, long term) {}

  /**
   * The first record of a segment.
   *
   * @param session the session that the segment belongs to
   * @param program version of the program
   * @param firstSequence the number of the first record after the checkpoint
   * @param previous the checksum at the end of the segment before; 0 if there is none
   */
  record Header(Session session, String program, long firstSequence, long previous)
      implements JournalRecord {}

  /**
   * The second record of a segment: the engine before the first event of the segment.
   *
   * @param state the state of the engine, with its options
   */
  record Checkpoint(EngineState state) implements JournalRecord {}

  /** An event that the engine applied. */
  record Applied(SchedulerEvent event) implements JournalRecord {}

  /** A cycle that the engine ran; its decisions follow. */
  record CycleRun() implements JournalRecord {}

  /** A decision of the engine. */
  record Decided(Decision decision) implements JournalRecord {}

  /** So many records were not written. */
  record Gap(long lost) implements JournalRecord {}

  /** All types of records in a journal. */
  static RecordTypes types() {
    return RecordTypes.of(JournalRecord.class);
  }
}
