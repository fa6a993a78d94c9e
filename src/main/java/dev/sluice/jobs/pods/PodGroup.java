package dev.sluice.jobs.pods;

import dev.sluice.api.Keys;
import dev.sluice.jobs.JobRef;
import dev.sluice.jobs.JobState;
import dev.sluice.jobs.JobView;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A group of pods as it stands at a moment. It answers what its pods say and do together; it
 * decides nothing.
 */
final class PodGroup {

  private final String namespace;
  private final String name;
  private final List<PodView> pods;
  private final Instant now;

  /** These pods, of which there may be none. */
  PodGroup(String namespace, String name, List<PodView> pods, Instant now) {
    this.namespace = namespace;
    this.name = name;
    this.now = now;
    this.pods =
        pods.stream()
            .sorted(
                Comparator.<PodView, Instant>comparing(pod -> pod.job().createdAt())
                    .thenComparing(PodView::name))
            .toList();
  }

  String namespace() {
    return namespace;
  }

  String name() {
    return name;
  }

  /** All pods, oldest first. */
  List<PodView> pods() {
    return pods;
  }

  private Stream<PodView.Group> said() {
    return pods.stream().flatMap(pod -> pod.group().stream());
  }

  /** How many pods it is to have; 0 when no pod says so. */
  int totalCount() {
    return said()
        .mapToInt(PodView.Group::totalCount)
        .filter(count -> count > 0)
        .findFirst()
        .orElse(0);
  }

  /** Whether it gets its Workload with its first pod. */
  boolean fastAdmission() {
    return said().anyMatch(PodView.Group::fastAdmission);
  }

  /** Whether it serves, and has no end. */
  boolean serving() {
    return said().anyMatch(PodView.Group::serving);
  }

  /** Whether its pods are made by something that sees to their number itself. */
  boolean hasParent() {
    return pods.stream()
        .anyMatch(pod -> pod.job().annotations().containsKey(Keys.POD_SUSPENDING_PARENT));
  }

  /** Whether somebody else makes its Workload. */
  boolean prebuilt() {
    return pods.stream().anyMatch(pod -> pod.job().prebuiltWorkload().equals(name));
  }

  /** Whether nobody makes another pod for one that fails. */
  private boolean unretriable() {
    return said().anyMatch(group -> !group.retriable());
  }

  /** Whether a pod counts: it did not fail, and is not deleted before it had a node. */
  static boolean isRunnable(PodView pod) {
    return pod.phase() != PodView.Phase.FAILED && !(pod.job().deleting() && !pod.scheduled());
  }

  /** The pods that count. */
  List<PodView> runnable() {
    return pods.stream().filter(PodGroup::isRunnable).toList();
  }

  /** Those that count no more, the most recently active first. */
  List<PodView> spent() {
    return pods.stream()
        .filter(pod -> !isRunnable(pod))
        .sorted(Comparator.comparing(PodView::lastActive).reversed())
        .toList();
  }

  /** Those that wait at their gate. */
  List<PodView> waiting() {
    return pods.stream()
        .filter(pod -> pod.gated() && !pod.ended() && !pod.job().deleting())
        .toList();
  }

  /** Those that may run and that nobody deletes. */
  List<PodView> startedAndKept() {
    return pods.stream()
        .filter(pod -> !pod.gated() && !pod.ended() && !pod.job().deleting())
        .toList();
  }

  /** Those that use up what the Workload was given: started, and neither failed nor overdue. */
  List<PodView> occupying() {
    return runnable().stream()
        .filter(pod -> !pod.gated() && pod.job().deletionTime().filter(now::isAfter).isEmpty())
        .toList();
  }

  /** Whether all of them are being deleted. */
  boolean isLeaving() {
    return pods.stream().allMatch(pod -> pod.job().deleting());
  }

  /** Those that hold a node, and aren't overdue to leave it. */
  List<PodView> active() {
    return pods.stream().filter(this::isActive).toList();
  }

  private boolean isActive(PodView pod) {
    boolean placed = pod.phase() == PodView.Phase.RUNNING || pod.scheduled();
    return placed && !pod.ended() && pod.job().deletionTime().filter(now::isAfter).isEmpty();
  }

  /** When the first of the active pods is overdue to leave, if one is being deleted. */
  Optional<Instant> overdueAt() {
    return active().stream()
        .flatMap(pod -> pod.job().deletionTime().stream())
        .min(Comparator.naturalOrder());
  }

  private static boolean succeeded(PodView pod) {
    return pod.phase() == PodView.Phase.SUCCEEDED;
  }

  /** How it ended, if it has. */
  Optional<JobState.End> end() {
    long succeeded = pods.stream().filter(PodGroup::succeeded).count();
    int total = totalCount();
    boolean allThrough = total > 0 && succeeded >= total;
    boolean givenUp = !pods.isEmpty() && unretriable() && pods.stream().allMatch(PodView::ended);
    return !serving() && (allThrough || givenUp)
        ? Optional.of(new JobState.End(true, "Pods succeeded: %d/%d.".formatted(succeeded, total)))
        : Optional.empty();
  }

  /** Whether all its pods are ready, or through. */
  private boolean isReady() {
    long ready =
        pods.stream().filter(pod -> pod.job().state().podsReady() || succeeded(pod)).count();
    return totalCount() > 0 && ready >= totalCount();
  }

  private Map<String, Integer> reclaimable() {
    return serving()
        ? Map.of()
        : pods.stream()
            .filter(PodGroup::succeeded)
            .collect(Collectors.toMap(PodView::role, pod -> 1, Integer::sum));
  }

  /** The pods of each role, by its name. */
  static Map<String, List<PodView>> byRole(List<PodView> pods) {
    return pods.stream()
        .collect(Collectors.groupingBy(PodView::role, TreeMap::new, Collectors.toList()));
  }

  /** What its pods don't agree about though they have to; empty when they agree. */
  Optional<String> disagreement(List<String> labelsInCommon) {
    if (totalCount() == 0) {
      return Optional.of(
          "no pod says how many there are: annotation %s is missing"
              .formatted(Keys.POD_GROUP_TOTAL_COUNT));
    }
    List<PodView> alive = pods.stream().filter(pod -> pod.phase() != PodView.Phase.FAILED).toList();
    Optional<String> found =
        differing(
                alive,
                Keys.POD_GROUP_TOTAL_COUNT,
                pod -> pod.group().map(it -> it.totalCount() + "").orElse(""))
            .or(() -> differing(alive, Keys.QUEUE_NAME, pod -> pod.job().queueName()));
    found = found.or(() -> outOfRange(alive));
    for (String label : labelsInCommon) {
      found =
          found.or(
              () -> differing(alive, label, pod -> pod.job().labels().getOrDefault(label, "")));
    }
    return found;
  }

  private Optional<String> outOfRange(List<PodView> alive) {
    for (PodView pod : alive) {
      String index = pod.job().labels().getOrDefault(Keys.POD_GROUP_POD_INDEX, "");
      if (!index.isEmpty() && !isBelow(index, totalCount())) {
        return Optional.of(
            "label %s of pod %s is \"%s\", which has to be a number from 0 to %d"
                .formatted(Keys.POD_GROUP_POD_INDEX, pod.name(), index, totalCount() - 1));
      }
    }
    return Optional.empty();
  }

  private static boolean isBelow(String index, int count) {
    try {
      int number = Integer.parseInt(index);
      return number >= 0 && number < count;
    } catch (NumberFormatException notAnIndex) {
      return false;
    }
  }

  private Optional<String> differing(
      List<PodView> alive, String key, Function<PodView, String> value) {
    Map<String, String> first = new LinkedHashMap<>();
    alive.forEach(pod -> first.putIfAbsent(value.apply(pod), pod.name()));
    if (first.size() < 2) {
      return Optional.empty();
    }
    return Optional.of(
        "pods of group \"%s\" must have the same %s: %s"
            .formatted(
                name,
                key,
                first.entrySet().stream()
                    .map(entry -> "\"%s\" in %s".formatted(entry.getKey(), entry.getValue()))
                    .collect(Collectors.joining(", "))));
  }

  /**
   * The group as if it were one job. It is named after its oldest pod, to which people are told
   * what happens to it.
   */
  JobView asJob() {
    Optional<JobView> oldest = pods.stream().map(PodView::job).findFirst();
    JobState state =
        new JobState(
            startedAndKept().isEmpty(),
            true,
            false,
            !active().isEmpty(),
            end(),
            isReady(),
            reclaimable());
    return new JobView(
        oldest
            .map(JobView::ref)
            .orElseGet(() -> new JobRef(SinglePod.KIND, namespace, name, "group " + name)),
        oldest.map(JobView::version).orElse(0L),
        oldest.map(JobView::createdAt).orElse(now),
        Optional.empty(),
        oldest.flatMap(JobView::controller),
        List.of(),
        oldest.map(JobView::labels).orElse(Map.of()),
        annotations(oldest),
        state,
        Optional.empty(),
        podSets(),
        "",
        "");
  }

  /** Those of the oldest pod; a gate on any pod holds all of them. */
  private Map<String, String> annotations(Optional<JobView> oldest) {
    Map<String, String> result =
        new LinkedHashMap<>(oldest.map(JobView::annotations).orElse(Map.of()));
    Set<String> gates = new LinkedHashSet<>();
    for (PodView pod : pods) {
      String said = pod.job().annotations().getOrDefault(Keys.ADMISSION_GATED_BY, "");
      gates.addAll(said.isEmpty() ? List.of() : List.of(said.split(",")));
    }
    if (gates.isEmpty()) {
      result.remove(Keys.ADMISSION_GATED_BY);
    } else {
      result.put(Keys.ADMISSION_GATED_BY, String.join(",", gates));
    }
    return result;
  }

  private List<JobView.PodSet> podSets() {
    List<JobView.PodSet> result = new ArrayList<>();
    byRole(runnable())
        .forEach(
            (role, members) -> {
              JobView.PodSet one = members.getFirst().job().podSets().getFirst();
              result.add(
                  new JobView.PodSet(
                      role, members.size(), 0, one.fingerprint(), one.priorityClassName()));
            });
    return result;
  }

  /** The pods that are not among those with these UIDs, and count. */
  List<PodView> notAmong(Set<String> uids) {
    Set<String> known = new HashSet<>(uids);
    return runnable().stream().filter(pod -> !known.contains(pod.job().ref().uid())).toList();
  }
}
