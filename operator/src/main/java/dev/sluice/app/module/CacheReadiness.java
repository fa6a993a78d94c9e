package dev.sluice.app.module;

import dev.sluice.server.endpoints.HealthEndpoint;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.CompletableFuture;

/**
 * Ready when the caches hold the cluster: before that, reviews are answered by 503. A listing may
 * need this process for the conversion of stored objects, and a Service routes to ready replicas
 * only; so after a while the process is ready although its caches are not, unless another replica
 * has converted the objects before.
 */
public final class CacheReadiness implements HealthEndpoint.Condition {

  static final Duration CONVERSION_GRACE = Duration.ofSeconds(30);

  private final CompletableFuture<Void> listed;
  private final InstantSource clock;
  private final Instant early;

  /** Begins to wait now for {@code listed} to complete. */
  public CacheReadiness(CompletableFuture<Void> listed, InstantSource clock) {
    this.listed = listed;
    this.clock = clock;
    this.early = clock.instant().plus(CONVERSION_GRACE);
  }

  @Override
  public boolean holds() {
    return listed.isDone() || !clock.instant().isBefore(early);
  }
}
