package dev.sluice.jobs.kinds.pod;

import dev.sluice.api.KueueConstants;
import dev.sluice.api.TextLimits;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.policy.CachedJob;
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
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A group of pods as it stands at a moment. It answers what its pods say and do together; it
 * decides nothing.
 */
final class PodGroup {

  private final String namespace;
  private final String name;
  private final List<CachedPod> pods;
  private final Instant now;
  private final Predicate<CachedPod> replaced;
  private final boolean releasesFast;

  /** These pods, of which there may be none; no rollout is under way. */
  PodGroup(String namespace, String name, List<CachedPod> pods, Instant now) {
    this(namespace, name, pods, now, pod -> false, false);
  }

  /**
   * These pods, of which there may be none.
   *
   * @param replaced whether a rollout is about to replace a pod, and waits for it to run until then
   * @param releasesFast whether a pod that is being deleted needs no quota any more (gate {@code
   *     FastQuotaReleaseInPodIntegration})
   */
  PodGroup(
      String namespace,
      String name,
      List<CachedPod> pods,
      Instant now,
      Predicate<CachedPod> replaced,
      boolean releasesFast) {
    this.replaced = replaced;
    this.releasesFast = releasesFast;
    this.namespace = namespace;
    this.name = name;
    this.now = now;
    this.pods =
        pods.stream()
            .sorted(
                Comparator.<CachedPod, Instant>comparing(pod -> pod.job().createdAt())
                    .thenComparing(CachedPod::name))
            .toList();
  }

  String namespace() {
    return namespace;
  }

  String name() {
    return name;
  }

  /** All pods, oldest first. */
  List<CachedPod> pods() {
    return pods;
  }

  private Stream<CachedPod.Group> said() {
    return pods.stream().flatMap(pod -> pod.group().stream());
  }

  /** How many pods it is to have; 0 when no pod says so. */
  int totalCount() {
    return said()
        .mapToInt(CachedPod.Group::totalCount)
        .filter(count -> count > 0)
        .findFirst()
        .orElse(0);
  }

  /** Whether it gets its Workload with its first pod. */
  boolean fastAdmission() {
    return said().anyMatch(CachedPod.Group::fastAdmission);
  }

  /** Whether it serves, and has no end. */
  boolean serving() {
    return said().anyMatch(CachedPod.Group::serving);
  }

  /** Whether its pods are made by something that sees to their number itself. */
  boolean hasParent() {
    return pods.stream()
        .anyMatch(pod -> pod.job().annotations().containsKey(KueueConstants.POD_SUSPENDING_PARENT));
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
  static boolean isRunnable(CachedPod pod) {
    return pod.phase() != CachedPod.Phase.FAILED && !(pod.job().deleting() && !pod.scheduled());
  }

  /** The pods that count. */
  List<CachedPod> runnable() {
    return pods.stream().filter(PodGroup::isRunnable).toList();
  }

  /**
   * The pods that count, without those that are being deleted where others may come for them
   * meanwhile.
   *
   * @param evicted whether the group was evicted
   */
  List<CachedPod> members(boolean evicted) {
    return runnable().stream()
        .filter(pod -> !(evicted || releasesFast) || !pod.job().deleting())
        .toList();
  }

  /**
   * The pods that need no replacement.
   *
   * @param evicted whether the group was evicted: then a pod that is being deleted doesn't run
   *     again, even if no node has confirmed its end
   */
  List<CachedPod> present(boolean evicted) {
    return pods.stream().filter(pod -> isPresent(pod, evicted)).toList();
  }

  /** The pods that need a replacement, the most recently active first. */
  List<CachedPod> lost(boolean evicted) {
    return pods.stream()
        .filter(pod -> !isPresent(pod, evicted))
        .sorted(Comparator.comparing(CachedPod::lastActive).reversed())
        .toList();
  }

  private boolean isPresent(CachedPod pod, boolean evicted) {
    boolean leaves = evicted && pod.job().deleting() && !succeeded(pod) && !isActive(pod);
    return isRunnable(pod) && !leaves;
  }

  /** Those that wait at their gate. */
  List<CachedPod> waiting() {
    return pods.stream()
        .filter(pod -> pod.gated() && !pod.ended() && !pod.job().deleting())
        .toList();
  }

  /**
   * The pods that a Workload is made for: those that wait at their gate, and behind them those that
   * have succeeded, which nobody makes again.
   */
  List<CachedPod> composed() {
    return Stream.concat(waiting().stream(), kept().stream()).toList();
  }

  /** The pods that have succeeded, and count among the total; none where others come for them. */
  List<CachedPod> kept() {
    return serving() || hasParent()
        ? List.of()
        : pods.stream().filter(pod -> succeeded(pod) && !pod.job().deleting()).toList();
  }

  /** Those that may run and that nobody deletes. */
  List<CachedPod> startedAndKept() {
    return pods.stream()
        .filter(pod -> !pod.gated() && !pod.ended() && !pod.job().deleting())
        .toList();
  }

  /**
   * Those that may run although the Workload has no quota, and that nobody deletes, without those
   * that a rollout is about to replace: it would wait for them for ever.
   */
  List<CachedPod> startedWithoutQuota() {
    return startedAndKept().stream().filter(pod -> !replaced.test(pod)).toList();
  }

  /** Those that are being deleted, and have ended or never had a node. */
  List<CachedPod> stopped() {
    return pods.stream()
        .filter(pod -> pod.job().deleting() && (pod.ended() || !pod.scheduled()))
        .toList();
  }

  /** Those that use up what the Workload was given: started, and neither failed nor leaving. */
  List<CachedPod> occupying() {
    return runnable().stream().filter(pod -> !pod.gated() && !leaves(pod)).toList();
  }

  /** Whether a pod that is being deleted needs no quota any more. */
  boolean releasesFast() {
    return releasesFast;
  }

  /** Whether all of them are being deleted. */
  boolean isLeaving() {
    return pods.stream().allMatch(pod -> pod.job().deleting());
  }

  /** Those that hold a node, and the quota for it. */
  List<CachedPod> active() {
    return pods.stream().filter(this::isActive).toList();
  }

  private boolean isActive(CachedPod pod) {
    boolean placed = pod.phase() == CachedPod.Phase.RUNNING || pod.scheduled();
    return placed && !pod.ended() && !leaves(pod);
  }

  /** Whether a pod that is being deleted has given its quota back, overdue or not. */
  private boolean leaves(CachedPod pod) {
    return pod.job().deletionTime().filter(due -> releasesFast || now.isAfter(due)).isPresent();
  }

  /** When the first of the active pods is overdue to leave, if one is being deleted. */
  Optional<Instant> overdueAt() {
    return active().stream()
        .flatMap(pod -> pod.job().deletionTime().stream())
        .min(Comparator.naturalOrder());
  }

  private static boolean succeeded(CachedPod pod) {
    return pod.phase() == CachedPod.Phase.SUCCEEDED;
  }

  /** How it ended, if it has. */
  Optional<JobState.End> end() {
    long succeeded = pods.stream().filter(PodGroup::succeeded).count();
    int total = totalCount();
    boolean allThrough = total > 0 && succeeded >= total;
    boolean givenUp = !pods.isEmpty() && unretriable() && pods.stream().allMatch(CachedPod::ended);
    return !serving() && (allThrough || givenUp)
        ? Optional.of(new JobState.End(true, "Pods succeeded: %d/%d.".formatted(succeeded, total)))
        : Optional.empty();
  }

  /**
   * Whether all its pods are ready, but for some.
   *
   * @param missing how many needn't be ready
   * @param countSucceeded whether a pod that succeeded counts as ready
   */
  boolean isReady(int missing, boolean countSucceeded) {
    long ready =
        pods.stream()
            .filter(
                pod ->
                    succeeded(pod) ? countSucceeded : pod.job().state().podsReady() && !pod.ended())
            .count();
    return totalCount() > 0 && ready >= totalCount() - missing;
  }

  private Map<String, Integer> reclaimable() {
    return serving()
        ? Map.of()
        : pods.stream()
            .filter(PodGroup::succeeded)
            .collect(Collectors.toMap(CachedPod::role, pod -> 1, Integer::sum));
  }

  /** The pods of each role, by its name. */
  static Map<String, List<CachedPod>> byRole(List<CachedPod> pods) {
    return pods.stream()
        .collect(Collectors.groupingBy(CachedPod::role, TreeMap::new, Collectors.toList()));
  }

  /** The value of a label that some of its pods carry; of several, the oldest pod's. */
  Optional<String> label(String key) {
    return pods.stream()
        .flatMap(pod -> Optional.ofNullable(pod.job().labels().get(key)).stream())
        .findFirst();
  }

  /**
   * What its pods don't agree about though they have to; empty when they agree.
   *
   * @param labelsInCommon labels that pods may lack, and whose values must not differ
   */
  Optional<String> disagreement(List<String> labelsInCommon) {
    if (totalCount() == 0) {
      return Optional.of(
          "no pod says how many there are: annotation %s is missing"
              .formatted(KueueConstants.POD_GROUP_TOTAL_COUNT));
    }
    List<CachedPod> alive =
        pods.stream().filter(pod -> pod.phase() != CachedPod.Phase.FAILED).toList();
    Optional<String> found =
        differing(
                alive,
                KueueConstants.POD_GROUP_TOTAL_COUNT,
                pod -> pod.group().map(it -> it.totalCount() + "").orElse(""))
            .or(() -> differing(alive, KueueConstants.QUEUE_NAME, pod -> pod.job().queueName()));
    found = found.or(() -> outOfRange(alive));
    for (String label : labelsInCommon) {
      found =
          found.or(
              () ->
                  differing(
                      alive.stream().filter(pod -> pod.job().labels().containsKey(label)).toList(),
                      label,
                      pod -> pod.job().labels().getOrDefault(label, "")));
    }
    return found;
  }

  private Optional<String> outOfRange(List<CachedPod> alive) {
    for (CachedPod pod : alive) {
      String index = pod.job().labels().getOrDefault(KueueConstants.POD_GROUP_POD_INDEX, "");
      if (!index.isEmpty() && !isBelow(index, totalCount())) {
        return Optional.of(
            "label %s of pod %s is \"%s\", which must be a number from 0 to %d"
                .formatted(
                    KueueConstants.POD_GROUP_POD_INDEX, pod.name(), index, totalCount() - 1));
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
      List<CachedPod> alive, String key, Function<CachedPod, String> value) {
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
  CachedJob asJob() {
    Optional<CachedJob> oldest = pods.stream().map(CachedPod::job).findFirst();
    JobState state =
        new JobState(
            startedAndKept().isEmpty(),
            true,
            false,
            !active().isEmpty(),
            end(),
            isReady(0, true),
            reclaimable());
    return new CachedJob(
        oldest
            .map(CachedJob::ref)
            .orElseGet(() -> new JobRef(SinglePod.KIND, namespace, name, "group " + name)),
        oldest.map(CachedJob::version).orElse(0L),
        oldest.map(CachedJob::createdAt).orElse(now),
        Optional.empty(),
        oldest.flatMap(CachedJob::controller),
        List.of(),
        oldest.map(CachedJob::labels).orElse(Map.of()),
        annotations(oldest),
        state,
        Optional.empty(),
        podSets(),
        "",
        "");
  }

  /** Those of the oldest pod; a gate on any pod holds all of them. */
  private Map<String, String> annotations(Optional<CachedJob> oldest) {
    Map<String, String> result =
        new LinkedHashMap<>(oldest.map(CachedJob::annotations).orElse(Map.of()));
    Set<String> gates = new LinkedHashSet<>();
    for (CachedPod pod : pods) {
      String said = pod.job().annotations().getOrDefault(KueueConstants.ADMISSION_GATED_BY, "");
      gates.addAll(said.isEmpty() ? List.of() : TextLimits.items(said));
    }
    if (gates.isEmpty()) {
      result.remove(KueueConstants.ADMISSION_GATED_BY);
    } else {
      result.put(KueueConstants.ADMISSION_GATED_BY, String.join(",", gates));
    }
    return result;
  }

  private List<CachedJob.PodSet> podSets() {
    List<CachedJob.PodSet> result = new ArrayList<>();
    byRole(runnable())
        .forEach(
            (role, members) -> {
              CachedJob.PodSet one = members.getFirst().job().podSets().getFirst();
              result.add(
                  new CachedJob.PodSet(
                      role, members.size(), 0, one.fingerprint(), one.priorityClassName()));
            });
    return result;
  }

  /** The pods that are not among those with these UIDs, and count. */
  List<CachedPod> notAmong(Set<String> uids) {
    Set<String> known = new HashSet<>(uids);
    return runnable().stream().filter(pod -> !known.contains(pod.job().ref().uid())).toList();
  }
}
