package dev.sluice.server.endpoints;

import java.math.BigInteger;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * Which part of a queue is wanted.
 *
 * @param offset how many Workloads are left out at the beginning
 * @param limit the most that are shown
 */
record PageOptions(int offset, int limit) {

  private static final int USUAL_LIMIT = 1_000;
  private static final int MAX_LIMIT = 100_000;

  /**
   * Reads {@code offset} and {@code limit} of a query. Negative values count as 0, an absent limit
   * or one of 0 as 1,000, a greater one than 100,000 as that; what is not a number counts as
   * absent.
   *
   * @param query the raw query, empty if absent
   */
  static PageOptions parse(String query) {
    int limit = number(query, "limit");
    return new PageOptions(
        number(query, "offset"), limit == 0 ? USUAL_LIMIT : Math.min(limit, MAX_LIMIT));
  }

  private static int number(String query, String name) {
    for (String part : query.split("&")) {
      int equals = part.indexOf('=');
      if (equals > 0 && decoded(part.substring(0, equals)).equals(name)) {
        return number(decoded(part.substring(equals + 1)));
      }
    }
    return 0;
  }

  private static int number(String text) {
    return Optional.of(text)
        .filter(digits -> digits.matches("-?[0-9]{1,30}"))
        .map(BigInteger::new)
        .map(value -> value.max(BigInteger.ZERO).min(BigInteger.valueOf(Integer.MAX_VALUE)))
        .map(BigInteger::intValue)
        .orElse(0);
  }

  private static String decoded(String text) {
    try {
      return URLDecoder.decode(text, StandardCharsets.UTF_8);
    } catch (IllegalArgumentException notEncoded) {
      return text;
    }
  }
}
