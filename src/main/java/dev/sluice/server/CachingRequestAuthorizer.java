package dev.sluice.server;

import io.fabric8.kubernetes.client.KubernetesClientException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.stream.Stream;

/**
 * Caches decisions of another authorizer for a short time, and refusals for a shorter time, so that
 * a client cannot cause an unlimited number of requests to the API server. Limits the number of
 * concurrent requests; further callers get an error.
 */
public final class CachingRequestAuthorizer implements RequestAuthorizer {

  private static final int MAX_ENTRIES = 256;
  private static final int MAX_TOKEN_LENGTH = 16 * 1024;
  private static final int MAX_CONCURRENT_REQUESTS = 8;

  private final RequestAuthorizer authorizer;
  private final Duration allowedTtl;
  private final Duration refusedTtl;
  private final InstantSource clock;
  private final Semaphore requestPermits = new Semaphore(MAX_CONCURRENT_REQUESTS);
  private final Map<String, CachedDecision> allowed = new LruMap();
  private final Map<String, CachedDecision> refused = new LruMap();

  private record CachedDecision(Decision decision, Instant until) {}

  /** A map that evicts its least recently used entry. */
  private static final class LruMap extends LinkedHashMap<String, CachedDecision> {
    private static final long serialVersionUID = 1L;

    LruMap() {
      super(16, 0.75f, true);
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<String, CachedDecision> eldest) {
      return size() > MAX_ENTRIES;
    }
  }

  /**
   * Creates a cache.
   *
   * @param allowedTtl how long an allowed token is cached
   * @param refusedTtl how long a refused token is cached
   */
  public CachingRequestAuthorizer(
      RequestAuthorizer authorizer, Duration allowedTtl, Duration refusedTtl, InstantSource clock) {
    this.authorizer = authorizer;
    this.allowedTtl = allowedTtl;
    this.refusedTtl = refusedTtl;
    this.clock = clock;
  }

  /**
   * {@inheritDoc}
   *
   * @throws KubernetesClientException when too many requests are in progress
   */
  @Override
  public Decision decide(String token) {
    if (token.length() > MAX_TOKEN_LENGTH) {
      return Decision.UNAUTHENTICATED;
    }
    String digest = digest(token);
    Optional<Decision> known = remembered(digest);
    if (known.isPresent()) {
      return known.get();
    }
    if (!requestPermits.tryAcquire()) {
      throw new KubernetesClientException("too many access reviews at a time");
    }
    try {
      Decision decision = authorizer.decide(token);
      remember(digest, decision);
      return decision;
    } finally {
      requestPermits.release();
    }
  }

  private synchronized Optional<Decision> remembered(String digest) {
    Instant now = clock.instant();
    return Stream.of(allowed, refused)
        .flatMap(decisions -> Optional.ofNullable(decisions.get(digest)).stream())
        .filter(it -> now.isBefore(it.until()))
        .map(CachedDecision::decision)
        .findFirst();
  }

  private synchronized void remember(String digest, Decision decision) {
    boolean may = decision == Decision.ALLOWED;
    Instant until = clock.instant().plus(may ? allowedTtl : refusedTtl);
    (may ? refused : allowed).remove(digest);
    (may ? allowed : refused).put(digest, new CachedDecision(decision, until));
  }

  /** The key of a token; tokens themselves are not stored. */
  private static String digest(String token) {
    try {
      return HexFormat.of()
          .formatHex(
              MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every platform has SHA-256", e);
    }
  }
}
