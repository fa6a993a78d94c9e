package dev.sluice.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.ledger.ObservationBuffer.ObservationCodec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What was observed outlives the process, and is forgotten when it was taken. */
class ObservationBufferTest {

  @TempDir private Path directory;

  private final List<AttemptObservation> observations =
      new RandomUses(new Random(1), 40, 200).observations();

  private static List<AttemptObservation> all(ObservationBuffer buffer) throws IOException {
    List<AttemptObservation> all = new ArrayList<>();
    do {
      all.addAll(buffer.next());
    } while (!buffer.taken());
    return all;
  }

  @Test
  void whatIsAppendedIsRead() throws IOException {
    try (ObservationBuffer buffer = new ObservationBuffer(directory, "a", 1 << 20)) {
      for (AttemptObservation each : observations) {
        assertThat(buffer.append(each)).isTrue();
      }
      assertThat(buffer.next()).isEqualTo(observations);
      assertThat(buffer.next()).as("not taken yet").isEqualTo(observations);
      assertThat(buffer.taken()).isTrue();
      assertThat(buffer.waitingBytes()).isZero();
      assertThat(buffer.next()).isEmpty();
      buffer.append(observations.getFirst());
      assertThat(all(buffer)).containsExactly(observations.getFirst());
      assertThat(
              PosixFilePermissions.toString(
                  Files.getPosixFilePermissions(directory.resolve("ledger-a.buffer"))))
          .isEqualTo("rw-------");
    }
    assertThat(directory).as("with nothing in it").isEmptyDirectory();
  }

  @Test
  void moreThanIsReadAtOnce() throws IOException {
    try (ObservationBuffer buffer = new ObservationBuffer(directory, "a", 1L << 30)) {
      List<AttemptObservation> many = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        for (AttemptObservation each : observations) {
          buffer.append(each);
          many.add(each);
        }
      }
      assertThat(buffer.waitingBytes()).isGreaterThan(2L << 20);
      assertThat(all(buffer)).isEqualTo(many);
    }
  }

  @Test
  void whatADeadProcessLeftIsTakenOver() throws IOException {
    Path left = directory.resolve("ledger-dead.buffer");
    Files.createFile(left);
    for (AttemptObservation each : observations) {
      Files.write(left, ObservationCodec.encode(each), StandardOpenOption.APPEND);
    }
    Files.writeString(left, "{\"uid\":\"torn", StandardOpenOption.APPEND);
    try (ObservationBuffer living = new ObservationBuffer(directory, "b", 1 << 20)) {
      assertThat(left).doesNotExist();
      living.append(observations.getFirst());
      List<AttemptObservation> expected = new ArrayList<>(observations);
      expected.add(observations.getFirst());
      assertThat(all(living)).isEqualTo(expected);
      try (ObservationBuffer other = new ObservationBuffer(directory, "c", 1 << 20)) {
        assertThat(other.next()).as("the buffer of a process that lives").isEmpty();
      }
      assertThatThrownBy(() -> new ObservationBuffer(directory, "b", 1 << 20).close())
          .isInstanceOf(IOException.class)
          .hasMessageContaining("another process");
    }
  }

  /** As on a disk that is full: nothing that decides may wait for the ledger. */
  @Test
  void whatCannotBeTakenOverStaysAndIsTakenLater() throws IOException {
    Path unreadable = Files.createDirectory(directory.resolve("ledger-b.buffer"));
    try (ObservationBuffer dead = new ObservationBuffer(directory, "c", 1 << 20)) {
      dead.append(observations.get(1));
    }
    try (ObservationBuffer buffer = new ObservationBuffer(directory, "a", 1 << 20)) {
      Files.delete(unreadable);
      try (ObservationBuffer dead = new ObservationBuffer(directory, "b", 1 << 20)) {
        dead.append(observations.getFirst());
      }
      assertThat(all(buffer)).containsExactly(observations.get(1), observations.getFirst());
      assertThat(unreadable).doesNotExist();
    }
  }

  /** Replicas that don't lead keep the last ten minutes, for weeks. */
  @Test
  void whatWasTakenTakesNoRoom() throws IOException {
    try (ObservationBuffer buffer = new ObservationBuffer(directory, "a", 3L << 20)) {
      for (int i = 0; i < 1_000; i++) {
        for (AttemptObservation each : observations) {
          assertThat(buffer.append(each)).isTrue();
        }
        if (buffer.waitingBytes() > 2L << 20) {
          assertThat(buffer.next()).isNotEmpty();
          assertThat(buffer.taken()).isFalse();
        }
      }
      assertThat(Files.size(directory.resolve("ledger-a.buffer"))).isLessThan(6L << 20);
    }
    try (ObservationBuffer buffer = new ObservationBuffer(directory, "d", 3L << 20)) {
      assertThat(all(buffer)).hasSizeGreaterThan(1_000).endsWith(observations.getLast());
    }
  }

  @Test
  void aFullBufferSaysSo() throws IOException {
    try (ObservationBuffer buffer = new ObservationBuffer(directory, "a", 1_500)) {
      int taken = 0;
      while (buffer.append(observations.get(taken))) {
        taken++;
      }
      assertThat(taken).isBetween(1, 10);
      assertThat(all(buffer)).hasSize(taken);
      assertThat(buffer.append(observations.getFirst())).as("there is room again").isTrue();
    }
  }

  @Test
  void anyBytesGiveObservationsOrNone() throws IOException {
    Random random = new Random(9);
    byte[] line = ObservationCodec.encode(observations.getFirst());
    for (int i = 0; i < 2_000; i++) {
      byte[] changed = line.clone();
      changed[random.nextInt(changed.length)] = (byte) random.nextInt(256);
      assertThat(ObservationCodec.decode(changed, 0, random.nextInt(changed.length))).isNotNull();
    }
  }
}
