package dev.sluice.journal;

import dev.sluice.core.engine.Engine;
import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.engine.EngineState;
import dev.sluice.core.engine.SchedulerThread.EngineListener;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.journal.JournalDirectory.OpenSession;
import dev.sluice.journal.JournalRecord.Checkpoint;
import dev.sluice.journal.JournalRecord.Header;
import dev.sluice.journal.JournalRecord.Session;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Instant;

/** Writes a session of a journal on the thread of the engine, so that none of it is lost. */
public final class SegmentListener implements EngineListener, AutoCloseable {

  private final OpenSession session;
  private final Session id;
  private final long segmentBytes;
  private SegmentWriter writer;
  private long sequence;
  private long checkpointBytes;
  private int segments = 1;
  private long bytes;
  long events;
  long cycles;
  long decisions;

  /** Begins a session with the state of an engine that knows nothing. */
  public SegmentListener(Path root, Instant start, EngineOptions options, long segmentBytes)
      throws IOException {
    this.segmentBytes = segmentBytes;
    session = new JournalDirectory(root, JournalRecord.types()).open(start, "pod-0");
    id = new Session(start, "pod-0", 0);
    sequence = session.firstSequence();
    writer = begin(new Engine(options, decision -> {}).export(), session.previous());
  }

  /** The state of an engine with the default options to which no event was applied. */
  static EngineState emptyState() {
    return new Engine(EngineOptions.DEFAULT, decision -> {}).export();
  }

  private SegmentWriter begin(EngineState state, long previous) throws IOException {
    SegmentWriter begun =
        SegmentWriter.begin(
            JournalDirectory.createFile(session.segment(segments++, sequence)),
            JournalRecord.types(),
            new Header(id, "1", sequence, previous),
            new Checkpoint(state));
    checkpointBytes = begun.size();
    return begun;
  }

  /** The size of all segments. */
  long bytes() {
    return bytes + writer.size();
  }

  @Override
  public void roundStarts(Engine engine) {
    if (writer.size() < Math.max(segmentBytes, 3 * checkpointBytes)) {
      return;
    }
    try {
      writer.flush();
      bytes += writer.size();
      long previous = writer.chain();
      writer.close();
      writer = begin(engine.export(), previous);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void append(JournalRecord value) {
    writer.append(value);
    sequence++;
  }

  @Override
  public void applies(SchedulerEvent event) {
    events++;
    append(new JournalRecord.Applied(event));
  }

  @Override
  public void cycles() {
    cycles++;
    append(new JournalRecord.CycleRun());
  }

  @Override
  public void decided(Decision decision) {
    decisions++;
    append(new JournalRecord.Decided(decision));
  }

  @Override
  public void close() throws IOException {
    writer.flush();
    writer.close();
    session.close();
  }
}
