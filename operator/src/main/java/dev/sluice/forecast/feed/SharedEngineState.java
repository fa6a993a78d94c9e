package dev.sluice.forecast.feed;

import dev.sluice.core.engine.EngineState;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * The engine's state for all who compute from it: exported only if somebody asks, once a second at
 * most, and so seldom that exports take a twentieth of the engine's thread at most. Thread-safe.
 */
public final class SharedEngineState implements Supplier<CompletableFuture<EngineState>> {

  /** Questions within so long are answered from one state. */
  private static final Duration SHARED = Duration.ofSeconds(1);

  /** Questions within so many times as long as an export took are answered from it, too. */
  private static final int SHARED_PER_EXPORT = 20;

  private final Supplier<CompletableFuture<EngineState>> exports;
  private final Supplier<Duration> took;
  private final InstantSource clock;
  private Instant exported = Instant.EPOCH;
  private CompletableFuture<EngineState> latest = new CompletableFuture<>();

  /**
   * The state that {@code exports} has the engine export.
   *
   * @param took how long the engine's thread was busy with the last export
   */
  public SharedEngineState(
      Supplier<CompletableFuture<EngineState>> exports,
      Supplier<Duration> took,
      InstantSource clock) {
    this.exports = exports;
    this.took = took;
    this.clock = clock;
  }

  /** A state that was exported a short time ago, or is being exported. */
  @Override
  public synchronized CompletableFuture<EngineState> get() {
    Instant now = clock.instant();
    Duration rest = took.get().multipliedBy(SHARED_PER_EXPORT);
    Instant next = exported.plus(rest.compareTo(SHARED) > 0 ? rest : SHARED);
    // A clock that was set back doesn't make a state count for longer.
    boolean due = !now.isBefore(next) || now.isBefore(exported);
    if (due || latest.isCompletedExceptionally()) {
      exported = now;
      latest = exports.get();
    }
    return latest;
  }
}
