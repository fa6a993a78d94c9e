package dev.sluice.checks.multikueue.sync;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * When to write down what is only said to people of one Workload: not before it has held for a
 * moment, because most are admitted at once, and not again soon. For one thread at a time.
 */
final class MessageThrottle {

  /** How long a text has to differ from what stands. */
  static final Duration HELD = Duration.ofSeconds(3);

  /** The time between two writes. */
  static final Duration BETWEEN = Duration.ofSeconds(10);

  private Optional<Instant> differsSince = Optional.empty();
  private Optional<Instant> told = Optional.empty();

  /**
   * When the text is to be written, which may be now; empty if that isn't needed.
   *
   * @param standing what is written
   */
  Optional<Instant> due(String text, String standing, Instant now) {
    if (text.isEmpty() || text.equals(standing)) {
      differsSince = Optional.empty();
      return Optional.empty();
    }
    Instant since = differsSince.orElse(now);
    differsSince = Optional.of(since);
    Instant due = since.plus(HELD);
    return told.map(last -> last.plus(BETWEEN)).filter(due::isBefore).or(() -> Optional.of(due));
  }

  /** It was written. */
  void written(Instant now) {
    told = Optional.of(now);
    differsSince = Optional.empty();
  }
}
