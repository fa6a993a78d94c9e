package dev.sluice.server;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;

/** Remembers for a short time who was allowed; a refusal is asked again each time. */
public final class CachingScrapeAuthorizer implements ScrapeAuthorizer {

  private static final int MAX_REMEMBERED = 256;

  private final ScrapeAuthorizer authorizer;
  private final Duration memory;
  private final InstantSource clock;
  private final Map<String, Instant> allowedUntil = new LinkedHashMap<>();

  /**
   * Around another authorizer.
   *
   * @param memory how long an allowed token isn't asked about again
   */
  public CachingScrapeAuthorizer(
      ScrapeAuthorizer authorizer, Duration memory, InstantSource clock) {
    this.authorizer = authorizer;
    this.memory = memory;
    this.clock = clock;
  }

  @Override
  public Decision decide(String token) {
    String digest = digest(token);
    if (isRemembered(digest)) {
      return Decision.ALLOWED;
    }
    Decision decision = authorizer.decide(token);
    if (decision == Decision.ALLOWED) {
      remember(digest);
    }
    return decision;
  }

  private synchronized boolean isRemembered(String digest) {
    Instant until = allowedUntil.get(digest);
    return until != null && clock.instant().isBefore(until);
  }

  private synchronized void remember(String digest) {
    Instant now = clock.instant();
    allowedUntil.values().removeIf(until -> !now.isBefore(until));
    if (allowedUntil.size() >= MAX_REMEMBERED) {
      allowedUntil.clear();
    }
    allowedUntil.put(digest, now.plus(memory));
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
