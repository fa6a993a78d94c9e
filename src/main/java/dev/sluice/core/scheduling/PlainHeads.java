package dev.sluice.core.scheduling;

import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.quota.QuotaNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** The plain heads of one cycle: what becomes of them, and whether any of the rest may fit. */
final class PlainHeads {

  private final List<PlainCandidate> all;
  private final Set<PlainCandidate> processed = new LinkedHashSet<>();
  private final Map<QuotaNode, LeastRequests> byTree = new HashMap<>();
  private int left;

  PlainHeads(List<PlainCandidate> all) {
    this.all = all;
    this.left = all.size();
    for (PlainCandidate candidate : all) {
      ClusterQueueCache queue = candidate.queue();
      byTree
          .computeIfAbsent(queue.node().root(), root -> new LeastRequests())
          .add(
              queue.node(),
              Objects.requireNonNull(candidate.equivalenceClass().demand(queue).fixed()));
    }
  }

  /** Whether one of the heads that are left may fit, or may wait for targets of others. */
  boolean mayFit(CycleReservations reservations) {
    if (left == 0) {
      return false;
    }
    if (!reservations.hasNoTargets()) {
      return true;
    }
    for (Map.Entry<QuotaNode, LeastRequests> tree : byTree.entrySet()) {
      if (!tree.getValue().exceed(tree.getKey())) {
        return true;
      }
    }
    return false;
  }

  /** Counts a head that has an outcome of its own. */
  void processed(PlainCandidate candidate) {
    left--;
    processed.add(candidate);
  }

  /** Counts a head that is skipped. */
  void skipped() {
    left--;
  }

  /** The heads with an outcome of their own. */
  Set<PlainCandidate> withOutcome() {
    return processed;
  }

  /** All heads without an outcome of their own. */
  List<PlainCandidate> withoutOutcome() {
    List<PlainCandidate> rest = new ArrayList<>(all.size());
    for (PlainCandidate candidate : all) {
      if (processed.isEmpty() || !processed.contains(candidate)) {
        rest.add(candidate);
      }
    }
    return rest;
  }
}
