package dev.sluice.jobs.kinds.kubeflow;

import java.util.List;

/**
 * Jobs of the training operator, which differ by two names only: the field that holds the replicas,
 * and the types of replicas.
 */
public final class TrainingJob extends KubeflowJob {

  private final boolean annotated;

  private TrainingJob(boolean annotated, String kind, String replicas, String... types) {
    super("v1", kind, "kubeflow.org/training-operator", replicas, List.of(types));
    this.annotated = annotated;
  }

  /** The training operator that people of Kube Queue have holds two of the kinds by annotation. */
  @Override
  protected boolean readsSuspendAnnotation() {
    return annotated;
  }

  /** PyTorchJobs. */
  public static TrainingJob pyTorch() {
    return new TrainingJob(true, "PyTorchJob", "pytorchReplicaSpecs", "Master", "Worker");
  }

  /** TFJobs. */
  public static TrainingJob tensorFlow() {
    return new TrainingJob(
        true, "TFJob", "tfReplicaSpecs", "Chief", "Master", "PS", "Worker", "Evaluator");
  }

  /** XGBoostJobs. */
  public static TrainingJob xgBoost() {
    return new TrainingJob(false, "XGBoostJob", "xgbReplicaSpecs", "Master", "Worker");
  }

  /** PaddleJobs. */
  public static TrainingJob paddle() {
    return new TrainingJob(false, "PaddleJob", "paddleReplicaSpecs", "Master", "Worker");
  }

  /** JAXJobs. */
  public static TrainingJob jax() {
    return new TrainingJob(false, "JAXJob", "jaxReplicaSpecs", "Worker");
  }
}
