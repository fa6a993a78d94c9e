package dev.sluice.reference;

import dev.sluice.core.engine.ClusterQueueView;
import dev.sluice.core.engine.CohortView;
import dev.sluice.core.engine.FlavorUsage;
import dev.sluice.core.engine.SchedulerViews;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.queue.PendingTotals;
import dev.sluice.core.quota.DominantResourceShare;
import java.util.Map;
import java.util.Optional;

/** What the engine shows is what the reference counts: who waits, usage, shares. */
final class ViewChecks {

  private final ReferenceQuestions world;

  ViewChecks(ReferenceQuestions world) {
    this.world = world;
  }

  void check(SchedulerViews schedulerViews) {
    ReferenceTree tree = world.tree();
    Stage.require(
        schedulerViews.clusterQueues().size() == world.queues().size(),
        "views of " + schedulerViews.clusterQueues());
    schedulerViews.cohorts().forEach(this::checkShare);
    for (ClusterQueueView view : schedulerViews.clusterQueues()) {
      ReferenceQuestions.Counts counts = world.counts(view.name());
      var seen =
          new ReferenceQuestions.Counts(
              view.pendingActive() + view.pendingInadmissible(), view.reserving(), view.admitted());
      Stage.require(
          seen.equals(counts), view.name() + ": should show " + counts + ", shows " + seen);
      checkShare(view, tree);
      for (FlavorUsage usage : view.usage()) {
        FlavorResource pair = new FlavorResource(usage.flavor(), usage.resource());
        long used = tree.usageOfQueue(view.name(), pair);
        Stage.require(
            usage.reserved() == used,
            view.name() + " " + pair + ": uses " + used + ", shows " + usage.reserved());
      }
    }
  }

  /** Each different request waits in a cycle's way, for a change, or with Workloads of both. */
  void check(Map<String, PendingTotals> totals) {
    totals.forEach(
        (queue, shown) -> {
          int requests = world.differentRequests(queue);
          Stage.require(
              Math.max(shown.activeHashes(), shown.inadmissibleHashes()) <= requests
                  && shown.activeHashes() + shown.inadmissibleHashes() >= requests,
              queue + ": " + requests + " different requests, shows " + shown);
        });
  }

  private void checkShare(CohortView view) {
    if (!view.root().isEmpty()) {
      Optional<Long> share =
          world
              .shares()
              .map(shares -> shares.of(new ReferenceTree.Node(false, view.name())).weightedShare());
      Stage.require(
          view.dominantResourceShare().map(DominantResourceShare::rounded).equals(share),
          "cohort "
              + view.name()
              + ": share should be "
              + share
              + ", is "
              + view.dominantResourceShare());
    }
  }

  private void checkShare(ClusterQueueView view, ReferenceTree tree) {
    if (!tree.cyclic(view.name())) {
      Optional<Long> share =
          world
              .shares()
              .map(shares -> shares.of(new ReferenceTree.Node(true, view.name())).weightedShare());
      Stage.require(
          view.dominantResourceShare().map(DominantResourceShare::rounded).equals(share),
          view.name() + ": share should be " + share + ", is " + view.dominantResourceShare());
    }
  }
}
