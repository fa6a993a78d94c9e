package dev.sluice.lab.controlplane;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.function.BooleanSupplier;

/** Waits for conditions while the required programs run. */
public final class Poller {

  private static final Duration INTERVAL = Duration.ofMillis(50);
  private static final int SHOWN_LINES = 15;
  private static final long READ_BYTES = 16 << 10;

  private final InstantSource clock;
  private final Duration limit;

  /**
   * Creates a poller.
   *
   * @param limit the longest wait for each condition
   */
  public Poller(InstantSource clock, Duration limit) {
    this.clock = clock;
    this.limit = limit;
  }

  /**
   * Returns once the condition holds.
   *
   * @param what names the condition in messages
   * @param needed the required programs; the log of the first is shown on timeout
   * @throws ControlPlaneException when a required program ends, or the time limit is exceeded
   */
  public void await(String what, List<ManagedProcess> needed, BooleanSupplier condition) {
    Instant end = clock.instant().plus(limit);
    while (!condition.getAsBoolean()) {
      for (ManagedProcess process : needed) {
        if (!process.isAlive()) {
          throw new ControlPlaneException(
              "%s ended before %s; the end of %s:%n%s"
                  .formatted(process.name(), what, process.log(), tail(process.log())));
        }
      }
      ManagedProcess first = needed.getFirst();
      if (clock.instant().isAfter(end)) {
        throw new ControlPlaneException(
            "not %s within %d s; the end of %s:%n%s"
                .formatted(what, limit.toSeconds(), first.log(), tail(first.log())));
      }
      first.awaitEnd(INTERVAL);
    }
  }

  /** The last lines of a log. */
  public static String tail(Path log) {
    try (var channel = Files.newByteChannel(log)) {
      channel.position(Math.max(0, channel.size() - READ_BYTES));
      var buffer = ByteBuffer.allocate((int) READ_BYTES);
      while (buffer.hasRemaining() && channel.read(buffer) >= 0) {
        continue;
      }
      List<String> lines =
          new String(buffer.array(), 0, buffer.position(), StandardCharsets.UTF_8).lines().toList();
      return String.join(
          System.lineSeparator(),
          lines.subList(Math.max(0, lines.size() - SHOWN_LINES), lines.size()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
