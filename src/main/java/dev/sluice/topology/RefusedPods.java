package dev.sluice.topology;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * Pods whose patch the API server refused. The refusal holds until the pod changes, or until a
 * pause ends that doubles each time: what refuses, such as a webhook, may change without the pod.
 * The pods of one key are used by the worker that handles the key.
 */
final class RefusedPods {

  private static final Duration FIRST_PAUSE = Duration.ofSeconds(30);
  private static final Duration LONGEST_PAUSE = Duration.ofMinutes(10);

  private record Refusal(String version, Instant until, Duration pause) {}

  private final InstantSource clock;
  private final Map<PodStore.Key, Map<String, Refusal>> refusals = new ConcurrentHashMap<>();

  RefusedPods(InstantSource clock) {
    this.clock = clock;
  }

  /** Records that the patch of a pod was refused. */
  void refused(TopologyPod pod) {
    refusals
        .computeIfAbsent(PodStore.Key.of(pod), any -> new ConcurrentHashMap<>())
        .compute(
            pod.uid(),
            (uid, before) -> {
              boolean again = before != null && before.version.equals(pod.version());
              Duration twice = again ? before.pause.multipliedBy(2) : FIRST_PAUSE;
              Duration pause = twice.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : twice;
              return new Refusal(pod.version(), clock.instant().plus(pause), pause);
            });
  }

  /** Whether a refusal of the pod, as it is, holds. */
  boolean holds(TopologyPod pod) {
    Refusal refusal = refusals.getOrDefault(PodStore.Key.of(pod), Map.of()).get(pod.uid());
    return refusal != null
        && refusal.version.equals(pod.version())
        && clock.instant().isBefore(refusal.until);
  }

  /** The time until the next pod of a Workload can be asked for again; empty without refusals. */
  Optional<Duration> next(PodStore.Key workload) {
    return refusals.getOrDefault(workload, Map.of()).values().stream()
        .map(Refusal::until)
        .min(Comparator.naturalOrder())
        .map(until -> Duration.between(clock.instant(), until))
        .map(left -> left.isNegative() ? Duration.ZERO : left);
  }

  /** Forgets the refusals of pods that aren't among these any more, or have no gate. */
  void retain(PodStore.Key workload, Collection<TopologyPod> pods) {
    refusals.computeIfPresent(
        workload,
        (key, known) -> {
          Set<String> gated =
              pods.stream()
                  .filter(TopologyPod::gated)
                  .map(TopologyPod::uid)
                  .collect(Collectors.toSet());
          known.keySet().retainAll(gated);
          return known.isEmpty() ? null : known;
        });
  }
}
