package dev.sluice.lab.bench;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;

/** When each Workload of a run was seen to be admitted first, by a watch. */
final class AdmissionTimes implements AutoCloseable {

  private final Map<Integer, Long> firstSeen = new ConcurrentHashMap<>();
  private final Map<Integer, Observation> running = new ConcurrentHashMap<>();
  private final CollectionWatch watch;
  private volatile String failure = "";

  /** Begins to watch the Workloads of the run. */
  AdmissionTimes(BenchmarkTarget benchmarkTarget, BenchmarkApiClient benchmarkApiClient) {
    watch =
        new CollectionWatch(
            benchmarkApiClient,
            benchmarkTarget.namespaced("workloads"),
            this::seen,
            e -> failure = String.valueOf(e.getMessage()));
    watch.start();
  }

  private void seen(JsonNode object) {
    Observation observation = Observation.ofWorkload(object);
    if (observation.admitted() && !observation.finished()) {
      firstSeen.putIfAbsent(observation.ordinal(), System.nanoTime());
      running.put(observation.ordinal(), observation);
    } else {
      running.remove(observation.ordinal());
    }
  }

  /** The earliest first admission after a moment of {@link System#nanoTime}, if there was one. */
  OptionalLong firstAfter(long nanos) {
    checkWatch();
    return firstSeen.values().stream()
        .mapToLong(Long::longValue)
        .filter(seen -> seen - nanos >= 0)
        .min();
  }

  /** The Workloads that are admitted and haven't ended, as they were seen last. */
  List<Observation> running() {
    checkWatch();
    return List.copyOf(running.values());
  }

  private void checkWatch() {
    if (!failure.isEmpty()) {
      throw new BenchException(failure);
    }
  }

  @Override
  public void close() {
    watch.close();
  }
}
