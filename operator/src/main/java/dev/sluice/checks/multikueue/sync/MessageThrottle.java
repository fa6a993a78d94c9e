package dev.sluice.checks.multikueue.sync;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Limits how often the message of one Workload's check is written: not before a text was stable for
 * a moment, because most Workloads are admitted at once, and not again shortly after a write. Not
 * thread-safe.
 */
final class MessageThrottle {

  /** How long a text must differ from the written text. */
  static final Duration STABLE_FOR = Duration.ofSeconds(3);

  /** The minimum time between two writes. */
  static final Duration WRITE_INTERVAL = Duration.ofSeconds(10);

  private Optional<Instant> differsSince = Optional.empty();
  private Optional<Instant> lastWrite = Optional.empty();

  /**
   * When the text must be written, possibly now; empty if no write is needed.
   *
   * @param written the text in the object
   */
  Optional<Instant> due(String text, String written, Instant now) {
    if (text.isEmpty() || text.equals(written)) {
      differsSince = Optional.empty();
      return Optional.empty();
    }
    Instant since = differsSince.orElse(now);
    differsSince = Optional.of(since);
    Instant due = since.plus(STABLE_FOR);
    return lastWrite
        .map(last -> last.plus(WRITE_INTERVAL))
        .filter(due::isBefore)
        .or(() -> Optional.of(due));
  }

  /** Records a write. */
  void written(Instant now) {
    lastWrite = Optional.of(now);
    differsSince = Optional.empty();
  }
}
