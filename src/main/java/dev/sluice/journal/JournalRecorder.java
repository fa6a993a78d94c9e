package dev.sluice.journal;

import dev.sluice.core.engine.Engine;
import dev.sluice.core.engine.EngineListener;
import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.journal.JournalRecord.Checkpoint;

/** Hands over to the journal what the engine is given and decides, in order. */
public final class JournalRecorder implements EngineListener {

  private final JournalWriter writer;
  private final EngineOptions options;

  /** A recorder of an engine with these options, to which no event was applied yet. */
  public JournalRecorder(JournalWriter writer, EngineOptions options) {
    this.writer = writer;
    this.options = options;
  }

  @Override
  public void roundStarts(Engine engine) {
    if (writer.wantsCheckpoint()) {
      writer.checkpoint(new Checkpoint(options, engine.export()));
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
