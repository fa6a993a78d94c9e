package dev.sluice.testing;

import java.security.SecureRandom;
import java.util.random.RandomGenerator;

/** Short texts that make names unique. */
final class Suffixes {

  private static final String LETTERS = "bcdfghjklmnpqrstvwxz";
  private static final int LENGTH = 7;

  private Suffixes() {}

  /** Seven letters that no name of a parallel run is likely to have. */
  static String next() {
    RandomGenerator random = new SecureRandom();
    StringBuilder suffix = new StringBuilder(LENGTH);
    for (int i = 0; i < LENGTH; i++) {
      suffix.append(LETTERS.charAt(random.nextInt(LETTERS.length())));
    }
    return suffix.toString();
  }
}
