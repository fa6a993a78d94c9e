package dev.sluice.jobs.integrations;

import dev.sluice.jobs.Integration;
import dev.sluice.jobs.JobKind;
import dev.sluice.jobs.batch.BatchJob;
import dev.sluice.jobs.pod.PodController;
import dev.sluice.jobs.pod.PodIndex;
import dev.sluice.jobs.pod.SinglePod;
import dev.sluice.jobs.statefulset.StatefulSetController;
import dev.sluice.jobs.statefulset.StatefulSets;
import java.util.List;
import java.util.Set;

/** All kinds of jobs that this program has: one line per kind. */
public final class BuiltInIntegrations {

  /** Deployments: each of their pods is a job of its own. */
  private static final JobKind DEPLOYMENT =
      new JobKind("apps", "v1", "Deployment", "deployments", "deployment");

  /** The frameworks whose jobs are made of gated pods. */
  private static final Set<String> MADE_OF_PODS =
      Set.of(
          DEPLOYMENT.framework(),
          StatefulSets.KIND.framework(),
          "leaderworkerset.x-k8s.io/leaderworkerset");

  private BuiltInIntegrations() {}

  /**
   * The entry of every kind, in the order in which their controllers start.
   *
   * @param pods the index that the controller of pods keeps up to date
   */
  public static List<Integration> all(PodIndex pods) {
    return List.of(
        Integration.of(new BatchJob()),
        Integration.controlled(SinglePod.KIND, context -> new PodController(pods, context))
            .alsoEnabledBy(MADE_OF_PODS),
        Integration.withoutController(DEPLOYMENT),
        Integration.controlled(
            StatefulSets.KIND, context -> new StatefulSetController(pods, context)));
  }
}
