package dev.sluice.reference;

import dev.sluice.model.Amounts;
import dev.sluice.model.ClusterQueueSpec;
import dev.sluice.model.Flavor;
import dev.sluice.model.FlavorResource;
import dev.sluice.model.LabelRequirement;
import dev.sluice.model.Placement;
import dev.sluice.model.PodSetAssignment;
import dev.sluice.model.PodSetRequest;
import dev.sluice.model.ResourceGroup;
import dev.sluice.model.Taint;
import dev.sluice.model.Toleration;
import dev.sluice.model.WorkloadShape;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Flavor assignment, word by word (contract: scheduling semantics, section 6), where nobody may be
 * preempted: a simulated preemption never finds victims.
 */
final class ReferenceAssigner {

  /** How well something fits, worst first. */
  enum Mode {
    NO_FIT,
    NO_CANDIDATES,
    FIT
  }

  /** Which flavor of the list was tried last, per pod set and resource; -1 if it was the last. */
  record Progress(int podSet, String resource) {}

  /** More of a pair than was available. */
  record Lack(FlavorResource pair, long amount) {}

  /**
   * What came out for one Workload.
   *
   * @param lacks what was asked for in vain
   * @param competing whether something lacked only on top of what an earlier pod set took
   */
  record Result(
      Mode mode,
      int borrowLevel,
      Map<FlavorResource, Long> usage,
      List<PodSetAssignment> podSets,
      Map<Progress, Integer> progress,
      Set<Lack> lacks,
      boolean competing) {

    boolean untriedFlavorsLeft() {
      return progress.values().stream().anyMatch(index -> index != -1);
    }
  }

  private record Choice(String flavor, Mode mode, int borrow, int highest) {}

  private static final Comparator<Choice> PREFERENCE =
      Comparator.comparing(Choice::mode).thenComparing(Choice::borrow, Comparator.reverseOrder());

  private static final Comparator<Choice> PREEMPTION_FIRST =
      Comparator.comparing((Choice choice) -> choice.mode() != Mode.NO_FIT)
          .thenComparing(choice -> choice.mode() != Mode.NO_CANDIDATES)
          .thenComparing(Choice::borrow, Comparator.reverseOrder());

  private final ReferenceTree tree;
  private final ClusterQueueSpec queue;
  private final Map<String, Flavor> flavors;
  private final Map<Progress, Integer> resume;
  private final boolean simulating;
  private final Set<Lack> lacks = new HashSet<>();
  private boolean competing;

  /**
   * @param simulating whether preemption is simulated, in vain; otherwise what would need it is
   *     said not to fit
   */
  ReferenceAssigner(
      ReferenceTree tree,
      ClusterQueueSpec queue,
      Map<String, Flavor> flavors,
      Map<Progress, Integer> resume,
      boolean simulating) {
    this.simulating = simulating;
    this.tree = tree;
    this.queue = queue;
    this.flavors = flavors;
    this.resume = resume;
  }

  Result assign(WorkloadShape shape) {
    Map<FlavorResource, Long> usage = new HashMap<>();
    Map<Progress, Integer> progress = new HashMap<>();
    PodSetAssignment[] assigned = new PodSetAssignment[shape.podSets().size()];
    Mode mode = Mode.FIT;
    int borrow = 0;
    boolean uncovered = false;
    for (List<Integer> together : groups(shape)) {
      List<PodSetRequest> sets = together.stream().map(shape.podSets()::get).toList();
      SortedMap<String, Long> wanted = new TreeMap<>();
      for (PodSetRequest set : sets) {
        requests(set).forEach((resource, amount) -> wanted.merge(resource, amount, Amounts::add));
      }
      SortedMap<String, String> chosen = new TreeMap<>();
      Set<String> decided = new HashSet<>();
      for (String resource : wanted.keySet()) {
        if (decided.contains(resource)) {
          continue;
        }
        Optional<ResourceGroup> group = groupOf(resource);
        if (group.isEmpty()) {
          if (wanted.get(resource) == 0) {
            continue;
          }
          uncovered = true;
          continue;
        }
        SortedMap<String, Long> part = new TreeMap<>(wanted);
        part.keySet().retainAll(group.get().resources());
        Optional<Choice> best =
            search(together.getFirst(), sets, group.get(), part, usage, progress);
        decided.addAll(part.keySet());
        if (best.isEmpty()) {
          mode = Mode.NO_FIT;
          continue;
        }
        part.keySet().forEach(each -> chosen.put(each, best.get().flavor()));
        mode = mode.compareTo(best.get().mode()) < 0 ? mode : best.get().mode();
        borrow = Math.max(borrow, best.get().highest());
      }
      wanted.forEach(
          (resource, amount) -> {
            String flavor = chosen.get(resource);
            if (flavor != null) {
              usage.merge(new FlavorResource(flavor, resource), amount, Amounts::add);
            }
          });
      for (int index : together) {
        assigned[index] = assignment(shape.podSets().get(index), chosen);
      }
    }
    return uncovered
        ? new Result(Mode.NO_FIT, 0, Map.of(), List.of(), Map.of(), lacks, competing)
        : new Result(mode, borrow, usage, List.of(assigned), progress, lacks, competing);
  }

  private Optional<Choice> search(
      int podSet,
      List<PodSetRequest> sets,
      ResourceGroup group,
      SortedMap<String, Long> part,
      Map<FlavorResource, Long> earlier,
      Map<Progress, Integer> progress) {
    List<String> names = group.flavors().stream().map(ResourceGroup.FlavorQuotas::flavor).toList();
    Comparator<Choice> preference =
        queue.fungibility().preferPreemption() ? PREEMPTION_FIRST : PREFERENCE;
    Optional<Choice> best = Optional.empty();
    int index = resume.getOrDefault(new Progress(podSet, part.firstKey()), -1) + 1;
    int tried = -1;
    for (; index < names.size(); index++) {
      tried = index;
      Optional<Choice> choice = attempt(names.get(index), sets, part, earlier);
      if (choice.isEmpty()) {
        continue;
      }
      if (best.isEmpty() || preference.compare(choice.get(), best.get()) > 0) {
        best = choice;
      }
      boolean goOn =
          choice.get().mode() != Mode.FIT
              || (choice.get().borrow() > 0 && queue.fungibility().tryNextWhenBorrowing());
      if (!goOn) {
        best = choice;
        break;
      }
    }
    int stored = tried == names.size() - 1 ? -1 : tried;
    part.keySet().forEach(resource -> progress.put(new Progress(podSet, resource), stored));
    return best;
  }

  /** Nothing if the flavor is out of the question. */
  private Optional<Choice> attempt(
      String name,
      List<PodSetRequest> sets,
      SortedMap<String, Long> part,
      Map<FlavorResource, Long> earlier) {
    Flavor flavor = flavors.get(name);
    if (flavor == null || sets.stream().anyMatch(set -> !eligible(flavor, set.placement()))) {
      return Optional.empty();
    }
    Mode worst = Mode.FIT;
    int borrowOfWorst = 0;
    int highest = 0;
    boolean noFit = false;
    for (var each : part.entrySet()) {
      FlavorResource pair = new FlavorResource(name, each.getKey());
      long val = Amounts.add(each.getValue(), earlier.getOrDefault(pair, 0L));
      ReferenceTree.Lowest lowest = tree.lowest(queue.name(), pair, val);
      Mode mode = mode(pair, val, lowest);
      if (mode != Mode.FIT) {
        lacks.add(new Lack(pair, val));
        competing |= earlier.getOrDefault(pair, 0L) > 0;
      }
      if (mode == Mode.NO_FIT) {
        noFit = true;
        continue;
      }
      highest = Math.max(highest, lowest.height());
      if (mode.compareTo(worst) < 0) {
        worst = mode;
        borrowOfWorst = lowest.height();
      } else if (mode == worst) {
        borrowOfWorst = Math.max(borrowOfWorst, lowest.height());
      }
    }
    return noFit ? Optional.empty() : Optional.of(new Choice(name, worst, borrowOfWorst, highest));
  }

  private Mode mode(FlavorResource pair, long val, ReferenceTree.Lowest lowest) {
    if (val > tree.potential(queue.name(), pair)) {
      return Mode.NO_FIT;
    }
    if (val <= tree.available(queue.name(), pair)) {
      return Mode.FIT;
    }
    boolean simulate =
        tree.quotaOfQueue(queue.name(), pair).nominal() >= val
            || lowest.hasParent()
            || queue.preemption().borrowWithinCohort();
    return simulating && simulate ? Mode.NO_CANDIDATES : Mode.NO_FIT;
  }

  static boolean eligible(Flavor flavor, Placement placement) {
    for (Taint taint : flavor.nodeTaints()) {
      boolean keepsOff = taint.effect().equals("NoSchedule") || taint.effect().equals("NoExecute");
      if (keepsOff
          && !tolerated(taint, placement.tolerations())
          && !tolerated(taint, flavor.tolerations())) {
        return false;
      }
    }
    Map<String, String> labels = flavor.nodeLabels();
    for (var wanted : placement.nodeSelector().entrySet()) {
      if (labels.containsKey(wanted.getKey())
          && !wanted.getValue().equals(labels.get(wanted.getKey()))) {
        return false;
      }
    }
    if (placement.affinityTerms().isEmpty()) {
      return true;
    }
    for (List<LabelRequirement> term : placement.affinityTerms()) {
      List<LabelRequirement> rest =
          term.stream().filter(each -> labels.containsKey(each.key())).toList();
      if (rest.stream().allMatch(each -> each.matches(labels))) {
        return true; // also when nothing is left of the term
      }
    }
    return false;
  }

  private static boolean tolerated(Taint taint, List<Toleration> tolerations) {
    return tolerations.stream().anyMatch(each -> each.tolerates(taint));
  }

  private SortedMap<String, Long> requests(PodSetRequest set) {
    SortedMap<String, Long> requests = new TreeMap<>();
    set.perPod()
        .forEach((resource, one) -> requests.put(resource, Amounts.multiply(one, set.count())));
    if (groupOf("pods").isPresent()) {
      requests.put("pods", (long) set.count());
    }
    return requests;
  }

  private Optional<ResourceGroup> groupOf(String resource) {
    return queue.groups().stream().filter(each -> each.resources().contains(resource)).findFirst();
  }

  private PodSetAssignment assignment(PodSetRequest set, SortedMap<String, String> chosen) {
    SortedMap<String, Long> requests = requests(set);
    requests.keySet().retainAll(chosen.keySet());
    SortedMap<String, String> own = new TreeMap<>(chosen);
    own.keySet().retainAll(requests.keySet());
    return new PodSetAssignment(set.name(), own, requests, set.count());
  }

  /** Indexes of pod sets that are handled together, in the order of the spec. */
  private static List<List<Integer>> groups(WorkloadShape shape) {
    List<List<Integer>> groups = new ArrayList<>();
    Set<String> seen = new HashSet<>();
    for (int i = 0; i < shape.podSets().size(); i++) {
      String group = shape.podSets().get(i).group();
      if (group.isEmpty()) {
        groups.add(List.of(i));
      } else if (seen.add(group)) {
        groups.add(
            java.util.stream.IntStream.range(0, shape.podSets().size())
                .filter(k -> shape.podSets().get(k).group().equals(group))
                .boxed()
                .collect(Collectors.toList()));
      }
    }
    return groups;
  }
}
