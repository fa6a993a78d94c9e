package dev.sluice.api.config;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Dispatching of workloads to other clusters.
 *
 * @param gcInterval how often orphans are looked for in worker clusters; zero: never
 * @param origin label value that marks what this cluster made in others
 * @param workerLostTimeout how long a lost worker cluster keeps its workloads
 * @param dispatcherName who chooses the clusters
 * @param incrementalStepSize clusters per step of the incremental dispatcher; empty: that
 *     dispatcher's default
 * @param externalFrameworks further kinds to dispatch, as Kind.version.group
 * @param accessProviders commands that give access to worker clusters
 */
public record MultiKueue(
    Duration gcInterval,
    String origin,
    Duration workerLostTimeout,
    String dispatcherName,
    Optional<Integer> incrementalStepSize,
    List<String> externalFrameworks,
    List<AccessProvider> accessProviders) {

  /** Offers each workload to all clusters at once. */
  public static final String ALL_AT_ONCE = "kueue.x-k8s.io/multikueue-dispatcher-all-at-once";

  /** Offers each workload to a few clusters at a time. */
  public static final String INCREMENTAL = "kueue.x-k8s.io/multikueue-dispatcher-incremental";

  /** Offers each workload to the first cluster that has room for it. */
  public static final String BEST_FIT = "sluice.dev/multikueue-dispatcher-best-fit";

  /**
   * Kinds that are dispatched without being named in {@code externalFrameworks}, and can't be named
   * there in any version, as Kind.group.
   */
  public static final List<String> BUILT_IN =
      List.of(
          "Job.batch",
          "JobSet.jobset.x-k8s.io",
          "PyTorchJob.kubeflow.org",
          "TFJob.kubeflow.org",
          "XGBoostJob.kubeflow.org",
          "PaddleJob.kubeflow.org",
          "JAXJob.kubeflow.org",
          "MPIJob.kubeflow.org",
          "TrainJob.trainer.kubeflow.org",
          "RayJob.ray.io",
          "RayCluster.ray.io",
          "RayService.ray.io",
          "AppWrapper.workload.codeflare.dev",
          "StatefulSet.apps",
          "LeaderWorkerSet.leaderworkerset.x-k8s.io");

  /** What holds where nothing is set. */
  public static final MultiKueue DEFAULT =
      new MultiKueue(
          Duration.ofMinutes(1),
          "multikueue",
          Duration.ofMinutes(15),
          ALL_AT_ONCE,
          Optional.empty(),
          List.of(),
          List.of());

  /**
   * A command that gives access to worker clusters.
   *
   * @param name the provider's name in ClusterProfiles
   * @param command what is run
   * @param apiVersion the exec credential API it speaks
   * @param interactiveMode whether it needs a terminal
   * @param args its arguments
   * @param env what its environment has beside the operator's own
   * @param provideClusterInfo whether it is told which cluster it is for
   */
  public record AccessProvider(
      String name,
      String command,
      String apiVersion,
      String interactiveMode,
      List<String> args,
      Map<String, String> env,
      boolean provideClusterInfo) {

    /** With copies of the collections. */
    public AccessProvider {
      args = List.copyOf(args);
      env = Map.copyOf(env);
    }
  }
}
