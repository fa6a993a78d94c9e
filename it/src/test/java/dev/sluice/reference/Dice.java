package dev.sluice.reference;

import java.util.Random;

/** Chance, in the words of those who make worlds up. */
record Dice(Random random) {

  Dice(long seed) {
    this(new Random(seed));
  }

  /** A number from 0 to one less than this. */
  int below(int bound) {
    return random.nextInt(bound);
  }

  boolean chance(int percent) {
    return random.nextInt(100) < percent;
  }

  boolean chanceOfHalf() {
    return random.nextBoolean();
  }

  <T> T pick(T[] among) {
    return among[random.nextInt(among.length)];
  }
}
