package dev.sluice.reference;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.ScanProgress;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.LabelSelector.LabelRequirement;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.ReplacedSlice;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.Taint;
import dev.sluice.core.model.Toleration;
import java.time.Instant;
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
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Flavor assignment, word by word (docs/scheduling-semantics.md#flavor-assignment). */
final class ReferenceAssigner {

  /** How well something fits, worst first. */
  enum Mode {
    NO_FIT,
    NO_CANDIDATES,
    PREEMPT,
    RECLAIM,
    FIT;

    /** Whether others have to go. */
    boolean preempts() {
      return this != NO_FIT && this != FIT;
    }
  }

  /** Whom a preemption would evict that makes room for so much of one pair; nobody in vain. */
  interface Simulation {
    List<ReferencePreemption.Victim> victims(FlavorResource pair, long amount);
  }

  /** Which flavor of the list was tried last, per pod set and resource; -1 if it was the last. */
  record Progress(int podSet, String resource) {}

  /** Which flavor each resource of each pod set was given. */
  record Place(int podSet, String resource) {}

  /** More of a pair than was available. */
  record Lack(FlavorResource pair, long amount) {}

  /**
   * What came out for one Workload.
   *
   * @param needed the pairs for which others have to go
   * @param lacks what was asked for in vain
   * @param competing whether something lacked only on top of what an earlier pod set took, or a
   *     flavor was out of the question only beside what was chosen before
   * @param again when it is looked at again because it waits for a cheaper flavor
   */
  record Result(
      Mode mode,
      int borrowLevel,
      Map<FlavorResource, Long> usage,
      Set<FlavorResource> needed,
      Map<Place, String> flavors,
      List<PodSetAssignment> podSets,
      Map<Progress, Integer> progress,
      Set<Lack> lacks,
      boolean competing,
      Optional<Instant> again) {

    /** The same, but for what has to be over before it can fit. */
    Result asFarAs(Set<Lack> otherLacks, boolean otherCompeting) {
      return new Result(
          mode,
          borrowLevel,
          usage,
          needed,
          flavors,
          podSets,
          progress,
          otherLacks,
          competing || otherCompeting,
          again);
    }

    /** The same with places for the pods. */
    Result with(List<PodSetAssignment> placed) {
      return new Result(
          mode, borrowLevel, usage, needed, flavors, placed, progress, lacks, competing, again);
    }

    boolean untriedFlavorsLeft() {
      return progress.values().stream().anyMatch(index -> index != -1);
    }
  }

  /** How well something fits, and from how high up. */
  private record Grade(Mode mode, int borrow) {}

  /** A flavor, how well its worst resource fits, and how each does. */
  private record Choice(String flavor, Grade worst, SortedMap<String, Grade> each) {}

  /** Better is greater. */
  private static final Comparator<Grade> BORROWING_OVER_PREEMPTION =
      Comparator.comparing(Grade::mode).thenComparing(Grade::borrow, Comparator.reverseOrder());

  private static final Comparator<Grade> PREEMPTION_OVER_BORROWING =
      Comparator.comparing((Grade grade) -> grade.mode() != Mode.NO_FIT)
          .thenComparing(grade -> grade.mode() != Mode.NO_CANDIDATES)
          .thenComparing(Grade::borrow, Comparator.reverseOrder())
          .thenComparing(Grade::mode);

  private final ReferenceTree tree;
  private final ClusterQueueSpec queue;
  private final Map<String, Flavor> flavors;
  private final Map<Progress, Integer> resume;
  private final Optional<Simulation> simulation;
  private final boolean sharing;
  private final ReferenceCosts costs;
  private final Optional<Instant> waitsUntil;
  private final Function<Map<FlavorResource, Long>, Optional<Instant>> expected;
  private @Nullable Instant again;
  private final ReferencePlacer placer;
  private final Map<Place, String> only;
  private final Comparator<Grade> preference;
  private final Set<Lack> lacks = new HashSet<>();
  private boolean competing;
  private boolean guaranteed;

  /** What was chosen so far costs for an hour. */
  private long perHour;

  /** What the slice that is replaced holds; nothing if none is. */
  private List<PodSetAssignment> replaced = List.of();

  private Map<FlavorResource, Long> held = Map.of();
  private RequestShape asked = new RequestShape(List.of());

  /**
   * @param only the flavors that may be given; everything when it is empty
   * @param simulation how preemption is simulated; without it, what would need it doesn't fit
   * @param waitsUntil until when it waits for a cheaper flavor, if it does
   * @param expected when so much quota is expected to be free
   */
  ReferenceAssigner(
      ReferenceTree tree,
      ClusterQueueSpec queue,
      ReferenceEngine.Rules rules,
      Map<Progress, Integer> resume,
      Map<Place, String> only,
      Optional<Simulation> simulation,
      Optional<Instant> waitsUntil,
      Function<Map<FlavorResource, Long>, Optional<Instant>> expected) {
    this.waitsUntil = waitsUntil;
    this.expected = expected;
    this.placer = rules.placer(queue);
    this.sharing = rules.sharing().isPresent();
    this.costs = rules.costs();
    this.simulation = simulation;
    this.only = only;
    this.preference =
        queue.fungibility().preferPreemption()
            ? PREEMPTION_OVER_BORROWING
            : BORROWING_OVER_PREEMPTION;
    this.tree = tree;
    this.queue = queue;
    this.flavors = rules.flavors();
    this.resume = resume;
  }

  Result assign(RequestShape shape) {
    guaranteed = shape.guaranteed() && queue.rules().countsPreemptible();
    asked = shape;
    replaced = shape.replaced().map(ReplacedSlice::podSets).orElse(List.of());
    held = new HashMap<>();
    for (PodSetAssignment podSet : replaced) {
      podSet
          .usage()
          .forEach(
              (resource, amount) ->
                  held.merge(
                      new FlavorResource(podSet.flavors().getOrDefault(resource, ""), resource),
                      Math.max(0, amount),
                      ResourceAmounts::add));
    }
    Map<FlavorResource, Long> usage = new HashMap<>();
    Map<Progress, Integer> progress = new HashMap<>();
    Set<FlavorResource> needed = new HashSet<>();
    Map<Place, String> given = new HashMap<>();
    PodSetAssignment[] assigned = new PodSetAssignment[shape.podSets().size()];
    Mode mode = Mode.FIT;
    int borrow = 0;
    perHour = 0;
    boolean uncovered = false;
    for (List<Integer> together : groups(shape)) {
      List<PodSetRequest> sets = together.stream().map(shape.podSets()::get).toList();
      SortedMap<String, Long> wanted = new TreeMap<>();
      for (PodSetRequest set : sets) {
        requests(set)
            .forEach((resource, amount) -> wanted.merge(resource, amount, ResourceAmounts::add));
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
            search(
                together.getFirst(),
                sets,
                group.get(),
                part,
                usage,
                progress,
                Set.copyOf(chosen.values()));
        decided.addAll(part.keySet());
        if (best.isEmpty()) {
          mode = Mode.NO_FIT;
          continue;
        }
        part.keySet().forEach(each -> chosen.put(each, best.get().flavor()));
        perHour += costs.perHour(best.get().flavor(), part);
        for (var each : best.get().each().entrySet()) {
          Grade grade = each.getValue();
          mode = mode.compareTo(grade.mode()) < 0 ? mode : grade.mode();
          borrow = Math.max(borrow, grade.borrow());
          if (grade.mode().preempts()) {
            needed.add(new FlavorResource(best.get().flavor(), each.getKey()));
          }
          given.put(new Place(together.getFirst(), each.getKey()), best.get().flavor());
        }
      }
      wanted.forEach(
          (resource, amount) -> {
            String flavor = chosen.get(resource);
            if (flavor != null) {
              usage.merge(new FlavorResource(flavor, resource), amount, ResourceAmounts::add);
            }
          });
      for (int index : together) {
        assigned[index] = assignment(shape.podSets().get(index), chosen);
      }
    }
    usage.replaceAll(this::beyondHeld);
    return uncovered
        ? new Result(
            Mode.NO_FIT,
            borrow,
            Map.of(),
            Set.of(),
            Map.of(),
            List.of(),
            Map.of(),
            lacks,
            competing,
            Optional.ofNullable(again))
        : new Result(
            mode,
            borrow,
            usage,
            needed,
            given,
            List.of(assigned),
            progress,
            lacks,
            competing,
            Optional.ofNullable(again));
  }

  private Optional<Choice> search(
      int podSet,
      List<PodSetRequest> sets,
      ResourceGroup group,
      SortedMap<String, Long> part,
      Map<FlavorResource, Long> earlier,
      Map<Progress, Integer> progress,
      Set<String> others) {
    List<String> names =
        costs.order(
            queue,
            group.flavors().stream().map(ResourceGroup.FlavorQuotas::flavor).toList(),
            part,
            asked);
    Optional<Choice> best = Optional.empty();
    int index = resume.getOrDefault(new Progress(podSet, part.firstKey()), -1) + 1;
    int tried = -1;
    for (; index < names.size(); index++) {
      tried = index;
      String nominated = only.get(new Place(podSet, part.firstKey()));
      if (nominated != null && !nominated.equals(names.get(index))) {
        continue;
      }
      String name = names.get(index);
      if (!sets.stream().allMatch(set -> placer.mayGet(name, set, group, others))) {
        if (sets.stream().allMatch(set -> placer.mayGet(name, set, group, Set.of()))) {
          competesFor(name, part.keySet());
        }
        continue;
      }
      if (!sets.stream().allMatch(set -> placer.mayStay(name, set, sets.size() == 1, asked))) {
        continue;
      }
      Optional<Choice> choice = attempt(name, sets, part, earlier);
      if (choice.isEmpty()) {
        continue;
      }
      if (best.isEmpty() || preference.compare(choice.get().worst(), best.get().worst()) > 0) {
        best = choice;
      }
      if (!goesOn(choice.get().worst())) {
        best = choice;
        break;
      }
    }
    if (best.isPresent()
        && waits(best.get(), sets, group, part, earlier, Set.copyOf(others), names)) {
      part.keySet().forEach(resource -> progress.put(new Progress(podSet, resource), -1));
      return Optional.empty();
    }
    int stored =
        tried == names.size() - 1 || queue.fungibility().scanProgress() == ScanProgress.NONE
            ? -1
            : tried;
    part.keySet().forEach(resource -> progress.put(new Progress(podSet, resource), stored));
    return best;
  }

  /** Whether it waits for a flavor that is cheaper than the best of those that it may take now. */
  private boolean waits(
      Choice best,
      List<PodSetRequest> sets,
      ResourceGroup group,
      SortedMap<String, Long> part,
      Map<FlavorResource, Long> earlier,
      Set<String> others,
      List<String> names) {
    if (waitsUntil.isEmpty() || guaranteed || best.worst().mode().compareTo(Mode.PREEMPT) < 0) {
      return false;
    }
    for (String name : names) {
      Flavor flavor = flavors.get(name);
      if (!costs.isCheaper(name, best.flavor(), part, asked)
          || costs.isTooDear(name, part, perHour, asked)
          || flavor == null
          || sets.stream()
              .anyMatch(
                  set ->
                      !placer.mayGet(name, set, group, others)
                          || !placer.mayStay(name, set, sets.size() == 1, asked)
                          || hasAnother(set, part.keySet(), name)
                          || !eligible(flavor, set.nodeConstraints()))) {
        continue;
      }
      Map<FlavorResource, Long> wanted = new HashMap<>();
      part.forEach(
          (resource, amount) -> {
            FlavorResource pair = new FlavorResource(name, resource);
            wanted.put(
                pair,
                beyondHeld(pair, ResourceAmounts.add(amount, earlier.getOrDefault(pair, 0L))));
          });
      Set<Lack> lacking = new HashSet<>();
      wanted.forEach(
          (pair, amount) -> {
            if (amount > tree.available(queue.name(), pair)) {
              lacking.add(new Lack(pair, amount));
            }
          });
      Optional<Instant> at = expected.apply(wanted);
      if (!lacking.isEmpty() && at.isPresent() && !at.get().isAfter(waitsUntil.get())) {
        lacks.addAll(lacking);
        Instant wakes = at.get().isBefore(waitsUntil.get()) ? at.get() : waitsUntil.get();
        again = again == null || wakes.isBefore(again) ? wakes : again;
        return true;
      }
    }
    return false;
  }

  /** Only what was chosen before is in the way: it may change when any quota is given back. */
  private void competesFor(String flavor, Set<String> resources) {
    competing = true;
    resources.forEach(each -> lacks.add(new Lack(new FlavorResource(flavor, each), 0)));
  }

  /** Nothing if the flavor is out of the question. */
  private Optional<Choice> attempt(
      String name,
      List<PodSetRequest> sets,
      SortedMap<String, Long> part,
      Map<FlavorResource, Long> earlier) {
    Flavor flavor = flavors.get(name);
    if (sets.stream().anyMatch(set -> hasAnother(set, part.keySet(), name))) {
      return Optional.empty();
    }
    if (flavor == null || sets.stream().anyMatch(set -> !eligible(flavor, set.nodeConstraints()))) {
      return Optional.empty();
    }
    if (costs.isTooDear(name, part, perHour, asked)) {
      if (!costs.isTooDear(name, part, 0, asked)) {
        competesFor(name, part.keySet());
      }
      return Optional.empty();
    }
    SortedMap<String, Grade> each = new TreeMap<>();
    for (var request : part.entrySet()) {
      FlavorResource pair = new FlavorResource(name, request.getKey());
      long before = earlier.getOrDefault(pair, 0L);
      long val = beyondHeld(pair, ResourceAmounts.add(request.getValue(), before));
      Grade grade = grade(pair, val);
      if (grade.mode() != Mode.FIT) {
        lacks.add(new Lack(pair, val));
        competing |= before > 0;
      }
      each.put(request.getKey(), grade);
    }
    if (each.values().stream().anyMatch(grade -> grade.mode() == Mode.NO_FIT)) {
      return Optional.empty();
    }
    Grade worst = each.values().stream().min(preference).orElseThrow();
    return Optional.of(new Choice(name, worst, each));
  }

  private long beyondHeld(FlavorResource pair, long amount) {
    return Math.max(0, amount - held.getOrDefault(pair, 0L));
  }

  /** Whether the slice that is replaced has another flavor for this pod set. */
  private boolean hasAnother(PodSetRequest set, Set<String> resources, String flavor) {
    return replaced.stream()
        .filter(podSet -> podSet.name().equals(set.name()))
        .flatMap(podSet -> podSet.flavors().entrySet().stream())
        .anyMatch(has -> resources.contains(has.getKey()) && !has.getValue().equals(flavor));
  }

  /** Whether the search goes on behind a flavor that fits so well. */
  private boolean goesOn(Grade grade) {
    return switch (grade.mode()) {
      case NO_FIT, NO_CANDIDATES -> true;
      case PREEMPT, RECLAIM ->
          queue.fungibility().tryNextWhenPreempting()
              || (grade.borrow() > 0 && queue.fungibility().tryNextWhenBorrowing());
      case FIT -> grade.borrow() > 0 && queue.fungibility().tryNextWhenBorrowing();
    };
  }

  private Grade grade(FlavorResource pair, long val) {
    ReferenceTree.Lowest lowest = tree.lowest(queue.name(), pair, val);
    if (guaranteed && val > tree.guaranteedLeft(queue.name(), pair)) {
      return new Grade(Mode.NO_FIT, lowest.height());
    }
    if (val > tree.potential(queue.name(), pair)) {
      return new Grade(Mode.NO_FIT, lowest.height());
    }
    if (val <= tree.available(queue.name(), pair)) {
      return new Grade(Mode.FIT, lowest.height());
    }
    boolean mayHelp =
        tree.quotaOfQueue(queue.name(), pair).nominal() >= val
            || lowest.hasParent()
            || queue.rules().preemptionConfig().isPresent()
            || queue.preemption().borrowWithinCohort()
            || (sharing && queue.preemption().reclaimWithinCohort() != ReclaimWithinCohort.NEVER);
    if (!mayHelp || simulation.isEmpty()) {
      return new Grade(Mode.NO_FIT, lowest.height());
    }
    List<ReferencePreemption.Victim> victims = simulation.get().victims(pair, val);
    if (victims.isEmpty()) {
      return new Grade(Mode.NO_CANDIDATES, lowest.height());
    }
    ReferenceTree after = tree.copy();
    victims.forEach(each -> after.remove(each.holder().queue(), each.holder().usage()));
    boolean own = victims.stream().anyMatch(each -> each.holder().queue().equals(queue.name()));
    return new Grade(
        own ? Mode.PREEMPT : Mode.RECLAIM, after.lowest(queue.name(), pair, val).height());
  }

  static boolean eligible(Flavor flavor, NodeConstraints nodeConstraints) {
    for (Taint taint : flavor.nodeTaints()) {
      boolean keepsOff = taint.effect().equals("NoSchedule") || taint.effect().equals("NoExecute");
      if (keepsOff
          && !tolerated(taint, nodeConstraints.tolerations())
          && !tolerated(taint, flavor.tolerations())) {
        return false;
      }
    }
    Map<String, String> labels = flavor.nodeLabels();
    for (var wanted : nodeConstraints.nodeSelector().entrySet()) {
      if (labels.containsKey(wanted.getKey())
          && !wanted.getValue().equals(labels.get(wanted.getKey()))) {
        return false;
      }
    }
    if (nodeConstraints.affinityTerms().isEmpty()) {
      return true;
    }
    Map<String, String> named = new TreeMap<>(labels);
    named.put(NodeConstraints.FLAVOR, flavor.name());
    named.put(NodeConstraints.VARIANT, flavor.name());
    for (List<LabelRequirement> term : nodeConstraints.affinityTerms()) {
      List<LabelRequirement> rest =
          term.stream().filter(each -> named.containsKey(each.key())).toList();
      if (rest.stream().allMatch(each -> each.matches(named))) {
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
        .forEach(
            (resource, one) -> requests.put(resource, ResourceAmounts.multiply(one, set.count())));
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
  static List<List<Integer>> groups(RequestShape shape) {
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
