package dev.sluice.jobs.kinds.leaderworkerset;

import dev.sluice.jobs.controller.JobControllerContext;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kinds.pod.CachedPod;
import dev.sluice.jobs.kinds.pod.GatedSetController;
import dev.sluice.jobs.kinds.pod.GatedSetHandler;
import dev.sluice.jobs.kinds.pod.PodIndex;
import dev.sluice.jobs.kinds.pod.PodResource;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The controller of LeaderWorkerSets. The client must know {@link LeaderWorkerSetResource} and
 * {@link PodResource} for their kinds.
 */
public final class LeaderWorkerSetController
    extends GatedSetController<LeaderWorkerSetResource, CachedLeaderWorkerSet> {

  /**
   * A controller that is not started. It listens to the Workload reader.
   *
   * @param marked the index of the managed pods
   */
  public LeaderWorkerSetController(PodIndex marked, JobControllerContext context) {
    super(
        marked,
        context,
        LeaderWorkerSetResource.class,
        new Handler(new LeaderWorkerSetReconciler(context)));
  }

  private record Handler(LeaderWorkerSetReconciler reconciler)
      implements GatedSetHandler<LeaderWorkerSetResource, CachedLeaderWorkerSet> {

    @Override
    public JobKind kind() {
      return LeaderWorkerSets.KIND;
    }

    @Override
    public String ownerGvk() {
      return LeaderWorkerSetPolicy.OWNER_GVK;
    }

    @Override
    public CachedLeaderWorkerSet set(LeaderWorkerSetResource resource) {
      return resource.set();
    }

    @Override
    public Optional<String> setOf(CachedPod pod) {
      return GroupPlace.setOf(pod);
    }

    @Override
    public List<CachedPod> members(CachedLeaderWorkerSet set, PodIndex marked) {
      List<CachedPod> members = new ArrayList<>();
      for (int group = 0; group < set.groups(); group++) {
        members.addAll(marked.group(set.job().ref().namespace(), reconciler.nameOf(set, group)));
      }
      return members;
    }

    @Override
    public Optional<Duration> reconcile(
        CachedLeaderWorkerSet set, List<CachedPod> pods, Supplier<List<CachedWorkload>> own)
        throws InterruptedException {
      return reconciler.reconcile(set, pods, own);
    }

    @Override
    public void forget(CachedLeaderWorkerSet set) {
      reconciler.forget(set);
    }
  }
}
