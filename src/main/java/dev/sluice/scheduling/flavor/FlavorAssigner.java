package dev.sluice.scheduling.flavor;

import dev.sluice.model.Amounts;
import dev.sluice.model.Flavor;
import dev.sluice.model.FlavorAttempt;
import dev.sluice.model.Obstacle;
import dev.sluice.model.PendingReason;
import dev.sluice.model.PodSetAssignment;
import dev.sluice.model.PodSetRequest;
import dev.sluice.model.WorkloadShape;
import dev.sluice.queue.QueueState;
import dev.sluice.quota.QuotaNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Finds flavors for a Workload in a queue, as quota stands (scheduling semantics, section 6). One
 * instance makes one search. It changes nothing.
 */
public final class FlavorAssigner {

  private static final String PODS = "pods";

  private final QueueState queue;
  private final Map<String, Flavor> flavors;
  private final WorkloadShape shape;
  private final int @Nullable [] resume;
  private final Map<Integer, Long> taken = new LinkedHashMap<>();
  private final List<FlavorAttempt> attempts = new ArrayList<>();
  private final List<Assignment.PairAmount> lacks = new ArrayList<>();
  private final int[] progress;
  private int borrowLevel;
  private @Nullable PendingReason noFit;
  private boolean competing;
  private boolean uncovered;

  private FlavorAssigner(
      QueueState queue, Map<String, Flavor> flavors, WorkloadShape shape, int @Nullable [] resume) {
    this.queue = queue;
    this.flavors = flavors;
    this.shape = shape;
    this.resume = resume;
    this.progress = new int[shape.podSets().size() * Math.max(1, queue.groups().size())];
    Arrays.fill(progress, -1);
  }

  /**
   * Searches.
   *
   * @param queue the queue, with usage as it stands
   * @param flavors the flavors that exist, by name
   * @param shape what is asked for
   * @param resume where an earlier search stopped, as its {@link Assignment#progress} says; null to
   *     start at the first flavor
   */
  public static Assignment assign(
      QueueState queue, Map<String, Flavor> flavors, WorkloadShape shape, int @Nullable [] resume) {
    return new FlavorAssigner(queue, flavors, shape, resume).assign();
  }

  private Assignment assign() {
    List<SortedMap<String, String>> chosen = new ArrayList<>();
    for (int i = 0; i < shape.podSets().size(); i++) {
      chosen.add(new TreeMap<>());
    }
    for (List<Integer> group : podSetGroups()) {
      assignGroup(group, chosen);
    }
    List<PodSetAssignment> podSets = new ArrayList<>();
    for (int i = 0; i < shape.podSets().size(); i++) {
      podSets.add(assignment(shape.podSets().get(i), chosen.get(i)));
    }
    List<Assignment.PairAmount> usage = new ArrayList<>();
    taken.forEach((pair, amount) -> usage.add(new Assignment.PairAmount(pair, amount)));
    return new Assignment(
        noFit,
        podSets,
        usage,
        borrowLevel,
        attempts,
        lacks,
        competing,
        untried() && !uncovered ? progress : null);
  }

  /** Indices of pod sets that get the same flavors: those of one named group, others alone. */
  private List<List<Integer>> podSetGroups() {
    Map<String, List<Integer>> named = new LinkedHashMap<>();
    List<List<Integer>> result = new ArrayList<>();
    for (int i = 0; i < shape.podSets().size(); i++) {
      String group = shape.podSets().get(i).group();
      List<Integer> members = group.isEmpty() ? null : named.get(group);
      if (members == null) {
        members = new ArrayList<>();
        result.add(members);
        if (!group.isEmpty()) {
          named.put(group, members);
        }
      }
      members.add(i);
    }
    return result;
  }

  private void assignGroup(List<Integer> members, List<SortedMap<String, String>> chosen) {
    SortedMap<String, Long> requests = requests(members);
    String podSet = shape.podSets().get(members.getFirst()).name();
    boolean[] done = new boolean[queue.groups().size()];
    for (Map.Entry<String, Long> request : requests.entrySet()) {
      int group = queue.groupOf(request.getKey());
      if (group < 0) {
        if (request.getValue() != 0) {
          refuse(podSet, request.getKey(), request.getValue());
        }
      } else if (!done[group]) {
        done[group] = true;
        int flavor = search(members, podSet, group, requests);
        if (flavor >= 0) {
          take(members, group, flavor, requests, chosen);
        }
      }
    }
  }

  private void refuse(String podSet, String resource, long amount) {
    attempts.add(
        new FlavorAttempt(
            podSet, "", 0, List.of(new Obstacle.ResourceNotCovered(resource, amount))));
    worsen(PendingReason.NO_MATCHING_FLAVOR);
    uncovered = true;
  }

  private void worsen(PendingReason reason) {
    if (noFit == null || reason.compareTo(noFit) > 0) {
      noFit = reason;
    }
  }

  private SortedMap<String, Long> requests(List<Integer> members) {
    SortedMap<String, Long> sum = new TreeMap<>();
    for (int member : members) {
      total(shape.podSets().get(member))
          .forEach((resource, amount) -> sum.merge(resource, amount, Amounts::add));
    }
    return sum;
  }

  /** What all pods of a pod set request; counting the pods themselves where the queue does. */
  private SortedMap<String, Long> total(PodSetRequest podSet) {
    SortedMap<String, Long> total = new TreeMap<>();
    podSet
        .perPod()
        .forEach((resource, each) -> total.put(resource, Amounts.multiply(each, podSet.count())));
    if (queue.groupOf(PODS) >= 0) {
      total.put(PODS, (long) podSet.count());
    }
    return total;
  }

  /** The flavor of a resource group that is taken; -1 if none fits. */
  private int search(
      List<Integer> members, String podSet, int groupIndex, SortedMap<String, Long> requests) {
    QueueState.Group group = queue.groups().get(groupIndex);
    int slot = members.getFirst() * queue.groups().size() + groupIndex;
    int start = resume == null ? 0 : resume[slot] + 1;
    int best = -1;
    int bestLevel = Integer.MAX_VALUE;
    PendingReason mildest = null;
    int last = group.flavors().size() - 1;
    for (int i = start; i <= last; i++) {
      Candidate candidate = candidate(members, podSet, group, i, requests);
      attempts.add(candidate.attempt);
      PendingReason reason = candidate.reason;
      if (reason != null) {
        mildest = mildest == null || reason.compareTo(mildest) < 0 ? reason : mildest;
        continue;
      }
      if (candidate.attempt.borrowLevel() < bestLevel) {
        best = i;
        bestLevel = candidate.attempt.borrowLevel();
      }
      if (bestLevel == 0 || !queue.spec().fungibility().tryNextWhenBorrowing()) {
        last = i;
      }
    }
    progress[slot] = last == group.flavors().size() - 1 ? -1 : last;
    if (best < 0) {
      worsen(mildest == null ? PendingReason.WAITING_FOR_QUOTA : mildest);
    } else {
      borrowLevel = Math.max(borrowLevel, bestLevel);
    }
    return best;
  }

  private record Candidate(FlavorAttempt attempt, @Nullable PendingReason reason) {}

  private Candidate candidate(
      List<Integer> members,
      String podSet,
      QueueState.Group group,
      int index,
      SortedMap<String, Long> requests) {
    String name = group.flavors().get(index);
    for (int member : members) {
      Optional<Obstacle> obstacle =
          Eligibility.obstacle(flavors.get(name), shape.podSets().get(member).placement());
      if (obstacle.isPresent()) {
        return new Candidate(
            new FlavorAttempt(podSet, name, 0, List.of(obstacle.get())),
            PendingReason.NO_MATCHING_FLAVOR);
      }
    }
    List<Obstacle> obstacles = new ArrayList<>(0);
    PendingReason reason = null;
    int level = 0;
    for (int i = 0; i < group.resources().size(); i++) {
      String resource = group.resources().get(i);
      Long amount = requests.get(resource);
      if (amount == null) {
        continue;
      }
      int pair = group.pairs()[index][i];
      Obstacle obstacle = shortage(resource, pair, amount);
      if (obstacle != null) {
        obstacles.add(obstacle);
        PendingReason found = reasonOf(obstacle);
        reason = reason == null || found.compareTo(reason) > 0 ? found : reason;
      } else {
        level = Math.max(level, queue.node().borrowLevel(pair, Amounts.add(soFar(pair), amount)));
      }
    }
    return new Candidate(new FlavorAttempt(podSet, name, level, obstacles), reason);
  }

  private static PendingReason reasonOf(Obstacle obstacle) {
    return obstacle instanceof Obstacle.ExceedsMaximum
        ? PendingReason.EXCEEDS_MAX_QUOTA
        : PendingReason.WAITING_FOR_QUOTA;
  }

  /** What of a pair is missing for the amount on top of what earlier pod sets took; or null. */
  private @Nullable Obstacle shortage(String resource, int pair, long amount) {
    QuotaNode node = queue.node();
    long wanted = Amounts.add(soFar(pair), amount);
    long available = node.available(pair);
    if (wanted <= available) {
      return null;
    }
    competing |= wanted > amount;
    lacks.add(new Assignment.PairAmount(pair, wanted));
    long potential = node.potential(pair);
    return wanted > potential
        ? new Obstacle.ExceedsMaximum(resource, wanted, potential)
        : new Obstacle.InsufficientQuota(resource, wanted, available, potential);
  }

  private long soFar(int pair) {
    return taken.getOrDefault(pair, 0L);
  }

  private void take(
      List<Integer> members,
      int groupIndex,
      int flavor,
      SortedMap<String, Long> requests,
      List<SortedMap<String, String>> chosen) {
    QueueState.Group group = queue.groups().get(groupIndex);
    for (int i = 0; i < group.resources().size(); i++) {
      String resource = group.resources().get(i);
      Long amount = requests.get(resource);
      if (amount == null) {
        continue;
      }
      taken.merge(group.pairs()[flavor][i], amount, Amounts::add);
      for (int member : members) {
        if (total(shape.podSets().get(member)).containsKey(resource)) {
          chosen.get(member).put(resource, group.flavors().get(flavor));
        }
      }
    }
  }

  private PodSetAssignment assignment(PodSetRequest podSet, SortedMap<String, String> chosen) {
    SortedMap<String, Long> usage = total(podSet);
    usage.keySet().retainAll(chosen.keySet());
    return new PodSetAssignment(podSet.name(), chosen, usage, podSet.count());
  }

  private boolean untried() {
    for (int last : progress) {
      if (last >= 0) {
        return true;
      }
    }
    return false;
  }
}
