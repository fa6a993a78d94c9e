package dev.sluice.reference;

import dev.sluice.engine.ClusterQueueView;
import dev.sluice.engine.EngineProbe;
import dev.sluice.engine.FlavorUsage;
import dev.sluice.model.Decision;
import dev.sluice.model.Fact;
import dev.sluice.model.FlavorResource;
import dev.sluice.model.LocalQueueId;
import dev.sluice.model.PendingWorkload;
import dev.sluice.model.PodSetAssignment;
import dev.sluice.model.ReservingWorkload;
import dev.sluice.model.WorkloadId;
import dev.sluice.reference.Decided.Admission;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Plays steps to the engine and to the reference, and fails where they differ. */
final class Rerun {

  static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final int ENDLESS = 5_000;

  private final EngineProbe engine = new EngineProbe();
  private final ReferenceEngine reference;
  private final boolean everyCycle;
  private final List<Fact> declared = new ArrayList<>();
  private final Map<String, Long> versions = new HashMap<>();
  private final Map<String, PendingWorkload> last = new HashMap<>();
  private Instant now = START;
  private long version = 1;
  private int admissions;

  /**
   * @param everyCycle whether every cycle must be the same; otherwise only the order of admissions
   */
  Rerun(ReferenceEngine reference, boolean everyCycle) {
    this.reference = reference;
    this.everyCycle = everyCycle;
    fold(new Fact.TimePassed(now));
    fold(new Fact.DecidingEnabled(true));
  }

  static ReferenceEngine reference(ReferenceEngine.Waking waking) {
    return new ReferenceEngine(Duration.ofSeconds(10), waking, 32, false);
  }

  int admissions() {
    return admissions;
  }

  void play(List<Step> steps) {
    for (Step step : steps) {
      play(step);
    }
    play(new Step.Quiesce());
  }

  private void fold(Fact fact) {
    engine.fold(fact);
    reference.fold(fact);
  }

  private void play(Step step) {
    switch (step) {
      case Step.Declare(var fact) -> {
        declared.add(fact);
        fold(fact);
      }
      case Step.Repeat(var nth) -> {
        if (!declared.isEmpty() && latest(declared.get(nth % declared.size()))) {
          fold(declared.get(nth % declared.size()));
        }
      }
      case Step.Submit submit -> submit(submit);
      case Step.Touch(var number) -> {
        Optional<PendingWorkload> pending = reference.pendingOf(uid(number));
        pending.ifPresent(workload -> pending(withVersion(workload, version++)));
      }
      case Step.Echo(var number, var older) -> {
        PendingWorkload workload = last.get(uid(number));
        if (workload != null) {
          fold(
              new Fact.WorkloadPending(
                  older ? withVersion(workload, Math.max(0, workload.version() - 1)) : workload));
        }
      }
      case Step.Release(var number) -> release(uid(number));
      case Step.Finish(var nth) -> pick(reference.holders(), nth).ifPresent(this::release);
      case Step.Evict(var nth) ->
          pick(reference.holders(), nth)
              .map(last::get)
              .ifPresent(workload -> pending(withVersion(workload, version++)));
      case Step.Shrink(var nth) ->
          pick(reference.holders(), nth)
              .ifPresent(uid -> hold(uid, version++, halved(reference.heldBy(uid))));
      case Step.Intrude intrude -> intrude(intrude);
      case Step.Answer(var nth, var end) ->
          pick(List.copyOf(reference.assumed().keySet()), nth).ifPresent(uid -> answer(uid, end));
      case Step.Pass(var seconds) -> {
        now = now.plusSeconds(seconds);
        fold(new Fact.TimePassed(now));
      }
      case Step.Deciding(var enabled) -> fold(new Fact.DecidingEnabled(enabled));
      case Step.Cycle() -> {
        if (everyCycle) {
          cycle();
        } else {
          quiesce();
        }
        checkViews();
      }
      case Step.Quiesce() -> {
        quiesce();
        checkViews();
      }
    }
  }

  /** Whether nothing was said of the same thing later. */
  private boolean latest(Fact fact) {
    for (int i = declared.size() - 1; i >= 0; i--) {
      if (subject(declared.get(i)).equals(subject(fact))) {
        return declared.get(i) == fact;
      }
    }
    return false;
  }

  private static String subject(Fact fact) {
    return switch (fact) {
      case Fact.FlavorChanged(var flavor) -> "flavor " + flavor.name();
      case Fact.FlavorRemoved(var name) -> "flavor " + name;
      case Fact.ClusterQueueChanged(var queue) -> "queue " + queue.name();
      case Fact.ClusterQueueRemoved(var name) -> "queue " + name;
      case Fact.CohortChanged(var cohort) -> "cohort " + cohort.name();
      case Fact.CohortRemoved(var name) -> "cohort " + name;
      case Fact.LocalQueueChanged(var queue) -> "local " + queue.id();
      case Fact.LocalQueueRemoved(var id) -> "local " + id;
      case Fact.NamespaceChanged(var name, var labels) -> "namespace " + name;
      case Fact.NamespaceRemoved(var name) -> "namespace " + name;
      default -> throw new IllegalArgumentException(fact + " is no declaration");
    };
  }

  private static String uid(int number) {
    return "uid-" + number;
  }

  private static Optional<String> pick(List<String> among, int nth) {
    return among.isEmpty() ? Optional.empty() : Optional.of(among.get(nth % among.size()));
  }

  private void pending(PendingWorkload workload) {
    last.put(workload.id().uid(), workload);
    versions.put(workload.id().uid(), workload.version());
    fold(new Fact.WorkloadPending(workload));
  }

  private static PendingWorkload withVersion(PendingWorkload workload, long version) {
    return new PendingWorkload(
        workload.id(),
        version,
        workload.queueName(),
        workload.shape(),
        workload.priority(),
        workload.createdAt(),
        workload.queuedAt(),
        workload.notBefore(),
        workload.held(),
        workload.defect());
  }

  private void submit(Step.Submit submit) {
    String uid = uid(submit.number());
    String namespace = last.containsKey(uid) ? last.get(uid).id().namespace() : submit.namespace();
    if (reference.holders().contains(uid)) {
      return;
    }
    Instant queued = START.plusSeconds(submit.queuedAt());
    pending(
        new PendingWorkload(
            new WorkloadId(uid, namespace, "w" + submit.number()),
            version++,
            submit.queue(),
            submit.shape(),
            submit.priority(),
            queued,
            queued,
            submit.restsFor() == 0
                ? Optional.empty()
                : Optional.of(now.plusSeconds(submit.restsFor())),
            submit.held(),
            submit.defective() ? Optional.of("requests exceed limits") : Optional.empty()));
  }

  private void release(String uid) {
    PendingWorkload workload = last.remove(uid);
    versions.remove(uid);
    if (workload != null) {
      fold(new Fact.WorkloadReleased(workload.id(), version++));
    }
  }

  private void intrude(Step.Intrude intrude) {
    String uid = uid(intrude.number());
    if (last.containsKey(uid)) {
      return;
    }
    WorkloadId id = new WorkloadId(uid, intrude.namespace(), "w" + intrude.number());
    last.put(
        uid,
        new PendingWorkload(
            id,
            version,
            intrude.queue(),
            RandomWorld.single("cpu", intrude.amount()),
            0,
            START,
            START,
            Optional.empty(),
            false,
            Optional.empty()));
    PodSetAssignment podSet =
        new PodSetAssignment(
            "main",
            new TreeMap<>(Map.of("cpu", intrude.flavor())),
            new TreeMap<>(Map.of("cpu", intrude.amount())),
            1);
    fold(
        new Fact.WorkloadReserving(
            new ReservingWorkload(
                id,
                version++,
                intrude.queue(),
                intrude.clusterQueue(),
                List.of(podSet),
                0,
                now,
                false,
                true,
                now)));
  }

  private void hold(String uid, long at, List<PodSetAssignment> podSets) {
    LocalQueueId queue = reference.localQueueOf(uid);
    fold(
        new Fact.WorkloadReserving(
            new ReservingWorkload(
                reference.idOf(uid),
                at,
                queue.name(),
                reference.clusterQueueOf(uid),
                podSets,
                last.get(uid) == null ? 0 : last.get(uid).priority(),
                last.get(uid) == null ? now : last.get(uid).queuedAt(),
                false,
                true,
                now)));
  }

  private static List<PodSetAssignment> halved(List<PodSetAssignment> podSets) {
    List<PodSetAssignment> result = new ArrayList<>();
    for (PodSetAssignment podSet : podSets) {
      SortedMap<String, Long> usage = new TreeMap<>(podSet.usage());
      usage.replaceAll((resource, amount) -> amount / 2);
      result.add(new PodSetAssignment(podSet.name(), podSet.flavors(), usage, podSet.count()));
    }
    return result;
  }

  private void answer(String uid, Step.End end) {
    long decided = Objects.requireNonNull(reference.assumed().get(uid));
    WorkloadId id = reference.idOf(uid);
    List<PodSetAssignment> podSets = reference.heldBy(uid);
    switch (end) {
      case WRITTEN -> fold(new Fact.AdmissionWritten(id, version++));
      case SEEN -> hold(uid, version++, podSets);
      case SEEN_THEN_WRITTEN -> {
        long at = version++;
        hold(uid, at, podSets);
        fold(new Fact.AdmissionWritten(id, at));
      }
      case REFUSED -> fold(new Fact.AdmissionRefused(id, decided, false));
      case SUPERSEDED -> fold(new Fact.AdmissionRefused(id, decided, true));
      case OVERTAKEN_BY_CHANGE -> {
        pending(withVersion(Objects.requireNonNull(last.get(uid)), version++));
        fold(new Fact.AdmissionRefused(id, decided, true));
      }
      case WRITTEN_THEN_LATE_REFUSAL -> {
        fold(new Fact.AdmissionWritten(id, version++));
        fold(new Fact.AdmissionRefused(id, decided, true));
      }
    }
  }

  /** One cycle of both; whether the engine found anything to look at. */
  private boolean cycle() {
    boolean looked = engine.cycle();
    List<Admission> actual = taken();
    checkQuota(actual);
    checkOrder(actual);
    List<Admission> expected = looked ? admissions(reference.cycle()) : List.of();
    require(expected.equals(actual), "reference admitted " + expected + ", engine " + actual);
    return looked;
  }

  private static List<Admission> admissions(List<Decided> decided) {
    return decided.stream()
        .flatMap(each -> each instanceof Admission admission ? Stream.of(admission) : Stream.of())
        .toList();
  }

  private List<Admission> taken() {
    List<Admission> actual = new ArrayList<>();
    for (Decision decision : engine.takeDecisions()) {
      if (decision instanceof Decision.Admit admit) {
        actual.add(
            new Admission(admit.id(), admit.version(), admit.clusterQueue(), admit.podSets()));
      }
    }
    admissions += actual.size();
    return actual;
  }

  /** Nobody is given more than the tree allows, one after the other. */
  private void checkQuota(List<Admission> decided) {
    ReferenceTree tree = reference.tree();
    for (Admission admission : decided) {
      Map<FlavorResource, Long> usage = ReferenceEntry.usage(admission.podSets());
      usage.forEach(
          (pair, amount) ->
              require(
                  amount <= tree.available(admission.clusterQueue(), pair),
                  "more than available: " + pair + " of " + admission));
      tree.add(admission.clusterQueue(), usage);
    }
  }

  /** Nobody passes one who is before it in its queue and could be admitted now. */
  private void checkOrder(List<Admission> decided) {
    for (Admission admission : decided) {
      List<WorkloadId> skipped = reference.skippedBy(admission.id(), admission.clusterQueue());
      require(skipped.isEmpty(), "admitted past others who fit: " + admission + skipped);
    }
  }

  private void quiesce() {
    if (everyCycle) {
      int cycles = 0;
      while (cycle()) {
        require(++cycles < ENDLESS, "cycles never end");
      }
    } else {
      quiesceEachByItself();
    }
    require(reference.wouldFit().isEmpty(), "left although they fit: " + reference.wouldFit());
  }

  private void quiesceEachByItself() {
    int cycles = 0;
    while (engine.cycle()) {
      require(++cycles < ENDLESS, "cycles never end");
    }
    List<Admission> actual = taken();
    checkQuota(actual);
    List<Admission> expected = new ArrayList<>();
    do {
      expected.addAll(admissions(reference.cycle()));
      require(++cycles < 2 * ENDLESS, "cycles of the reference never end");
    } while (reference.looked());
    require(expected.equals(actual), "reference admitted " + expected + ", engine " + actual);
  }

  private void checkViews() {
    ReferenceTree tree = reference.tree();
    var views = engine.views();
    require(
        views.clusterQueues().size() == reference.queues().size(),
        "views of " + views.clusterQueues());
    for (ClusterQueueView view : views.clusterQueues()) {
      ReferenceEngine.Counts counts = reference.counts(view.name());
      var seen =
          new ReferenceEngine.Counts(
              view.pendingActive() + view.pendingInadmissible(), view.reserving(), view.admitted());
      require(seen.equals(counts), view.name() + ": should show " + counts + ", shows " + seen);
      for (FlavorUsage usage : view.usage()) {
        FlavorResource pair = new FlavorResource(usage.flavor(), usage.resource());
        long used = tree.usageOfQueue(view.name(), pair);
        require(
            usage.reserved() == used,
            view.name() + " " + pair + ": uses " + used + ", shows " + usage.reserved());
      }
    }
  }

  private static void require(boolean holds, String otherwise) {
    if (!holds) {
      throw new AssertionError(otherwise);
    }
  }
}
