package dev.sluice.accounting;

import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.workload.feed.AdmittedRequests;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Assignment;
import dev.sluice.workload.record.CachedWorkload.PodSet;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * Compares pods with what Workloads were admitted with (docs/pod-accounting.md#the-comparison): a
 * pure function of both and of the time. Pod sets are not told apart, since only labels of a pod
 * say which one it belongs to: all pods of an account together are compared with all that the
 * account is charged for.
 *
 * @param requests counts requests as quota does
 * @param summed whether a pod set of a Workload stands for any number of pods that request its
 *     amounts together, as that of a Workflow does: such pods are not counted
 * @param releasesFast whether a pod that is a job itself needs no quota once it is being deleted
 *     (gate {@code FastQuotaReleaseInPodIntegration})
 */
public record AdmissionComparison(
    AdmittedRequests requests, Predicate<CachedWorkload> summed, boolean releasesFast) {

  /** The longest grace period in which a pod may terminate beside the pod that replaces it. */
  public static final long TOLERATED_GRACE_SECONDS = 30;

  /** How long after its grace period a kubelet may take to report that a pod has ended. */
  private static final Duration REPORT_TIME = Duration.ofSeconds(10);

  /** A resource of quota that is the number of pods itself. */
  private static final String PODS = "pods";

  /**
   * What an account is charged for.
   *
   * @param pods the number of pods
   * @param amounts the amounts by resource, as quota counts them
   * @param othersIgnored whether resources without an amount are not compared, except those of
   *     devices
   */
  public record Charge(int pods, SortedMap<String, Long> amounts, boolean othersIgnored) {

    /** Nothing was admitted. */
    public static final Charge NOTHING = new Charge(0, new TreeMap<>(), false);
  }

  /**
   * What the comparison has found.
   *
   * @param beyond how many pods are too many, at least 1 if amounts exceed; 0 if nothing exceeds
   * @param excess what exceeds, for people; empty if nothing does
   * @param lookAgainAt when the result changes by time alone; empty if it doesn't
   */
  public record Finding(int beyond, String excess, Optional<Instant> lookAgainAt) {

    /** Nothing exceeds. */
    static final Finding NOTHING = new Finding(0, "", Optional.empty());

    /** Whether more runs than is charged. */
    public boolean exceeds() {
      return beyond > 0;
    }
  }

  /** What some Workloads are charged for together, without the pods that they have given back. */
  public Charge charge(Collection<CachedWorkload> workloads) {
    long pods = 0;
    SortedMap<String, Long> amounts = new TreeMap<>();
    Set<String> declared = new HashSet<>();
    for (CachedWorkload workload : workloads) {
      for (Assignment assignment : workload.assignments()) {
        Optional<PodSet> known = podSet(workload, assignment);
        int count = remaining(workload, assignment, known);
        pods += summed.test(workload) ? Integer.MAX_VALUE : count;
        declared.addAll(assignment.resourceUsage().keySet());
        known.ifPresent(
            podSet ->
                requests
                    .allowed(podSet, assignment, count)
                    .forEach((r, amount) -> amounts.merge(r, amount, ResourceAmounts::add)));
      }
    }
    if (requests.ignoresUndeclared()) {
      amounts.keySet().removeIf(r -> !declared.contains(r) && !requests.isOfDevices(r));
    }
    return new Charge(
        (int) Math.min(Integer.MAX_VALUE, pods), amounts, requests.ignoresUndeclared());
  }

  /**
   * The pods of an assignment that quota is still charged for: those that the pod set has now
   * without the reclaimable ones, at most those that were assigned.
   */
  private static int remaining(
      CachedWorkload workload, Assignment assignment, Optional<PodSet> podSet) {
    int reclaimed =
        Math.max(0, workload.status().reclaimablePods().getOrDefault(assignment.name(), 0));
    int wanted = podSet.map(PodSet::count).orElse(assignment.count()) - reclaimed;
    return Math.clamp(wanted, 0, Math.max(0, assignment.count()));
  }

  private static Optional<PodSet> podSet(CachedWorkload workload, Assignment assignment) {
    return workload.spec().podSets().stream()
        .filter(podSet -> podSet.name().equals(assignment.name()))
        .findFirst();
  }

  /**
   * Whether pods are more than is charged, those included that terminate. While no more than the
   * charged pods terminate, each with a short grace period that isn't over, these are left out:
   * they may be replaced meanwhile.
   *
   * @param pods pods that run, or may be bound to a node at any moment
   * @param released whether those that terminate have given their quota back: then they are left
   *     out as long as their grace period isn't over, however long it is
   */
  public Finding find(Charge charge, Collection<PodRecord> pods, boolean released, Instant now) {
    List<PodRecord> tolerated = new ArrayList<>();
    List<PodRecord> counted = new ArrayList<>();
    for (PodRecord pod : pods) {
      ((released ? ends(pod, now) : endsSoon(pod, now)) ? tolerated : counted).add(pod);
    }
    if (!released && !within(charge, tolerated)) {
      counted.addAll(tolerated);
      tolerated.clear();
    }
    Optional<Instant> next =
        tolerated.stream()
            .flatMap(pod -> pod.deletion().stream())
            .map(deletion -> deletion.due().plus(REPORT_TIME))
            .min(Instant::compareTo);
    return compare(charge, counted, next);
  }

  /** The same with all pods counted, terminating or not. */
  Finding findWithTerminating(Charge charge, Collection<PodRecord> pods) {
    return compare(charge, pods, Optional.empty());
  }

  /**
   * How many pods run beside what is charged, because pods that terminate are left out: by their
   * number, or by their part of all that is charged, if that is more. So large pods count like the
   * many small ones that the same quota is charged for. 0 if none do, or if more exceeds than that.
   */
  int beside(Charge charge, Collection<PodRecord> pods, Instant now) {
    return pods.stream().noneMatch(pod -> endsSoon(pod, now))
            || within(charge, pods)
            || find(charge, pods, false, now).exceeds()
        ? 0
        : Math.max(1, Math.max(pods.size() - charge.pods(), partBeside(charge, pods)));
  }

  /** The largest part of an amount that pods request beyond it, of the charged pods. */
  private int partBeside(Charge charge, Collection<PodRecord> pods) {
    if (charge.pods() == Integer.MAX_VALUE) {
      return 0; // these aren't counted
    }
    double most = 0;
    for (Map.Entry<String, Long> used : sum(pods).entrySet()) {
      long allowed = charge.amounts().getOrDefault(used.getKey(), 0L);
      if (allowed > 0 && !used.getKey().equals(PODS)) {
        most = Math.max(most, ((double) used.getValue() - allowed) * charge.pods() / allowed);
      }
    }
    return (int) Math.ceil(most);
  }

  private Finding compare(Charge charge, Collection<PodRecord> counted, Optional<Instant> next) {
    int tooMany = counted.size() - charge.pods();
    if (tooMany > 0) {
      return new Finding(tooMany, "pods: %d of %d".formatted(counted.size(), charge.pods()), next);
    }
    return excess(charge, counted)
        .map(excess -> new Finding(1, excess, next))
        .orElseGet(() -> new Finding(0, "", next));
  }

  /** Whether all these pods together, terminating or not, are covered by what is charged. */
  public boolean within(Charge charge, Collection<PodRecord> pods) {
    return pods.size() <= charge.pods() && excess(charge, pods).isEmpty();
  }

  /** Whether a pod is being deleted with a short grace period that isn't over. */
  static boolean endsSoon(PodRecord pod, Instant now) {
    return pod.deletion()
        .filter(deletion -> pod.eligibility().graceSeconds() <= TOLERATED_GRACE_SECONDS)
        .filter(deletion -> deletion.graceSeconds() <= TOLERATED_GRACE_SECONDS)
        .filter(deletion -> ends(pod, now))
        .isPresent();
  }

  /** Whether a pod is being deleted, and may still be reported to have ended in time. */
  private static boolean ends(PodRecord pod, Instant now) {
    return pod.deletion()
        .filter(deletion -> now.isBefore(deletion.due().plus(REPORT_TIME)))
        .isPresent();
  }

  private SortedMap<String, Long> sum(Collection<PodRecord> pods) {
    SortedMap<String, Long> sum = new TreeMap<>();
    for (PodRecord pod : pods) {
      requests
          .withDevices(pod.namespace(), pod.amounts().claims(), pod.amounts().counted())
          .forEach((resource, amount) -> sum.merge(resource, amount, ResourceAmounts::add));
    }
    return sum;
  }

  private Optional<String> excess(Charge charge, Collection<PodRecord> pods) {
    for (Map.Entry<String, Long> used : sum(pods).entrySet()) {
      String resource = used.getKey();
      Long allowed = charge.amounts().get(resource);
      boolean compared =
          allowed != null || !charge.othersIgnored() || requests.isOfDevices(resource);
      long most = allowed == null ? 0 : allowed;
      if (compared && !resource.equals(PODS) && used.getValue() > most) {
        return Optional.of("%s: %d of %d".formatted(resource, used.getValue(), most));
      }
    }
    return Optional.empty();
  }
}
