package dev.sluice.core.engine;

import java.time.Instant;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A snapshot of a LocalQueue's usage over time.
 *
 * @param consumed the average by resource, in the resource's own unit (cores for cpu)
 * @param sampledAt the time of the last sample
 * @param amount the usage as one number, entry penalties included: a LocalQueue with less usage
 *     comes first; may be infinite
 */
public record LocalQueueUsageView(
    SortedMap<String, Double> consumed, Instant sampledAt, double amount) {

  public LocalQueueUsageView {
    consumed = Collections.unmodifiableSortedMap(new TreeMap<>(consumed));
  }
}
