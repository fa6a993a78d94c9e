package dev.sluice.reference;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.FairSharing;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.lab.audit.AuditedKind;
import dev.sluice.lab.audit.ObjectChange;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Judges what was watched of a run, write by write: quota is kept, nobody is preempted whom a
 * policy protects, nobody is admitted past one who comes first. A decision is carried out a moment
 * after it was made, so it is right if it was right at any moment of the last {@link #LAG}; and who
 * came within that time may be passed.
 */
public final class RunAudit {

  /**
   * How long a decision may take to be seen. So decisions that were made at the same time are
   * written in any order within this time.
   */
  public static final Duration LAG = Duration.ofSeconds(4);

  /** A write, and when it was seen. */
  public record Moment(ObjectChange objectChange, Instant seen) {}

  /**
   * What was found.
   *
   * @param admissions how many were judged
   * @param victims how many were judged, by reason
   * @param passable how many waited, over all admissions, who could have been passed wrongly
   */
  public record Report(
      int admissions, Map<String, Integer> victims, int passable, List<String> violations) {}

  /** One who seems to have been passed; unless it is admitted until then. */
  private record Passed(RunWorkload first, RunWorkload admitted, Instant until) {}

  /**
   * One who was preempted; judged when all that was decided before is seen.
   *
   * @param lately the worlds in which that may have been decided
   * @param soon who is given quota until it is judged
   */
  private record Victim(
      RunWorkload before,
      RunPreemption told,
      List<RunWorld> lately,
      Map<String, RunWorkload> soon,
      Instant until) {}

  /** The world from then until the next one. */
  private record Past(Instant until, RunWorld world) {}

  private final Optional<FairSharing> sharing;
  private final Deque<Past> recent = new ArrayDeque<>();
  private final Map<String, Instant> waitingSince = new HashMap<>();
  private final Set<String> preemptors = new HashSet<>();
  private final List<Passed> passed = new ArrayList<>();
  private final List<Victim> unjudged = new ArrayList<>();
  private final List<String> violations = new ArrayList<>();
  private final Map<String, Integer> victims = new HashMap<>();
  private RunWorld world = RunWorld.EMPTY;
  private Instant now = Instant.EPOCH;
  private int admissions;
  private int passable;

  private RunAudit(Optional<FairSharing> sharing) {
    this.sharing = sharing;
  }

  /**
   * Judges a history that ends when nothing happens any more.
   *
   * @param sharing how queues share fairly; empty: they don't
   */
  public static Report audit(List<Moment> history, Optional<FairSharing> sharing) {
    RunAudit audit = new RunAudit(sharing);
    history.stream()
        .sorted(Comparator.comparingLong(moment -> moment.objectChange().revision()))
        .forEach(audit::see);
    audit.passed.forEach(audit::complain);
    audit.unjudged.forEach(audit::judge);
    audit.violations.addAll(audit.world.unrest(audit.now, sharing));
    return new Report(
        audit.admissions, Map.copyOf(audit.victims), audit.passable, audit.violations);
  }

  /** A history, line by line, for whoever has to find out what went wrong. */
  public static List<String> story(List<Moment> history) {
    return history.stream()
        .filter(moment -> moment.objectChange().kind() != AuditedKind.POD)
        .map(
            moment ->
                "%d %s %s%s"
                    .formatted(
                        moment.objectChange().revision(),
                        moment.seen(),
                        moment.objectChange().deleted() ? "deleted " : "",
                        switch (moment.objectChange().kind()) {
                          case WORKLOAD -> RunReading.workload(moment.objectChange().object());
                          case CLUSTER_QUEUE ->
                              RunReading.clusterQueue(moment.objectChange().object());
                          case COHORT -> RunReading.cohort(moment.objectChange().object());
                          case LOCAL_QUEUE -> RunReading.localQueue(moment.objectChange().object());
                          case JOB, POD -> RunReading.name(moment.objectChange().object());
                        }))
        .toList();
  }

  private void see(Moment moment) {
    now = moment.seen().isAfter(now) ? moment.seen() : now;
    while (!recent.isEmpty() && recent.peekFirst().until().isBefore(now.minus(LAG))) {
      recent.removeFirst();
    }
    passed.removeIf(
        each -> {
          boolean over = each.until().isBefore(now);
          if (over) {
            complain(each);
          }
          return over;
        });
    unjudged.removeIf(
        each -> {
          boolean over = each.until().isBefore(now);
          if (over) {
            judge(each);
          }
          return over;
        });
    RunWorld before = world;
    ObjectChange objectChange = moment.objectChange();
    if (objectChange.kind() == AuditedKind.JOB || objectChange.kind() == AuditedKind.POD) {
      return;
    }
    world = before.after(objectChange);
    recent.addLast(new Past(now, before));
    if (objectChange.kind() == AuditedKind.WORKLOAD && !objectChange.deleted()) {
      String uid = RunReading.uid(objectChange.object());
      judge(
          Optional.ofNullable(before.workloads().get(uid)),
          Objects.requireNonNull(world.workloads().get(uid)),
          before);
    }
    noteWhoWaits(before);
  }

  private void noteWhoWaits(RunWorld before) {
    waitingSince.keySet().retainAll(world.workloads().keySet());
    world
        .workloads()
        .forEach(
            (uid, workload) -> {
              RunWorkload then = before.workloads().get(uid);
              if (!world.mayStart(workload)) {
                waitingSince.remove(uid);
              } else if (then == null
                  || !before.mayStart(then)
                  || !world.queueSpecOf(workload).equals(before.queueSpecOf(then))
                  || then.priority() != workload.priority()
                  || !then.shape().equals(workload.shape())) {
                waitingSince.put(uid, now);
              }
            });
  }

  private void judge(Optional<RunWorkload> then, RunWorkload workload, RunWorld before) {
    if (workload.holds() && then.filter(RunWorkload::holds).isEmpty()) {
      admissions++;
      unjudged.forEach(each -> each.soon().put(workload.id().uid(), workload));
      passed.removeIf(each -> each.first().id().equals(workload.id()));
      judgeQuota(workload, before);
      judgeOrder(workload, before);
    }
    workload
        .preempted()
        .filter(preempted -> !then.flatMap(RunWorkload::preempted).equals(Optional.of(preempted)))
        .ifPresent(preempted -> judgeVictim(workload, then, preempted));
  }

  /** The worlds of the last while, the one before this write among them. */
  private Stream<RunWorld> lately() {
    return recent.stream().map(Past::world);
  }

  /** It fits beside all who hold quota now, in the tree as it is or was a moment ago. */
  private void judgeQuota(RunWorkload workload, RunWorld before) {
    Map<FlavorResource, Long> usage = ReferenceEntry.usage(workload.podSets());
    boolean fits =
        lately()
            .map(then -> then.tree(before.workloads()))
            .anyMatch(
                tree ->
                    usage.entrySet().stream()
                        .allMatch(
                            each ->
                                each.getValue()
                                    <= tree.available(workload.clusterQueue(), each.getKey())));
    require(fits, "admitted beyond what the tree allows", workload);
  }

  /** Nobody passes the head of a StrictFIFO queue, or one who asks for the same and was first. */
  private void judgeOrder(RunWorkload workload, RunWorld before) {
    ClusterQueueSpec queue = before.queues().get(workload.clusterQueue());
    if (queue == null) {
      require(false, "admitted by a queue that is not there", workload);
      return;
    }
    boolean strict = queue.strategy() == QueueingStrategy.STRICT_FIFO;
    for (RunWorkload other : before.workloads().values()) {
      Instant since = waitingSince.get(other.id().uid());
      if (since == null
          || since.isAfter(now.minus(LAG))
          || !before.queueOf(other).equals(queue.name())
          || other.id().equals(workload.id())) {
        continue;
      }
      boolean equal =
          other.shape().equals(workload.shape())
              && other.priority() == workload.priority()
              && !preemptors.contains(workload.id().uid());
      if (strict || equal) {
        passable++;
        if (other.comesBefore(workload)) {
          passed.add(new Passed(other, workload, now.plus(LAG)));
        }
      }
    }
  }

  private void complain(Passed each) {
    require(false, "admitted past " + each.first().id().name() + ":", each.admitted());
  }

  private void judgeVictim(
      RunWorkload victim, Optional<RunWorkload> then, RunWorkload.Preempted preempted) {
    victims.merge(preempted.reason(), 1, Integer::sum);
    if (then.filter(RunWorkload::holds).isEmpty()) {
      require(false, "preempted although it holds nothing", victim);
      return;
    }
    require(!then.get().evicted(), "preempted although it is being evicted", victim);
    Optional<RunPreemption> told = RunPreemption.read(preempted);
    if (told.isEmpty()) {
      require(false, "preempted without a word for whom", victim);
      return;
    }
    preemptors.add(told.get().preemptor());
    unjudged.add(
        new Victim(then.get(), told.get(), lately().toList(), new HashMap<>(), now.plus(LAG)));
  }

  /** What was decided counts from then on, and is written a little later. */
  private void judge(Victim victim) {
    Map<String, RunWorkload> soon = new HashMap<>(victim.soon());
    soon.remove(victim.told().preemptor());
    soon.remove(victim.before().id().uid());
    List<String> complaints = new ArrayList<>();
    boolean right =
        victim.lately().stream()
            .flatMap(then -> Stream.of(then, then.with(soon)))
            .anyMatch(
                then -> {
                  Optional<String> complaint =
                      victim.told().wrongIn(then, victim.before(), sharing);
                  complaint.ifPresent(complaints::add);
                  return complaint.isEmpty();
                });
    if (!right) {
      require(false, complaints.getLast() + ":", victim.before());
    }
  }

  private void require(boolean holds, String otherwise, RunWorkload workload) {
    if (!holds) {
      violations.add("%s: %s %s".formatted(workload.id().name(), otherwise, workload));
    }
  }
}
