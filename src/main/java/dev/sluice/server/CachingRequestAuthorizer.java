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
 * Remembers for a short time who was allowed and, for a shorter one, who was refused, so that a
 * client can't make the cluster be asked as often as it likes. Not more than a few questions are
 * asked at a time; who comes then is told that nothing can be said.
 */
public final class CachingRequestAuthorizer implements RequestAuthorizer {

  private static final int MAX_REMEMBERED = 256;
  private static final int MAX_TOKEN = 16 * 1024;
  private static final int QUESTIONS_AT_A_TIME = 8;

  private final RequestAuthorizer authorizer;
  private final Duration memory;
  private final Duration memoryOfRefusals;
  private final InstantSource clock;
  private final Semaphore questions = new Semaphore(QUESTIONS_AT_A_TIME);
  private final Map<String, Remembered> allowed = new Recent();
  private final Map<String, Remembered> refused = new Recent();

  private record Remembered(Decision decision, Instant until) {}

  /** Forgets what was used longest ago. */
  private static final class Recent extends LinkedHashMap<String, Remembered> {
    private static final long serialVersionUID = 1L;

    Recent() {
      super(16, 0.75f, true);
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<String, Remembered> eldest) {
      return size() > MAX_REMEMBERED;
    }
  }

  /**
   * Around another authorizer.
   *
   * @param memory how long an allowed token isn't asked about again
   * @param memoryOfRefusals how long a refused one isn't
   */
  public CachingRequestAuthorizer(
      RequestAuthorizer authorizer,
      Duration memory,
      Duration memoryOfRefusals,
      InstantSource clock) {
    this.authorizer = authorizer;
    this.memory = memory;
    this.memoryOfRefusals = memoryOfRefusals;
    this.clock = clock;
  }

  /**
   * {@inheritDoc}
   *
   * @throws KubernetesClientException when too many others are being asked about
   */
  @Override
  public Decision decide(String token) {
    if (token.length() > MAX_TOKEN) {
      return Decision.UNAUTHENTICATED;
    }
    String digest = digest(token);
    Optional<Decision> known = remembered(digest);
    if (known.isPresent()) {
      return known.get();
    }
    if (!questions.tryAcquire()) {
      throw new KubernetesClientException("too many questions at a time");
    }
    try {
      Decision decision = authorizer.decide(token);
      remember(digest, decision);
      return decision;
    } finally {
      questions.release();
    }
  }

  private synchronized Optional<Decision> remembered(String digest) {
    Instant now = clock.instant();
    return Stream.of(allowed, refused)
        .flatMap(decisions -> Optional.ofNullable(decisions.get(digest)).stream())
        .filter(it -> now.isBefore(it.until()))
        .map(Remembered::decision)
        .findFirst();
  }

  private synchronized void remember(String digest, Decision decision) {
    boolean may = decision == Decision.ALLOWED;
    Instant until = clock.instant().plus(may ? memory : memoryOfRefusals);
    (may ? refused : allowed).remove(digest);
    (may ? allowed : refused).put(digest, new Remembered(decision, until));
  }

  /** Tokens themselves are not kept. */
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
