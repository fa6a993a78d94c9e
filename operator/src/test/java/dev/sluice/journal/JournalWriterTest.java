package dev.sluice.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.core.engine.Engine;
import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.engine.EngineState;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.journal.JournalDirectory.SegmentFile;
import dev.sluice.journal.JournalRecord.Checkpoint;
import dev.sluice.journal.JournalRecord.Gap;
import dev.sluice.journal.JournalWriter.JournalOptions;
import dev.sluice.journal.SegmentReader.Ending;
import dev.sluice.journal.SegmentReader.Item;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The journal of a process: whatever the disk does, what isn't written is counted. */
class JournalWriterTest {

  private static final RecordTypes TYPES = JournalRecord.types();

  @TempDir private Path root = Path.of("");

  private final AtomicLong dropped = new AtomicLong();
  private final AtomicLong written = new AtomicLong();

  private final JournalWriter.Listener listener =
      new JournalWriter.Listener() {
        @Override
        public void written(long records, long bytes) {
          written.addAndGet(records);
        }

        @Override
        public void dropped(long records) {
          dropped.addAndGet(records);
        }
      };

  private JournalWriter writer(long segmentBytes, JournalDirectory.Storage storage) {
    return writer(segmentBytes, storage, Duration.ofMillis(10));
  }

  private JournalWriter writer(
      long segmentBytes, JournalDirectory.Storage storage, Duration syncInterval) {
    JournalWriter writer =
        new JournalWriter(
            new JournalOptions(
                root.resolve("journal"), 1 << 30, Duration.ofDays(30), segmentBytes, syncInterval),
            new JournalWriter.Source("pod-0", "1", () -> 4),
            InstantSource.system(),
            System::nanoTime,
            listener,
            storage);
    writer.start();
    return writer;
  }

  private static void checkpoint(JournalWriter writer, EngineState state) {
    await().atMost(Duration.ofSeconds(20)).until(writer::wantsCheckpoint);
    writer.checkpoint(new Checkpoint(state));
  }

  private static SchedulerEvent event(long n) {
    return new SchedulerEvent.TimePassed(Instant.ofEpochSecond(n));
  }

  /** Everything in the journal, in order; fails on damage. */
  private List<Item.Entry> entries() throws IOException {
    JournalDirectory directory = new JournalDirectory(root.resolve("journal"), TYPES);
    List<Item.Entry> entries = new ArrayList<>();
    for (Path session : directory.sessions()) {
      for (Path segment : directory.segments(session)) {
        try (SegmentReader reader = new SegmentReader(segment, TYPES)) {
          Item item = reader.next();
          while (item instanceof Item.Entry entry) {
            entries.add(entry);
            item = reader.next();
          }
          assertThat(item)
              .isInstanceOfSatisfying(
                  Item.End.class, end -> assertThat(end.ending()).isEqualTo(Ending.WHOLE));
        }
      }
    }
    return entries;
  }

  /** Each number from 0 on is an event or in a gap, and each event has its own number. */
  private void assertComplete(long handedOver) throws IOException {
    long next = 0;
    long lost = 0;
    for (Item.Entry entry : entries()) {
      if (entry.value() instanceof JournalRecord.Header header) {
        assertThat(header.firstSequence()).isEqualTo(next);
        assertThat(header.session().identity()).isEqualTo("pod-0");
        assertThat(header.session().term()).isEqualTo(4);
      } else if (entry.value() instanceof Gap(long missing)) {
        assertThat(entry.sequence()).isEqualTo(next);
        lost += missing;
        next += missing;
      } else if (entry.value() instanceof JournalRecord.Applied(var event)) {
        assertThat(entry.sequence()).isEqualTo(next);
        assertThat(event).isEqualTo(event(next));
        next++;
      }
    }
    assertThat(next).isEqualTo(handedOver);
    assertThat(lost).isEqualTo(dropped.get());
    assertThat(written.get()).isEqualTo(handedOver - lost);
  }

  @Test
  void segmentsFollowEachOther() throws IOException {
    long n = 0;
    try (JournalWriter writer = writer(2000, JournalDirectory::createFile)) {
      checkpoint(writer, SegmentListener.emptyState());
      for (int turn = 0; turn < 5; turn++) {
        for (int i = 0; i < 3_000; i++) {
          writer.applied(event(n++));
        }
        checkpoint(writer, SegmentListener.emptyState());
      }
    }
    assertComplete(n);
    assertThat(dropped).hasValue(0);
    JournalDirectory directory = new JournalDirectory(root.resolve("journal"), TYPES);
    List<Path> segments = directory.segments(directory.sessions().getFirst());
    assertThat(segments).hasSizeGreaterThan(3);
    long chain = 0;
    for (Path each : segments) {
      try (SegmentReader reader = new SegmentReader(each, TYPES)) {
        while (!(reader.next() instanceof Item.End)) {
          // to the end
        }
        assertThat(Objects.requireNonNull(reader.header()).previous()).isEqualTo(chain);
        chain = reader.chain();
      }
    }
  }

  /**
   * The writing thread rests until the next sync; what comes at once is not lost meanwhile. Half of
   * the buffer may wait, and what comes at once has room beside it, however slow the writer is.
   */
  @Test
  void aBufferThatIsHalfFullWakesTheWriter() throws IOException {
    long n = 0;
    try (JournalWriter writer =
        writer(1 << 30, JournalDirectory::createFile, Duration.ofHours(1))) {
      checkpoint(writer, SegmentListener.emptyState());
      for (int turn = 0; turn < 5; turn++) {
        for (int i = 0; i < 30_000; i++) {
          writer.applied(event(n++));
        }
        long expected = n - (1 << 15) - 1;
        await().atMost(Duration.ofSeconds(20)).until(() -> written.get() >= expected);
      }
    }
    assertComplete(n);
    assertThat(dropped).hasValue(0);
  }

  @Test
  void aBufferThatIsFullIsAGap() throws IOException {
    CountDownLatch slow = new CountDownLatch(1);
    AtomicReference<SegmentFile> first = new AtomicReference<>();
    long n = 0;
    try (JournalWriter writer =
        writer(
            1 << 20,
            file -> {
              SegmentFile made = JournalDirectory.createFile(file);
              return first.compareAndSet(null, made) ? slowed(made, slow) : made;
            })) {
      checkpoint(writer, SegmentListener.emptyState());
      for (int i = 0; i < 100_000; i++) {
        writer.applied(event(n++));
      }
      assertThat(dropped.get()).isGreaterThan(30_000);
      slow.countDown();
      long before = written.get();
      await().atMost(Duration.ofSeconds(20)).until(() -> written.get() > before);
      for (int i = 0; i < 10; i++) {
        writer.applied(event(n++));
      }
      checkpoint(writer, SegmentListener.emptyState());
      writer.applied(event(n++));
    }
    assertComplete(n);
  }

  private static SegmentFile slowed(SegmentFile file, CountDownLatch latch) {
    return new Forwarding(file) {
      @Override
      public void sync() throws IOException {
        try {
          latch.await();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
        super.sync();
      }
    };
  }

  private static class Forwarding implements SegmentFile {
    private final SegmentFile file;

    Forwarding(SegmentFile file) {
      this.file = file;
    }

    @Override
    public void write(ByteBuffer bytes) throws IOException {
      file.write(bytes);
    }

    @Override
    public void sync() throws IOException {
      file.sync();
    }

    @Override
    public void truncate(long size) throws IOException {
      file.truncate(size);
    }

    @Override
    public void close() throws IOException {
      file.close();
    }
  }

  @Test
  void aFullDiskIsAGap() throws IOException {
    AtomicLong room = new AtomicLong(5000);
    long n = 0;
    try (JournalWriter writer =
        writer(
            1 << 20,
            file ->
                new Forwarding(JournalDirectory.createFile(file)) {
                  @Override
                  public void write(ByteBuffer bytes) throws IOException {
                    if (room.get() < bytes.remaining()) {
                      ByteBuffer part = bytes.slice(bytes.position(), (int) room.getAndSet(0));
                      bytes.position(bytes.position() + part.remaining());
                      super.write(part);
                      throw new IOException("No space left on device");
                    }
                    room.addAndGet(-bytes.remaining());
                    super.write(bytes);
                  }
                })) {
      checkpoint(writer, SegmentListener.emptyState());
      for (int i = 0; i < 3000; i++) {
        writer.applied(event(n++));
      }
      await().atMost(Duration.ofSeconds(20)).until(() -> dropped.get() > 0);
      checkpoint(writer, SegmentListener.emptyState());
      writer.applied(event(n++));
      long all = n;
      await().atMost(Duration.ofSeconds(20)).until(() -> dropped.get() + written.get() == all);
      room.set(1 << 30);
      checkpoint(writer, SegmentListener.emptyState());
      for (int i = 0; i < 100; i++) {
        writer.applied(event(n++));
      }
    }
    assertComplete(n);
    assertThat(dropped.get()).isGreaterThan(1000);
    assertThat(written.get()).isGreaterThanOrEqualTo(100);
  }

  @Test
  void aDirectoryThatCannotBeWrittenIsTriedAgain() throws IOException {
    Files.write(root.resolve("journal"), new byte[] {1});
    long n = 0;
    try (JournalWriter writer = writer(1 << 20, JournalDirectory::createFile)) {
      checkpoint(writer, SegmentListener.emptyState());
      writer.applied(event(n++));
      await().atMost(Duration.ofSeconds(20)).until(() -> dropped.get() == 1);
      Files.delete(root.resolve("journal"));
      checkpoint(writer, SegmentListener.emptyState());
      writer.applied(event(n++));
    }
    assertComplete(n);
    assertThat(written).hasValue(1);
  }

  @Test
  void aDirectoryThatIsRemovedIsMadeAnew() throws IOException {
    long n = 0;
    try (JournalWriter writer = writer(1 << 20, JournalDirectory::createFile)) {
      checkpoint(writer, SegmentListener.emptyState());
      writer.applied(event(n++));
      await().atMost(Duration.ofSeconds(20)).until(() -> written.get() == 1);
      removed(root.resolve("journal"));
      checkpoint(writer, SegmentListener.emptyState());
      writer.applied(event(n++));
    }
    List<Item.Entry> entries = entries();
    assertThat(entries).extracting(Item.Entry::value).contains(new JournalRecord.Applied(event(1)));
    assertThat(dropped).hasValue(0);
  }

  private static void removed(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path each : files.sorted((a, b) -> b.compareTo(a)).toList()) {
        Files.delete(each);
      }
    }
  }

  /** Each attempt to write on takes the engine's state, and the engine has other work, too. */
  @Test
  void exportsOfTheStateTakeATwentiethOfTheEnginesTime() {
    AtomicLong nanos = new AtomicLong();
    Engine engine = new Engine(EngineOptions.DEFAULT, decision -> {});
    try (JournalWriter writer =
        writer(
            1 << 20,
            file -> {
              throw new IOException("Read-only file system");
            })) {
      // each look at this clock takes 10 ms, so that an export does
      JournalRecorder recorder = new JournalRecorder(writer, () -> nanos.getAndAdd(10_000_000));
      recorder.roundStarts(engine);
      assertThat(writer.wantsCheckpoint()).isFalse();

      await().atMost(Duration.ofSeconds(20)).until(writer::wantsCheckpoint);
      recorder.roundStarts(engine);
      assertThat(writer.wantsCheckpoint()).as("it is too early").isTrue();
      nanos.addAndGet(150_000_000);
      recorder.roundStarts(engine);
      assertThat(writer.wantsCheckpoint()).as("it is too early").isTrue();

      nanos.addAndGet(20_000_000);
      recorder.roundStarts(engine);
      assertThat(writer.wantsCheckpoint()).isFalse();
    }
  }

  /** Where the kernel makes a file system read-only, open files can't be written, nor new made. */
  @Test
  void aDiskThatBecomesReadOnlyIsAGap() throws IOException {
    AtomicBoolean readOnly = new AtomicBoolean();
    long n = 0;
    try (JournalWriter writer =
        writer(
            1 << 20,
            file -> {
              refuseIf(readOnly);
              return new Forwarding(JournalDirectory.createFile(file)) {
                @Override
                public void write(ByteBuffer bytes) throws IOException {
                  refuseIf(readOnly);
                  super.write(bytes);
                }

                @Override
                public void truncate(long size) throws IOException {
                  refuseIf(readOnly);
                  super.truncate(size);
                }
              };
            })) {
      checkpoint(writer, SegmentListener.emptyState());
      for (int i = 0; i < 100; i++) {
        writer.applied(event(n++));
      }
      await().atMost(Duration.ofSeconds(20)).until(() -> written.get() == 100);
      readOnly.set(true);
      for (int i = 0; i < 100; i++) {
        writer.applied(event(n++));
      }
      await().atMost(Duration.ofSeconds(20)).until(() -> dropped.get() == 100);
      checkpoint(writer, SegmentListener.emptyState());
      writer.applied(event(n++));
      await().atMost(Duration.ofSeconds(20)).until(() -> dropped.get() == 101);
      readOnly.set(false);
      checkpoint(writer, SegmentListener.emptyState());
      for (int i = 0; i < 100; i++) {
        writer.applied(event(n++));
      }
    }
    assertComplete(n);
    assertThat(written).hasValue(200);
  }

  private static void refuseIf(AtomicBoolean readOnly) throws IOException {
    if (readOnly.get()) {
      throw new IOException("Read-only file system");
    }
  }

  @Test
  void theNextProcessNumbersOn() throws IOException {
    for (int run = 0; run < 3; run++) {
      try (JournalWriter writer = writer(1 << 20, JournalDirectory::createFile)) {
        checkpoint(writer, SegmentListener.emptyState());
        for (int i = 0; i < 10; i++) {
          writer.applied(event(10L * run + i));
        }
      }
    }
    assertComplete(30);
    assertThat(new JournalDirectory(root.resolve("journal"), TYPES).sessions()).hasSize(3);
  }
}
