package dev.sluice.api.config;

import java.util.List;

/** The job frameworks that the program integrates, by their names in the configuration. */
public final class JobFrameworks {

  /** The only framework whose kind is managed by every configuration of the chart. */
  public static final String BATCH_JOB = "batch/job";

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

  /** All that are integrated. */
  public static List<String> integrated() {
    return SupportedFeatures.FRAMEWORKS;
  }

  /**
   * Those that the shipped manifests and the chart turn on, and that are on without a configuration
   * file: the integrated ones of the API's released file. A kind that isn't installed in the
   * cluster costs nothing.
   */
  public static List<String> shipped() {
    return RELEASED.stream().filter(SupportedFeatures.FRAMEWORKS::contains).toList();
  }

  /** All but batch/job: users of the chart turn them on and off. */
  public static List<String> optional() {
    return SupportedFeatures.FRAMEWORKS.stream().filter(name -> !name.equals(BATCH_JOB)).toList();
  }
}
