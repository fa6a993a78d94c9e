package dev.sluice.core.engine;

import java.time.Instant;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What a LocalQueue used over time, at one moment.
 *
 * @param consumed the average by resource, in the resource's own unit (cores for cpu)
 * @param sampledAt when use was sampled last
 * @param amount all of it in one number, entry penalties included: less comes first; may be
 *     infinite
 */
public record LocalQueueUsageView(
    SortedMap<String, Double> consumed, Instant sampledAt, double amount) {

  public LocalQueueUsageView {
    consumed = Collections.unmodifiableSortedMap(new TreeMap<>(consumed));
  }
}
