package dev.sluice.jobs.integrations;

import static dev.sluice.jobs.Integration.controlled;
import static dev.sluice.jobs.Integration.of;
import static dev.sluice.jobs.Integration.withoutController;

import dev.sluice.api.config.FeatureGate;
import dev.sluice.jobs.Integration;
import dev.sluice.jobs.JobKindDescription;
import dev.sluice.jobs.appwrapper.AppWrapper;
import dev.sluice.jobs.argo.Workflow;
import dev.sluice.jobs.batch.BatchJob;
import dev.sluice.jobs.jobset.JobSet;
import dev.sluice.jobs.kubeflow.LegacyMpiJob;
import dev.sluice.jobs.kubeflow.MpiJob;
import dev.sluice.jobs.kubeflow.TrainingJob;
import dev.sluice.jobs.leaderworkerset.LeaderWorkerSetController;
import dev.sluice.jobs.leaderworkerset.LeaderWorkerSets;
import dev.sluice.jobs.pod.Deployments;
import dev.sluice.jobs.pod.PodController;
import dev.sluice.jobs.pod.PodIndex;
import dev.sluice.jobs.pod.SinglePod;
import dev.sluice.jobs.ray.RayCluster;
import dev.sluice.jobs.ray.RayJob;
import dev.sluice.jobs.ray.RayService;
import dev.sluice.jobs.spark.SparkApplication;
import dev.sluice.jobs.statefulset.StatefulSetController;
import dev.sluice.jobs.statefulset.StatefulSets;
import dev.sluice.jobs.trainer.TrainJob;
import java.time.InstantSource;
import java.util.List;

/** All kinds of jobs that this program knows: one line per kind. */
public final class BuiltInIntegrations {

  private BuiltInIntegrations() {}

  /**
   * The entry of every kind, in the order in which their controllers start.
   *
   * @param pods the index that the controller of pods keeps up to date
   */
  public static List<Integration> all(PodIndex pods) {
    return List.of(
        of(new BatchJob()),
        of(new JobSet()),
        of(TrainingJob.pyTorch()),
        of(TrainingJob.tensorFlow()),
        of(TrainingJob.xgBoost()),
        of(TrainingJob.paddle()),
        of(TrainingJob.jax()),
        of(new MpiJob()),
        of(new TrainJob()),
        of(new RayJob()),
        of(new RayCluster()),
        of(new RayService()),
        of(new AppWrapper()),
        of(new SparkApplication()).behind(FeatureGate.SPARK_APPLICATION_INTEGRATION),
        controlled(new SinglePod(), context -> new PodController(pods, context)),
        withoutController(new Deployments()),
        controlled(new StatefulSets(), context -> new StatefulSetController(pods, context)),
        controlled(
            new LeaderWorkerSets(), context -> new LeaderWorkerSetController(pods, context)));
  }

  /**
   * The entries of kinds that are queued in the way of Kube Queue alone: they are turned on with
   * it, and no framework of the configuration names them.
   *
   * @param clock tells the times that starts write
   */
  public static List<Integration> ofKubeQueue(InstantSource clock) {
    return List.of(of(new Workflow(clock)), of(new LegacyMpiJob()));
  }

  /**
   * The descriptions of all kinds that a framework turns on, in the same order; no controller is
   * made.
   */
  public static List<JobKindDescription> descriptions() {
    return all(new PodIndex()).stream().map(Integration::description).toList();
  }
}
