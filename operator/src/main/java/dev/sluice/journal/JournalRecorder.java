package dev.sluice.journal;

import dev.sluice.core.engine.Engine;
import dev.sluice.core.engine.EngineState;
import dev.sluice.core.engine.SchedulerThread.EngineListener;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.journal.JournalRecord.Checkpoint;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Hands over to the journal what the engine is given and decides, in order. */
public final class JournalRecorder implements EngineListener {

  private static final Logger LOG = LoggerFactory.getLogger(JournalRecorder.class);

  /** After so many failures in a row about ten thousand rounds pass until the next attempt. */
  private static final int MOST_FAILURES = 13;

  /**
   * After the engine's state was exported no other export begins for so many times as long as it
   * took: a disk that is slow or full costs the engine's thread a twentieth of its time at most.
   */
  private static final int PAUSE_PER_EXPORT = 19;

  private final JournalWriter writer;
  private final LongSupplier nanoTime;
  private long notBefore;
  private long roundsToSkip;
  private int failures;

  /** A recorder of one engine. */
  public JournalRecorder(JournalWriter writer) {
    this(writer, System::nanoTime);
  }

  /** The same with another clock. */
  JournalRecorder(JournalWriter writer, LongSupplier nanoTime) {
    this.writer = writer;
    this.nanoTime = nanoTime;
    notBefore = nanoTime.getAsLong();
  }

  @Override
  public void roundStarts(Engine engine) {
    if (!writer.wantsCheckpoint() || --roundsToSkip >= 0) {
      return;
    }
    long begun = nanoTime.getAsLong();
    if (begun - notBefore < 0) {
      return;
    }
    try {
      EngineState state = engine.export();
      long now = nanoTime.getAsLong();
      notBefore = now + PAUSE_PER_EXPORT * (now - begun);
      writer.checkpoint(new Checkpoint(state));
      roundsToSkip = 0;
      failures = 0;
    } catch (RuntimeException e) {
      // a defect of the export: the engine goes on, and the journal has a gap until it works
      failures = Math.min(failures + 1, MOST_FAILURES);
      roundsToSkip = 1L << failures;
      LOG.warn("journal checkpoint=false", e);
    }
  }

  @Override
  public void applies(SchedulerEvent event) {
    writer.applied(event);
  }

  @Override
  public void cycles() {
    writer.cycleRun();
  }

  @Override
  public void decided(Decision decision) {
    writer.decided(decision);
  }
}
