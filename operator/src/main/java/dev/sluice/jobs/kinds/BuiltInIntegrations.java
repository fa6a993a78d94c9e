package dev.sluice.jobs.kinds;

import static dev.sluice.jobs.controller.Integration.controlled;
import static dev.sluice.jobs.controller.Integration.of;
import static dev.sluice.jobs.controller.Integration.withoutController;

import dev.sluice.api.config.FeatureGate;
import dev.sluice.jobs.controller.Integration;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobKindDescription;
import dev.sluice.jobs.kinds.appwrapper.AppWrapper;
import dev.sluice.jobs.kinds.argo.Workflow;
import dev.sluice.jobs.kinds.batch.BatchJob;
import dev.sluice.jobs.kinds.jobset.JobSet;
import dev.sluice.jobs.kinds.kubeflow.LegacyMpiJob;
import dev.sluice.jobs.kinds.kubeflow.MpiJob;
import dev.sluice.jobs.kinds.kubeflow.TrainingJob;
import dev.sluice.jobs.kinds.leaderworkerset.LeaderWorkerSetController;
import dev.sluice.jobs.kinds.leaderworkerset.LeaderWorkerSets;
import dev.sluice.jobs.kinds.pod.Deployments;
import dev.sluice.jobs.kinds.pod.PodController;
import dev.sluice.jobs.kinds.pod.PodIndex;
import dev.sluice.jobs.kinds.pod.SinglePod;
import dev.sluice.jobs.kinds.ray.RayCluster;
import dev.sluice.jobs.kinds.ray.RayJob;
import dev.sluice.jobs.kinds.ray.RayService;
import dev.sluice.jobs.kinds.spark.SparkApplication;
import dev.sluice.jobs.kinds.statefulset.StatefulSetController;
import dev.sluice.jobs.kinds.statefulset.StatefulSets;
import dev.sluice.jobs.kinds.trainer.TrainJob;
import java.time.InstantSource;
import java.util.List;
import java.util.stream.Stream;

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

  /** All kinds that have a controller when they are turned on, those of Kube Queue included. */
  public static List<JobKind> reconciledKinds() {
    return Stream.of(all(new PodIndex()), ofKubeQueue(InstantSource.system()))
        .flatMap(List::stream)
        .filter(integration -> integration.controller().isPresent())
        .map(Integration::kind)
        .toList();
  }
}
