package dev.sluice.server.auth;

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
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Remembers answers of the API server about users for a short time, refusals for a shorter time, so
 * that a client cannot cause an unlimited number of requests. Refusals are kept apart: many of them
 * don't evict the others. Keys are kept as digests, since they may be secrets.
 *
 * @param <V> the answers
 */
final class ReviewCache<V> {

  private static final int MAX_ENTRIES = 256;
  private static final int MAX_CONCURRENT_REQUESTS = 8;

  /** Of one source: an honest client has few tokens, each of which is asked once a minute. */
  private static final int PER_SECOND = 5;

  private static final int BURST = 20;
  private static final int TOGETHER = 50;

  private final Predicate<V> isRefusal;
  private final Duration acceptedTtl;
  private final Duration refusedTtl;
  private final InstantSource clock;
  private final Semaphore requestPermits = new Semaphore(MAX_CONCURRENT_REQUESTS);
  private final Semaphore knownPermits = new Semaphore(MAX_CONCURRENT_REQUESTS);
  private final RequestBudget budget;
  private final Map<String, Remembered<V>> accepted = new LruMap<>();
  private final Map<String, Remembered<V>> refused = new LruMap<>();

  private record Remembered<V>(V answer, Instant until) {}

  /** A map that evicts its least recently used entry. */
  private static final class LruMap<V> extends LinkedHashMap<String, Remembered<V>> {
    private static final long serialVersionUID = 1L;

    LruMap() {
      super(16, 0.75f, true);
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<String, Remembered<V>> eldest) {
      return size() > MAX_ENTRIES;
    }
  }

  /**
   * An empty cache.
   *
   * @param isRefusal which answers are remembered for {@code refusedTtl} only
   */
  ReviewCache(
      Predicate<V> isRefusal, Duration acceptedTtl, Duration refusedTtl, InstantSource clock) {
    this(
        isRefusal,
        acceptedTtl,
        refusedTtl,
        clock,
        new RequestBudget("access reviews are needed", PER_SECOND, BURST, TOGETHER, clock));
  }

  /**
   * An empty cache.
   *
   * @param isRefusal which answers are remembered for {@code refusedTtl} only
   * @param budget how often the API server may be asked about what was not accepted lately
   */
  ReviewCache(
      Predicate<V> isRefusal,
      Duration acceptedTtl,
      Duration refusedTtl,
      InstantSource clock,
      RequestBudget budget) {
    this.budget = budget;
    this.isRefusal = isRefusal;
    this.acceptedTtl = acceptedTtl;
    this.refusedTtl = refusedTtl;
    this.clock = clock;
  }

  /**
   * The answer for a key, remembered or asked for now. What was accepted the last time is asked
   * again whatever others ask for.
   *
   * @param source who pays if the API server is asked
   * @throws dev.sluice.server.http.OverBudgetException when the source, or all of them, have asked
   *     for too much
   * @throws KubernetesClientException when {@code ask} throws it, or too many requests are in
   *     progress
   */
  V get(String key, String source, Supplier<V> ask) {
    String digest = digest(key);
    Optional<V> known = remembered(digest);
    if (known.isPresent()) {
      return known.get();
    }
    boolean accepted = wasAccepted(digest);
    if (!accepted) {
      budget.take(source);
    }
    Semaphore permits = accepted ? knownPermits : requestPermits;
    if (!permits.tryAcquire()) {
      throw new KubernetesClientException("too many access reviews at a time");
    }
    try {
      V answer = ask.get();
      remember(digest, answer);
      return answer;
    } finally {
      permits.release();
    }
  }

  private synchronized boolean wasAccepted(String digest) {
    return accepted.containsKey(digest);
  }

  private synchronized Optional<V> remembered(String digest) {
    Instant now = clock.instant();
    return Stream.of(accepted, refused)
        .flatMap(answers -> Optional.ofNullable(answers.get(digest)).stream())
        .filter(it -> now.isBefore(it.until()))
        .map(Remembered::answer)
        .findFirst();
  }

  private synchronized void remember(String digest, V answer) {
    boolean refusal = isRefusal.test(answer);
    Instant until = clock.instant().plus(refusal ? refusedTtl : acceptedTtl);
    (refusal ? accepted : refused).remove(digest);
    (refusal ? refused : accepted).put(digest, new Remembered<>(answer, until));
  }

  private static String digest(String key) {
    try {
      return HexFormat.of()
          .formatHex(
              MessageDigest.getInstance("SHA-256").digest(key.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every platform has SHA-256", e);
    }
  }
}
