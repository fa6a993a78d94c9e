package dev.sluice.forecast.feed;

import dev.sluice.core.engine.EngineState;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * The engine's state for all who compute from it: exported once a second at most, and only if
 * somebody asks. Thread-safe.
 */
public final class SharedEngineState implements Supplier<CompletableFuture<EngineState>> {

  /** Questions within so long are answered from one state. */
  private static final Duration SHARED = Duration.ofSeconds(1);

  private final Supplier<CompletableFuture<EngineState>> exports;
  private final InstantSource clock;
  private Instant exported = Instant.EPOCH;
  private CompletableFuture<EngineState> latest = new CompletableFuture<>();

  /** The state that {@code exports} has the engine export. */
  public SharedEngineState(Supplier<CompletableFuture<EngineState>> exports, InstantSource clock) {
    this.exports = exports;
    this.clock = clock;
  }

  /** A state that was exported within the last second, or is being exported. */
  @Override
  public synchronized CompletableFuture<EngineState> get() {
    Instant now = clock.instant();
    if (!now.isBefore(exported.plus(SHARED)) || latest.isCompletedExceptionally()) {
      exported = now;
      latest = exports.get();
    }
    return latest;
  }
}
