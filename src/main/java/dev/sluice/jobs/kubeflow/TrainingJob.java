package dev.sluice.jobs.kubeflow;

import java.util.List;

/**
 * Jobs of the training operator, which differ by two names only: the field that holds the replicas,
 * and the types of replicas.
 */
public final class TrainingJob extends KubeflowJob {

  private TrainingJob(String kind, String replicas, String... types) {
    super("v1", kind, "kubeflow.org/training-operator", replicas, List.of(types));
  }

  /** PyTorchJobs. */
  public static TrainingJob pyTorch() {
    return new TrainingJob("PyTorchJob", "pytorchReplicaSpecs", "Master", "Worker");
  }

  /** TFJobs. */
  public static TrainingJob tensorFlow() {
    return new TrainingJob(
        "TFJob", "tfReplicaSpecs", "Chief", "Master", "PS", "Worker", "Evaluator");
  }

  /** XGBoostJobs. */
  public static TrainingJob xgBoost() {
    return new TrainingJob("XGBoostJob", "xgbReplicaSpecs", "Master", "Worker");
  }

  /** PaddleJobs. */
  public static TrainingJob paddle() {
    return new TrainingJob("PaddleJob", "paddleReplicaSpecs", "Master", "Worker");
  }

  /** JAXJobs. */
  public static TrainingJob jax() {
    return new TrainingJob("JAXJob", "jaxReplicaSpecs", "Worker");
  }
}
