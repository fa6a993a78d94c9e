package dev.sluice.core.waiting;

import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.EquivalenceClass.ResourceDemand;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.waiting.AdmissionForecast.LeastRequests;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The heads that one cycle evaluates, at most one of each queue, and how far the cycle is with
 * them. A <em>plain</em> head belongs to an inadmissible class and fits with the usage at the
 * beginning of the cycle, without a choice of flavors, places or preemption. The cycle either gives
 * it what it asks for or skips it, and nothing else happens to others because of it: so a plain
 * head that is skipped needs no outcome of its own.
 */
public final class CycleHeads {

  /** How many Workloads a cycle may admit. */
  public enum Admissions {
    /** All that fit. */
    ANY,
    /** One; then none until its pods are ready. */
    ONE,
    /** None: not all pods of admitted Workloads are ready. */
    NONE
  }

  private final Map<ClusterQueueCache, QueuedWorkload> evaluated;
  private final List<QueueHead> plain;
  private final List<ClusterQueueCache> inVain;
  private final Admissions admissions;
  private final Map<QuotaNode, LeastRequests> leastPlainRequests = new HashMap<>();
  private final Set<ClusterQueueCache> processedPlain = new LinkedHashSet<>();
  private int left;
  private int plainLeft;

  /**
   * The heads of a cycle that begins.
   *
   * @param evaluated the heads that get an outcome, by their queues
   * @param plain the plain heads, of other queues
   * @param inVain queues whose skipped head is known not to fit any more: this cycle is the turn of
   *     that head, so that nobody else of these queues is evaluated
   * @param admissions how many of the heads may be admitted
   */
  CycleHeads(
      Map<ClusterQueueCache, QueuedWorkload> evaluated,
      List<QueueHead> plain,
      List<ClusterQueueCache> inVain,
      Admissions admissions) {
    this.evaluated = evaluated;
    this.plain = plain;
    this.inVain = inVain;
    this.admissions = admissions;
    this.left = evaluated.size();
    this.plainLeft = plain.size();
    for (QueueHead head : plain) {
      ClusterQueueCache queue = head.queue();
      leastPlainRequests
          .computeIfAbsent(queue.node().root(), root -> new LeastRequests())
          .add(
              queue.node(),
              Objects.requireNonNull(head.item().equivalenceClass().demand(queue).fixed()));
    }
  }

  /** No heads. */
  public static CycleHeads none() {
    return new CycleHeads(Map.of(), List.of(), List.of(), Admissions.NONE);
  }

  /** Whether there is nothing for a cycle to do. */
  public boolean isEmpty() {
    return evaluated.isEmpty() && plain.isEmpty() && inVain.isEmpty();
  }

  /** The number of heads to nominate. */
  public int size() {
    return evaluated.size() + plain.size();
  }

  /** The heads that get an outcome, by their queues. */
  public Map<ClusterQueueCache, QueuedWorkload> evaluated() {
    return evaluated;
  }

  /** The plain heads. */
  public List<QueueHead> plain() {
    return plain;
  }

  /** The queues whose skipped head is known not to fit any more. */
  public List<ClusterQueueCache> inVain() {
    return inVain;
  }

  /**
   * How many of the heads may be admitted; the cycle ends at the first one that fits and may not be
   * admitted.
   */
  public Admissions admissions() {
    return admissions;
  }

  /** Names of the queues whose turn it is in this cycle. */
  public Set<String> queues() {
    Set<String> names = new HashSet<>();
    evaluated.keySet().forEach(queue -> names.add(queue.name()));
    plain.forEach(head -> names.add(head.queue().name()));
    inVain.forEach(queue -> names.add(queue.name()));
    return names;
  }

  /**
   * Whether a head that is left needs an outcome: one that isn't plain does; a plain one only if it
   * may still fit, or may wait for targets of others.
   *
   * @param noTargets whether no head of the cycle has targets so far
   */
  public boolean mayNeedOutcome(BooleanSupplier noTargets) {
    if (left > 0) {
      return true;
    }
    if (plainLeft == 0) {
      return false;
    }
    if (!noTargets.getAsBoolean()) {
      return true;
    }
    for (Map.Entry<QuotaNode, LeastRequests> tree : leastPlainRequests.entrySet()) {
      if (!tree.getValue().exceed(tree.getKey())) {
        return true;
      }
    }
    return false;
  }

  /** Records that a head that isn't plain has its outcome. */
  public void processed() {
    left--;
  }

  /** Records that the plain head of a queue has an outcome. */
  public void plainProcessed(ClusterQueueCache queue) {
    plainLeft--;
    processedPlain.add(queue);
  }

  /** Records that a plain head is skipped. */
  public void plainSkipped() {
    plainLeft--;
  }

  /** The queues whose plain heads have an outcome; to be called after the cycle. */
  Set<ClusterQueueCache> plainProcessed() {
    return processedPlain;
  }

  /** The plain heads that were skipped without an outcome; to be called after the cycle. */
  List<QueueHead> plainSkippedHeads() {
    List<QueueHead> rest = new ArrayList<>(plain.size());
    for (QueueHead head : plain) {
      if (processedPlain.isEmpty() || !processedPlain.contains(head.queue())) {
        rest.add(head);
      }
    }
    return rest;
  }

  /** A queue and its head, which a cycle evaluates. */
  public record QueueHead(ClusterQueueCache queue, QueuedWorkload item) {

    /**
     * What the head asks for, if free quota alone decides whether it gets that; null where flavors
     * or places are chosen, or another limit counts.
     */
    public ResourceDemand.@Nullable Fixed plainRequest() {
      ResourceDemand demand = item.equivalenceClass().demand(queue);
      return demand.needsTopology()
              || demand.guaranteed()
              || item.flavorProgress() != null
              || queue.spec().rules().blocksUntilReady()
              || queue.node().limitsWorkloads()
          ? null
          : demand.fixed();
    }
  }
}
