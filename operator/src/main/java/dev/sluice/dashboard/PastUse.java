package dev.sluice.dashboard;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.core.engine.ClusterQueueView;
import dev.sluice.core.engine.FlavorUsage;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What ClusterQueues used, and how many of their Workloads waited, over the last hours: samples of
 * the published views in a ring of fixed size, gone with the process (docs/dashboard.md). At most
 * {@value #MOST_SERIES} series are kept, about 6 MiB; queues beyond them have no past. Thread-safe.
 */
public final class PastUse {

  /** How long lies between two samples. */
  public static final Duration INTERVAL = Duration.ofMinutes(2);

  /** The number of samples that are kept: six hours. */
  static final int SAMPLES = 180;

  /** The most series that are kept: one per ClusterQueue, and one per pair of each. */
  static final int MOST_SERIES = 4_000;

  private static final long ABSENT = -1;

  /** What is sampled: the use of a pair, or, with an empty flavor, the Workloads that wait. */
  private record Series(String clusterQueue, String flavor, String resource) {}

  private final Map<Series, long[]> rings = new LinkedHashMap<>();
  private final long[] times = new long[SAMPLES];
  private int samples;

  /** Takes a sample; the oldest one is forgotten where there are enough. */
  public synchronized void sample(Instant now, Collection<ClusterQueueView> queues) {
    int at = samples % SAMPLES;
    times[at] = now.toEpochMilli();
    samples++;
    rings.values().forEach(ring -> ring[at] = ABSENT);
    for (ClusterQueueView queue : queues) {
      put(
          at,
          new Series(queue.name(), "", ""),
          queue.pendingActive() + queue.pendingInadmissible());
      for (FlavorUsage pair : queue.usage()) {
        put(at, new Series(queue.name(), pair.flavor(), pair.resource()), pair.reserved());
      }
    }
    if (at == SAMPLES - 1) {
      rings.values().removeIf(ring -> Arrays.stream(ring).allMatch(value -> value == ABSENT));
    }
  }

  private void put(int at, Series series, long value) {
    long[] ring = rings.get(series);
    if (ring == null && rings.size() < MOST_SERIES) {
      ring = new long[SAMPLES];
      Arrays.fill(ring, ABSENT);
      rings.put(series, ring);
    }
    if (ring != null) {
      ring[at] = value;
    }
  }

  /**
   * The past of a ClusterQueue, the oldest sample first; without a sample if it has no past. Times
   * are in milliseconds since 1970; where the queue or the pair didn't exist, the value is null.
   */
  synchronized ObjectNode of(String clusterQueue) {
    ObjectNode document = JsonMappers.JSON.createObjectNode();
    ArrayNode moments = document.putArray("times");
    int oldest = Math.max(0, samples - SAMPLES);
    for (int i = oldest; i < samples; i++) {
      moments.add(times[i % SAMPLES]);
    }
    ArrayNode usage = document.putArray("usage");
    rings.forEach(
        (series, ring) -> {
          if (!series.clusterQueue().equals(clusterQueue)) {
            return;
          }
          ArrayNode values;
          if (series.flavor().isEmpty()) {
            values = document.putArray("pending");
          } else {
            ObjectNode node = usage.addObject();
            node.put("flavor", series.flavor()).put("resource", series.resource());
            values = node.putArray("used");
          }
          for (int i = oldest; i < samples; i++) {
            long value = ring[i % SAMPLES];
            if (value == ABSENT) {
              values.addNull();
            } else {
              values.add(value);
            }
          }
        });
    return document;
  }
}
