package dev.sluice.lab.bench.month;

import java.lang.management.ManagementFactory;

/** Measures what the heap holds. */
final class HeapMeasurement {

  private static final int COLLECTIONS = 3;

  private HeapMeasurement() {}

  /** What the heap holds after collections, in MiB. */
  static double mebibytes() {
    for (int i = 0; i < COLLECTIONS; i++) {
      System.gc();
    }
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() / (1024.0 * 1024);
  }
}
