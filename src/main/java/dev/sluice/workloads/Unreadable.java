package dev.sluice.workloads;

import java.nio.charset.StandardCharsets;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Objects that could not be read: counted, and told once each with their beginning. */
final class Unreadable {

  private static final Logger LOG = LoggerFactory.getLogger(Unreadable.class);
  private static final int BEGINNING = 300;

  private final ReaderCounters counters;

  Unreadable(ReaderCounters counters) {
    this.counters = counters;
  }

  void report(byte[] bytes, int offset, int length, Exception cause) {
    counters.unreadableObject();
    String beginning =
        new String(bytes, offset, Math.min(length, BEGINNING), StandardCharsets.UTF_8);
    LOG.error("workload unreadable object=\"{}\"", beginning, cause);
  }
}
