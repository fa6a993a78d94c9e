package dev.sluice.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.journal.JournalDirectory.OpenSession;
import dev.sluice.journal.JournalRecord.Checkpoint;
import dev.sluice.journal.JournalRecord.Header;
import dev.sluice.journal.JournalRecord.Session;
import dev.sluice.journal.SegmentReader.Ending;
import dev.sluice.journal.SegmentReader.Item;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Segments are read as they were written, whatever happened to their files. */
class JournalFilesTest {

  private static final RecordTypes TYPES = JournalRecord.types();
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final Session SESSION = new Session(START, "pod-0", 3);
  private static final Checkpoint EMPTY = new Checkpoint(SegmentListener.emptyState());

  @TempDir private Path root = Path.of("");

  /** A segment as bytes, with its records and where they end. */
  private record Written(byte[] bytes, List<JournalRecord> records, List<Long> ends) {

    /** How many records after the checkpoint end at or before an offset. */
    int wholeAt(long offset) {
      return (int) ends.stream().filter(end -> end <= offset).count();
    }
  }

  private Written written(long seed, int count, long previous) throws IOException {
    Path file = root.resolve("made-" + seed);
    SegmentWriter writer =
        SegmentWriter.begin(
            JournalDirectory.createFile(file), TYPES, new Header(SESSION, "1", 0, previous), EMPTY);
    writer.flush();
    RandomRecords random = new RandomRecords(TYPES, seed);
    List<JournalRecord> records = new ArrayList<>();
    List<Long> ends = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      JournalRecord record =
          i % 5 == 0
              ? new JournalRecord.CycleRun()
              : new JournalRecord.Applied((SchedulerEvent) random.of(SchedulerEvent.class));
      writer.append(record);
      records.add(record);
      ends.add(writer.size());
    }
    writer.flush();
    writer.sync();
    writer.close();
    byte[] bytes = Files.readAllBytes(file);
    Files.delete(file);
    return new Written(bytes, records, ends);
  }

  private static List<Item> read(Path file) {
    List<Item> items = new ArrayList<>();
    try (SegmentReader reader = new SegmentReader(file, TYPES)) {
      do {
        items.add(reader.next());
      } while (!(items.getLast() instanceof Item.End));
    }
    return items;
  }

  private static List<JournalRecord> records(List<Item> items) {
    List<JournalRecord> records = new ArrayList<>();
    for (Item item : items) {
      if (item instanceof Item.Entry entry
          && !(entry.value() instanceof Header)
          && !(entry.value() instanceof Checkpoint)) {
        records.add(entry.value());
      }
    }
    return records;
  }

  private static Item.End end(List<Item> items) {
    return (Item.End) items.getLast();
  }

  @Test
  void aSegmentIsReadAsItWasWritten() throws IOException {
    Written written = written(1, 2000, 0);
    Path file = root.resolve("a");
    Files.write(file, written.bytes());
    List<Item> items = read(file);
    assertThat(records(items)).isEqualTo(written.records());
    assertThat(end(items)).isEqualTo(new Item.End(Ending.WHOLE, written.bytes().length, ""));
    assertThat(items.getFirst())
        .isEqualTo(new Item.Entry(new Header(SESSION, "1", 0, 0), 0, SegmentWriter.PREAMBLE));
  }

  /** A session whose process is gone: its lock file is there, and nobody holds the lock. */
  private Path crashed(String name, byte[] segment) throws IOException {
    Path session = Files.createDirectories(root.resolve("journal").resolve(name));
    Files.write(session.resolve("lock"), new byte[0]);
    Path file = session.resolve("00000001-0000000000000000.segment");
    Files.write(file, segment);
    return file;
  }

  /**
   * At any byte: each whole record stays, none is made up, and the next session writes on.
   * -Dsluice.property.factor=10 cuts ten thousand times.
   */
  @Test
  void aCutJournalIsTakenUpAfterItsLastWholeRecord() throws IOException {
    int cuts = 1_000 * Integer.getInteger("sluice.property.factor", 1);
    Written written = written(2, 60, 0);
    Random random = new Random(5);
    JournalDirectory directory = new JournalDirectory(root.resolve("journal"), TYPES);
    for (int i = 0; i < cuts; i++) {
      int length = i < 100 ? i : random.nextInt(written.bytes().length + 1);
      Path file = crashed("20260101T000000.000Z_old", Arrays.copyOf(written.bytes(), length));
      boolean padded = random.nextInt(4) == 0;
      if (padded) {
        Files.write(file, Arrays.copyOf(Arrays.copyOf(written.bytes(), length), length + 500));
      }
      int whole = written.wholeAt(length);
      try (OpenSession session = directory.open(START.plusMillis(i + 1), "new")) {
        if (Files.exists(file)) {
          List<Item> items = read(file);
          assertThat(records(items)).isEqualTo(written.records().subList(0, whole));
          assertThat(padded || end(items).ending() == Ending.WHOLE).isTrue();
        } else {
          assertThat(whole).isZero();
        }
        assertThat(session.firstSequence()).isEqualTo(whole);
        SegmentWriter writer =
            SegmentWriter.begin(
                JournalDirectory.createFile(session.segment(1, whole)),
                TYPES,
                new Header(SESSION, "1", whole, session.previous()),
                EMPTY);
        writer.flush();
        writer.close();
        assertThat(end(read(session.segment(1, whole))).ending()).isEqualTo(Ending.WHOLE);
        Files.delete(session.segment(1, whole));
      }
      for (Path session : directory.sessions()) {
        for (Path segment : directory.segments(session)) {
          Files.delete(segment);
        }
        Files.deleteIfExists(session.resolve("lock"));
        Files.delete(session);
      }
    }
  }

  @Test
  void aChangedByteIsDamageThatIsToldWithItsPlace() throws IOException {
    Written written = written(3, 100, 0);
    Random random = new Random(6);
    for (int i = 0; i < 2000; i++) {
      byte[] bytes = written.bytes().clone();
      int at = random.nextInt(bytes.length);
      bytes[at] ^= (byte) (1 << random.nextInt(8));
      Path file = crashed("20260101T000000.000Z_old", bytes);
      List<Item> items = read(file);
      Item.End end = end(items);
      assertThat(end.ending()).as("byte %d", at).isNotEqualTo(Ending.WHOLE);
      assertThat(end.offset()).isLessThanOrEqualTo(at);
      assertThat(records(items))
          .isEqualTo(written.records().subList(0, written.wholeAt(end.offset())));
      assertThat(end.reason()).isNotEmpty();
      if (end.ending() == Ending.TORN) {
        assertThat(written.ends().getLast()).isEqualTo(bytes.length);
      }
    }
  }

  @Test
  void damageBeforeTheEndCutsNothingOff() throws IOException {
    Written written = written(4, 100, 0);
    byte[] bytes = written.bytes().clone();
    bytes[(int) ((written.ends().get(50) + written.ends().get(51)) / 2)] ^= 1;
    Path file = crashed("20260101T000000.000Z_old", bytes);
    try (OpenSession session =
        new JournalDirectory(root.resolve("journal"), TYPES).open(START, "new")) {
      assertThat(session.firstSequence()).isEqualTo(51);
    }
    assertThat(Files.size(file)).isEqualTo(bytes.length);
    assertThat(end(read(file)).reason()).contains("checksum");
  }

  @Test
  void recordsHoldInTheirOrderOnly() throws IOException {
    Written written = written(5, 10, 0);
    int from = (int) (long) written.ends().get(3);
    int to = (int) (long) written.ends().get(4);
    byte[] without = new byte[written.bytes().length - (to - from)];
    System.arraycopy(written.bytes(), 0, without, 0, from);
    System.arraycopy(written.bytes(), to, without, from, written.bytes().length - to);
    List<Item> items = read(crashed("a", without));
    assertThat(end(items).ending()).isEqualTo(Ending.DAMAGED);
    assertThat(records(items)).hasSize(4);
  }

  @Test
  void madeUpFilesAreRefused() throws IOException {
    Random random = new Random(7);
    for (int i = 0; i < 3000; i++) {
      byte[] bytes = new byte[random.nextInt(300)];
      random.nextBytes(bytes);
      if (random.nextBoolean()) {
        System.arraycopy(
            SegmentWriter.MAGIC, 0, bytes, 0, Math.min(bytes.length, SegmentWriter.MAGIC.length));
      }
      List<Item> items = read(crashed("a", bytes));
      assertThat(records(items)).isEmpty();
    }
    assertThat(read(root.resolve("absent")))
        .singleElement()
        .isInstanceOfSatisfying(
            Item.End.class, end -> assertThat(end.ending()).isEqualTo(Ending.DAMAGED));
  }

  private static Path parent(Path file) {
    return Objects.requireNonNull(file.getParent());
  }

  @Test
  void oneProcessWritesASession() throws IOException {
    JournalDirectory directory = new JournalDirectory(root.resolve("journal"), TYPES);
    Instant now = START;
    try (OpenSession first = directory.open(now, "one")) {
      Path segment = first.segment(1, 0);
      SegmentWriter writer =
          SegmentWriter.begin(
              JournalDirectory.createFile(segment), TYPES, new Header(SESSION, "1", 0, 0), EMPTY);
      writer.flush();
      byte[] torn = Arrays.copyOf(Files.readAllBytes(segment), (int) Files.size(segment) - 3);
      Files.write(segment, torn);
      assertThatThrownBy(() -> directory.open(now, "one"))
          .isInstanceOf(FileAlreadyExistsException.class);
      try (OpenSession second = directory.open(now, "two")) {
        assertThat(second.segment(1, 0)).isNotEqualTo(segment);
        assertThat(Files.size(segment))
            .as("another process still writes it")
            .isEqualTo(torn.length);
        assertThat(directory.isWritten(parent(first.segment(1, 0)))).isTrue();
      }
      writer.close();
    }
  }

  @Test
  void filesArePrivate() throws IOException {
    JournalDirectory directory = new JournalDirectory(root.resolve("journal"), TYPES);
    try (OpenSession session = directory.open(START, "../strange name")) {
      Path segment = session.segment(1, 0);
      JournalDirectory.createFile(segment).close();
      assertThat(parent(parent(segment))).isEqualTo(root.resolve("journal"));
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(segment)))
          .isEqualTo("rw-------");
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(segment.getParent())))
          .isEqualTo("rwx------");
    }
  }

  @Test
  void theOldestSegmentsGoFirst() throws IOException {
    JournalDirectory directory = new JournalDirectory(root.resolve("journal"), TYPES);
    Path old;
    try (OpenSession session = directory.open(START, "old")) {
      old = session.segment(1, 0);
      Files.write(old, new byte[1000]);
    }
    try (OpenSession session = directory.open(START.plusSeconds(1), "new")) {
      Path first = session.segment(1, 0);
      Path second = session.segment(2, 10);
      Path current = session.segment(3, 20);
      Files.write(first, new byte[1000]);
      Files.write(second, new byte[1000]);
      Files.write(current, new byte[1000]);
      directory.retain(current, 4000, Duration.ofDays(30), Instant.now());
      assertThat(old).exists();
      directory.retain(current, 2500, Duration.ofDays(30), Instant.now());
      assertThat(old.getParent()).doesNotExist();
      assertThat(first).doesNotExist();
      assertThat(second).exists();
      directory.retain(current, 4000, Duration.ofDays(30), Instant.now().plus(Duration.ofDays(31)));
      assertThat(second).doesNotExist();
      assertThat(current).exists();
    }
  }
}
