package dev.sluice.api.config;

import java.util.List;

/** The job frameworks, by their names in the configuration. */
public final class JobFrameworks {

  /** The only framework whose kind is managed by every configuration of the chart. */
  public static final String BATCH_JOB = "batch/job";

  /** The only framework that needs a feature gate. */
  static final String SPARK = "sparkoperator.k8s.io/sparkapplication";

  private static final List<String> KNOWN =
      List.of(
          BATCH_JOB,
          "kubeflow.org/mpijob",
          "kubeflow.org/paddlejob",
          "kubeflow.org/pytorchjob",
          "kubeflow.org/tfjob",
          "kubeflow.org/xgboostjob",
          "kubeflow.org/jaxjob",
          "ray.io/rayjob",
          "ray.io/raycluster",
          "ray.io/rayservice",
          "jobset.x-k8s.io/jobset",
          "trainer.kubeflow.org/trainjob",
          "workload.codeflare.dev/appwrapper",
          SPARK,
          "pod",
          "deployment",
          "statefulset",
          "leaderworkerset.x-k8s.io/leaderworkerset");

  /** The list of the API's released configuration file, in its order. */
  private static final List<String> RELEASED =
      List.of(
          BATCH_JOB,
          "kubeflow.org/mpijob",
          "ray.io/rayjob",
          "ray.io/raycluster",
          "ray.io/rayservice",
          "jobset.x-k8s.io/jobset",
          "workload.codeflare.dev/appwrapper",
          "trainer.kubeflow.org/trainjob",
          "pod",
          "deployment",
          "statefulset",
          "leaderworkerset.x-k8s.io/leaderworkerset");

  private JobFrameworks() {}

  /** All that the API has. */
  static List<String> known() {
    return KNOWN;
  }

  /** All of them in alphabetical order. */
  public static List<String> integrated() {
    return KNOWN.stream().sorted().toList();
  }

  /**
   * Those that the shipped manifests and the chart turn on, and that are on without a configuration
   * file: the list of the API's released file. A kind that isn't installed in the cluster costs
   * nothing.
   */
  public static List<String> shipped() {
    return RELEASED;
  }

  /** All but batch/job: users of the chart turn them on and off. */
  public static List<String> optional() {
    return integrated().stream().filter(name -> !name.equals(BATCH_JOB)).toList();
  }
}
