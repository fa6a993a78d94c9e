package dev.sluice.jobs.kinds.statefulset;

import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.controller.JobControllerContext;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kinds.pod.CachedPod;
import dev.sluice.jobs.kinds.pod.GatedSetController;
import dev.sluice.jobs.kinds.pod.GatedSetHandler;
import dev.sluice.jobs.kinds.pod.PodIndex;
import dev.sluice.jobs.kinds.pod.PodResource;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The controller of StatefulSets. The client must know {@link StatefulSetResource} and {@link
 * PodResource} for their kinds.
 */
public final class StatefulSetController
    extends GatedSetController<StatefulSetResource, CachedStatefulSet> {

  /**
   * A controller that is not started. It listens to the Workload reader.
   *
   * @param marked the index of the managed pods
   */
  public StatefulSetController(PodIndex marked, JobControllerContext context) {
    super(
        marked,
        context,
        StatefulSetResource.class,
        new Handler(new StatefulSetReconciler(context)));
  }

  private record Handler(StatefulSetReconciler reconciler)
      implements GatedSetHandler<StatefulSetResource, CachedStatefulSet> {

    @Override
    public JobKind kind() {
      return StatefulSets.KIND;
    }

    @Override
    public String ownerGvk() {
      return StatefulSetPolicy.OWNER_GVK;
    }

    @Override
    public CachedStatefulSet set(StatefulSetResource resource) {
      return resource.set();
    }

    @Override
    public Optional<String> setOf(CachedPod pod) {
      boolean heldBack =
          StatefulSets.KIND
              .framework()
              .equals(pod.job().annotations().get(KueueConstants.POD_SUSPENDING_PARENT));
      return pod.job()
          .controller()
          .filter(owner -> heldBack && StatefulSets.KIND.is(owner.apiVersion(), owner.kind()))
          .map(CachedJob.Controller::name);
    }

    @Override
    public List<CachedPod> members(CachedStatefulSet set, PodIndex marked) {
      return List.copyOf(marked.controlledBy(set.job().ref().uid()));
    }

    @Override
    public boolean isReplaced(CachedStatefulSet set, CachedPod pod) {
      return StatefulSetPods.isReplaced(set, pod);
    }

    @Override
    public Optional<Duration> reconcile(
        CachedStatefulSet set, List<CachedPod> pods, Supplier<List<CachedWorkload>> own)
        throws InterruptedException {
      return reconciler.reconcile(set, pods, own);
    }

    @Override
    public void forget(CachedStatefulSet set) {
      reconciler.forget(set);
    }
  }
}
