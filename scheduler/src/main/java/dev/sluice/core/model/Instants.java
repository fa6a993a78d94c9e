package dev.sluice.core.model;

import java.time.Instant;

/** Conversion between instants and microseconds since the epoch, the precision of the API. */
public final class Instants {

  private Instants() {}

  /** Microseconds since the epoch; smaller fractions are truncated. */
  public static long micros(Instant instant) {
    return Math.addExact(
        Math.multiplyExact(instant.getEpochSecond(), 1_000_000L), instant.getNano() / 1_000);
  }

  /** The instant that is the given number of microseconds after the epoch. */
  public static Instant ofMicros(long micros) {
    return Instant.ofEpochSecond(
        Math.floorDiv(micros, 1_000_000L), Math.floorMod(micros, 1_000_000L) * 1_000);
  }
}
