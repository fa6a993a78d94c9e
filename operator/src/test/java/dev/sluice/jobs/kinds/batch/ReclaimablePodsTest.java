package dev.sluice.jobs.kinds.batch;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.GivenJob;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Quota given back by a running Job, checked in every status that a small Job can reach: what stays
 * charged covers all pods that run or may yet run at once.
 */
class ReclaimablePodsTest {

  private static final int LARGEST = 6;
  private static final int MOST_FAILED = 2;
  private static final int MOST_TERMINATING = 2;

  /** The spec of a Job. Completions of 0 stand for a Job that gives none. */
  record Spec(int parallelism, int completions, boolean indexed) {

    /** How many pods the Job's controller wants to run. */
    int wanted(Status status) {
      if (completions == 0) {
        return status.succeeded > 0 ? Math.min(status.active, parallelism) : parallelism;
      }
      int left = completions - status.succeeded - status.failedIndexes;
      return Math.min(parallelism, Math.max(0, left));
    }
  }

  /** The status of a Job, without what decides nothing. */
  record Status(int active, int terminating, int succeeded, int failed, int failedIndexes) {

    static final Status NEW = new Status(0, 0, 0, 0, 0);

    /** What may come next: a pod starts, succeeds, fails, is deleted or is gone. */
    List<Status> next(Spec spec) {
      List<Status> next = new ArrayList<>();
      if (active < spec.wanted(this)) {
        next.add(new Status(active + 1, terminating, succeeded, failed, failedIndexes));
      }
      if (active > 0) {
        next.add(new Status(active - 1, terminating, succeeded + 1, failed, failedIndexes));
        if (failed < MOST_FAILED) {
          next.add(new Status(active - 1, terminating, succeeded, failed + 1, failedIndexes));
        }
        if (spec.indexed && failed < MOST_FAILED) {
          next.add(new Status(active - 1, terminating, succeeded, failed + 1, failedIndexes + 1));
        }
        if (terminating < MOST_TERMINATING) {
          next.add(new Status(active - 1, terminating + 1, succeeded, failed, failedIndexes));
        }
      }
      if (terminating > 0) {
        next.add(new Status(active, terminating - 1, succeeded, failed, failedIndexes));
      }
      return next;
    }
  }

  static Stream<Spec> specs() {
    return IntStream.rangeClosed(1, LARGEST)
        .boxed()
        .flatMap(
            parallelism ->
                IntStream.rangeClosed(0, LARGEST)
                    .boxed()
                    .flatMap(
                        completions ->
                            completions == 0
                                ? Stream.of(new Spec(parallelism, 0, false))
                                : Stream.of(
                                    new Spec(parallelism, completions, false),
                                    new Spec(parallelism, completions, true))));
  }

  @ParameterizedTest
  @MethodSource("specs")
  void whatStaysChargedCoversAllPodsThatMayRunAtOnce(Spec spec) {
    Map<Status, List<Status>> reachable = reachable(spec);
    assertThat(reachable).hasSizeGreaterThan(spec.parallelism);
    Map<Status, Integer> mayRun = mayRun(reachable);
    reachable
        .keySet()
        .forEach(
            status -> {
              int needed =
                  Math.max(
                      mayRun.getOrDefault(status, 0),
                      Math.min(podSetCount(spec), status.active + status.terminating));
              for (int ready = 0; ready <= status.active; ready++) {
                int charged = charged(job(spec, status, ready));
                assertThat(charged)
                    .as("%s, %s, %d ready", spec, status, ready)
                    .isBetween(needed, podSetCount(spec));
              }
            });
  }

  private static Map<Status, List<Status>> reachable(Spec spec) {
    Map<Status, List<Status>> known = new LinkedHashMap<>();
    Deque<Status> open = new ArrayDeque<>(List.of(Status.NEW));
    while (!open.isEmpty()) {
      Status status = open.pop();
      if (!known.containsKey(status)) {
        List<Status> next = status.next(spec);
        known.put(status, next);
        open.addAll(next);
      }
    }
    return known;
  }

  /** The most pods that are active at once, from each status on. */
  private static Map<Status, Integer> mayRun(Map<Status, List<Status>> reachable) {
    Map<Status, Integer> most = new HashMap<>();
    reachable.keySet().forEach(status -> most.put(status, status.active));
    boolean changed = true;
    while (changed) {
      changed = false;
      for (Map.Entry<Status, List<Status>> entry : reachable.entrySet()) {
        int later =
            entry.getValue().stream().mapToInt(next -> most.getOrDefault(next, 0)).max().orElse(0);
        if (later > most.getOrDefault(entry.getKey(), 0)) {
          most.put(entry.getKey(), later);
          changed = true;
        }
      }
    }
    return most;
  }

  private static int podSetCount(Spec spec) {
    return spec.completions == 0 ? spec.parallelism : Math.min(spec.parallelism, spec.completions);
  }

  private static int charged(ObjectNode job) {
    BatchJob adapter = new BatchJob();
    return adapter.podSets(job).getFirst().count()
        - adapter.state(job).reclaimable().getOrDefault("main", 0);
  }

  private static ObjectNode job(Spec spec, Status status, int ready) {
    GivenJob job =
        GivenJob.job()
            .spec("suspend", "false")
            .spec("parallelism", Integer.toString(spec.parallelism))
            .status("active", Integer.toString(status.active))
            .status("ready", Integer.toString(ready))
            .status("terminating", Integer.toString(status.terminating))
            .status("succeeded", Integer.toString(status.succeeded))
            .status("failed", Integer.toString(status.failed));
    if (spec.completions == 0) {
      job.without("/spec", "completions");
    } else {
      job.spec("completions", Integer.toString(spec.completions));
    }
    if (spec.indexed) {
      int done = status.succeeded + status.failedIndexes;
      job.spec("completionMode", "Indexed")
          .status("completedIndexes", indexes(0, status.succeeded))
          .status("failedIndexes", indexes(status.succeeded, done));
    }
    return job.object();
  }

  private static String indexes(int from, int to) {
    return switch (to - from) {
      case 0 -> "''";
      case 1 -> "'" + from + "'";
      default -> "'" + from + "-" + (to - 1) + "'";
    };
  }
}
