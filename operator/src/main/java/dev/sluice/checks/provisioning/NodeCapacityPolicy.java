package dev.sluice.checks.provisioning;

import dev.sluice.api.NameHash;
import dev.sluice.api.queueing.NodeCapacityAnnotations;
import dev.sluice.api.queueing.NodeCapacityAnnotations.Means;
import dev.sluice.api.v1beta2.ProvisioningRequestConfig.ProvisioningRequestRetryStrategy;
import dev.sluice.checks.provisioning.ProvisioningPolicy.ProvisioningDecision.SetState;
import dev.sluice.checks.provisioning.RequestManifest.RequestNames;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Assignment;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import dev.sluice.workload.record.CachedWorkload.Condition;
import dev.sluice.workload.record.CachedWorkload.PodSet;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * Decides about one check of a Workload whose nodes are asked for by CapacityBuffers or placeholder
 * pods (docs/node-capacity.md#states).
 */
final class NodeCapacityPolicy {

  /** How long placeholders stay beside the pods of an admitted Workload that aren't ready. */
  static final Duration HAND_OVER = Duration.ofSeconds(30);

  /** The most placeholder pods of a Workload. */
  static final int MOST_PLACEHOLDERS = 1000;

  /** Why a check waits that asks by CapacityBuffers in a cluster without them. */
  static final String NO_BUFFERS =
      "The cluster has no CapacityBuffers: "
          + CapacityHolder.BUFFERS
          + "."
          + RequestManifest.GROUP
          + " is not served";

  /** Why nodes didn't come where placeholder pods or CapacityBuffers can't be listed. */
  static final String UNREADABLE =
      "The objects that ask for nodes can't be read: the operator's log says why";

  private final CachedWorkload workload;
  private final CheckState check;
  private final Input input;
  private final boolean buffers;

  /**
   * What a decision depends on, besides the Workload.
   *
   * @param annotations what the check says
   * @param served whether the API server serves CapacityBuffers
   * @param unreadable whether the objects that ask for nodes can't be read so far
   * @param namesNodes whether a flavor has labels of nodes
   * @param owned the objects that were made for the Workload and this check
   */
  record Input(
      NodeCapacityAnnotations annotations,
      boolean served,
      boolean unreadable,
      Predicate<String> namesNodes,
      Collection<CapacityHolder> owned,
      Instant now) {}

  /** An object that asks for nodes of a pod set: for one pod, or as a buffer for all of them. */
  record Wanted(String name, PodSet podSet) {}

  /**
   * What is to be done.
   *
   * @param deletions objects to delete
   * @param creations objects to create
   * @param state the next state of the check; empty: it stays
   * @param refused flavors whose nodes didn't come, to be left out before the state is written
   * @param again when to look again; empty: when something changes
   */
  record Plan(
      List<CapacityHolder> deletions,
      List<Wanted> creations,
      Optional<SetState> state,
      Set<String> refused,
      Optional<Duration> again) {

    private static Plan keep(List<CapacityHolder> deletions, List<Wanted> creations) {
      return new Plan(deletions, creations, Optional.empty(), Set.of(), Optional.empty());
    }

    private static Plan of(List<CapacityHolder> deletions, SetState state) {
      return new Plan(deletions, List.of(), Optional.of(state), Set.of(), Optional.empty());
    }
  }

  private NodeCapacityPolicy(CachedWorkload workload, CheckState check, Input input) {
    this.workload = workload;
    this.check = check;
    this.input = input;
    this.buffers = asksByBuffers(input);
  }

  /** The plan for a check of a Workload. */
  static Plan decide(CachedWorkload workload, CheckState check, Input input) {
    return new NodeCapacityPolicy(workload, check, input).decide();
  }

  /** Whether a Workload holds quota, and is to keep it, so that nodes may be asked for. */
  static boolean needsNodes(CachedWorkload workload) {
    return workload.quotaReserved()
        && !workload.finished()
        && !workload.evicted()
        && !workload.deleting()
        && workload.spec().active();
  }

  /** Those of these objects that are not being deleted. */
  static List<CapacityHolder> deletable(Collection<CapacityHolder> holders) {
    return holders.stream().filter(holder -> !holder.state().deleting()).toList();
  }

  /** Whether a check of a Workload without quota begins anew. */
  static boolean endsWithQuota(CachedWorkload workload, CheckState check) {
    return !workload.quotaReserved()
        && !workload.finished()
        && !workload.evicted()
        && !workload.deleting()
        && ProvisioningPolicy.endsWithQuota(check);
  }

  private Plan decide() {
    if (endsWithQuota(workload, check)) {
      return Plan.of(
          deletable(input.owned()), SetState.of(CheckState.PENDING, ProvisioningPolicy.QUOTA_LOST));
    }
    boolean pending =
        check.is(CheckState.PENDING) || ProvisioningPolicy.isOfEarlierReservation(workload, check);
    if (!needsNodes(workload) || !pending && !check.is(CheckState.READY)) {
      return Plan.keep(deletable(input.owned()), List.of());
    }
    if (input.unreadable()) {
      return pending && !workload.admitted() ? unread() : Plan.keep(List.of(), List.of());
    }
    if (workload.admitted()) {
      return handOver();
    }
    List<PodSet> podSets = ManagedPodSets.all(workload);
    long pods = podSets.stream().mapToLong(PodSet::count).sum();
    if (pending && podSets.isEmpty()) {
      return Plan.of(deletable(input.owned()), SetState.of(CheckState.READY, "There are no pods"));
    }
    if (pending && buffers && !input.served()) {
      return unasked(podSets, NO_BUFFERS);
    }
    if (pending && !buffers && pods > MOST_PLACEHOLDERS) {
      return Plan.of(
          deletable(input.owned()),
          SetState.of(
              CheckState.REJECTED,
              "%d pods would need as many placeholders; the most is %d"
                  .formatted(pods, MOST_PLACEHOLDERS)));
    }
    return ask(podSets, pending);
  }

  /** Nothing can be asked for now: quota isn't kept for longer than nodes might take. */
  private Plan unasked(List<PodSet> podSets, String why) {
    Set<String> late = new TreeSet<>();
    podSets.forEach(podSet -> late.addAll(flavors(podSet)));
    return waiting(deletable(input.owned()), List.of(), why, late);
  }

  /** Usually they are read in a moment: nothing is said before the time is over. */
  private Plan unread() {
    Plan plan = unasked(ManagedPodSets.all(workload), UNREADABLE);
    return plan.again().isEmpty()
        ? plan
        : new Plan(List.of(), List.of(), Optional.empty(), Set.of(), plan.again());
  }

  private Plan ask(List<PodSet> podSets, boolean pending) {
    String digest = digest(workload, input);
    Map<String, CapacityHolder> present = new HashMap<>();
    List<CapacityHolder> unfit = new ArrayList<>();
    for (CapacityHolder holder : input.owned()) {
      present.put(holder.name(), holder);
      if (!holder.purpose().digest().equals(digest) || holder.state().over()) {
        unfit.add(holder);
      }
    }
    List<Wanted> missing = new ArrayList<>();
    Set<String> late = new TreeSet<>();
    int ready = 0;
    List<Wanted> wanted = wanted(podSets);
    for (Wanted each : wanted) {
      CapacityHolder holder = present.get(each.name());
      if (holder == null) {
        missing.add(each);
      } else if (!isFor(each.podSet(), holder.purpose()) && !unfit.contains(holder)) {
        unfit.add(holder); // whoever may create buffers may write the digest
      }
      if (holder != null
          && !unfit.contains(holder)
          && holder.state().ready()
          && !holder.state().deleting()) {
        ready++;
      } else {
        late.addAll(flavors(each.podSet()));
      }
    }
    if (!pending) {
      return Plan.keep(deletable(unfit), missing); // whoever took a place, it is asked for again
    }
    String progress =
        buffers
            ? "%d of %d CapacityBuffers are ready".formatted(ready, wanted.size())
            : "%d of %d placeholder pods have a node".formatted(ready, wanted.size());
    if (ready == wanted.size()) {
      return Plan.of(deletable(unfit), SetState.of(CheckState.READY, progress));
    }
    return waiting(deletable(unfit), missing, progress, late);
  }

  private Plan waiting(
      List<CapacityHolder> unfit, List<Wanted> missing, String progress, Set<String> late) {
    Duration rest = Duration.between(input.now(), reservedAt().plus(input.annotations().timeout()));
    return rest.isPositive()
        ? new Plan(
            unfit,
            missing,
            Optional.of(SetState.of(CheckState.PENDING, progress)),
            Set.of(),
            Optional.of(rest))
        : refused(progress, late);
  }

  private Plan refused(String progress, Set<String> flavors) {
    String message = "%s after %d s".formatted(progress, input.annotations().timeout().toSeconds());
    int attempt = ProvisioningPolicy.attempt(check);
    if (attempt > input.annotations().retries()) {
      return Plan.of(
          List.of(),
          SetState.of(
              CheckState.REJECTED, message + "; it was the last attempt, number " + attempt));
    }
    SetState retry =
        SetState.of(
            CheckState.RETRY,
            "%s; without flavor %s attempt %d follows"
                .formatted(message, String.join(", ", flavors), attempt + 1));
    return new Plan(List.of(), List.of(), Optional.of(retry), flavors, Optional.empty());
  }

  /** How long a flavor is left out whose nodes didn't come for the present attempt. */
  static Duration pause(CheckState check) {
    return Duration.ofSeconds(
        ProvisioningPolicy.pause(
            ProvisioningRequestRetryStrategy.DEFAULT, ProvisioningPolicy.attempt(check) - 1));
  }

  /**
   * The pods come. A pod that finds no room preempts a placeholder, whose place the scheduler keeps
   * for the pod meanwhile. What nobody preempts goes when the pods are ready, or soon. A buffer
   * goes at once: its nodes would be replaced as soon as pods use them.
   */
  private Plan handOver() {
    List<CapacityHolder> present = deletable(input.owned());
    Instant admittedAt =
        workload
            .status()
            .condition("Admitted")
            .map(Condition::lastTransitionTime)
            .orElse(input.now());
    Duration rest = Duration.between(input.now(), admittedAt.plus(HAND_OVER));
    boolean over = !rest.isPositive() || workload.status().isTrue("PodsReady");
    List<CapacityHolder> leaving =
        present.stream()
            .filter(holder -> over || holder.path().plural().equals(CapacityHolder.BUFFERS))
            .toList();
    return new Plan(
        leaving,
        List.of(),
        Optional.empty(),
        Set.of(),
        over || present.isEmpty() ? Optional.empty() : Optional.of(rest));
  }

  private Instant reservedAt() {
    return workload
        .status()
        .condition("QuotaReserved")
        .map(Condition::lastTransitionTime)
        .orElse(input.now());
  }

  private boolean isFor(PodSet podSet, CapacityHolder.Purpose purpose) {
    return purpose.podSet().equals(podSet.name())
        && purpose.pods() == (buffers ? podSet.count() : 1);
  }

  /** Names are the same for each look, so that nothing is made twice. */
  private List<Wanted> wanted(List<PodSet> podSets) {
    String request = ProvisioningPolicy.requestName(workload, check);
    List<Wanted> result = new ArrayList<>();
    for (PodSet podSet : podSets) {
      for (int i = 0; i < (buffers ? 1 : podSet.count()); i++) {
        result.add(
            new Wanted(
                buffers
                    ? RequestNames.holder(request, podSet.name(), "")
                    : RequestNames.holder(request, podSet.name(), "-" + i),
                podSet));
      }
    }
    return result;
  }

  /** The flavors of a pod set that say which nodes are theirs; all if none does. */
  private Set<String> flavors(PodSet podSet) {
    Set<String> result = new TreeSet<>();
    for (Assignment assignment : workload.assignments()) {
      if (assignment.name().equals(podSet.name())) {
        result.addAll(assignment.flavors().values());
      }
    }
    Set<String> labelled = new TreeSet<>(result);
    labelled.removeIf(flavor -> !input.namesNodes().test(flavor));
    return labelled.isEmpty() ? result : labelled;
  }

  /** Whether nodes are asked for by CapacityBuffers. */
  static boolean asksByBuffers(Input input) {
    Means means = input.annotations().means();
    return means == Means.CAPACITY_BUFFER || means == Means.AUTO && input.served();
  }

  /** A digest of the reservation and of what is asked for, which objects made for them have. */
  static String digest(CachedWorkload workload, Input input) {
    StringBuilder content =
        new StringBuilder(ProvisioningPolicy.reservation(workload))
            .append(asksByBuffers(input) ? " buffers " : " pods ")
            .append(input.annotations().image());
    for (PodSet podSet : ManagedPodSets.all(workload)) {
      content.append('\n').append(podSet.name()).append(' ').append(podSet.count());
      for (Assignment assignment : workload.assignments()) {
        if (assignment.name().equals(podSet.name())) {
          content.append(' ').append(new TreeMap<>(assignment.flavors()));
        }
      }
    }
    return NameHash.sha1(content.toString());
  }
}
