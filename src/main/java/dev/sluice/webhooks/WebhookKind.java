package dev.sluice.webhooks;

import java.util.List;
import java.util.Locale;

/**
 * A kind that the API server asks about, and when.
 *
 * @param kind as in the API
 * @param group API group, empty for the core
 * @param version of the group
 * @param plural of the kind
 * @param framework name of the integration; empty for the operator's own kinds
 * @param mutating operations that are asked about before validation; empty for none
 * @param validating resources, with {@code /status} where that is asked about as well
 */
public record WebhookKind(
    String kind,
    String group,
    String version,
    String plural,
    String framework,
    List<String> mutating,
    List<String> validating) {

  private static final String OWN = "kueue.x-k8s.io";
  private static final List<String> C = List.of("CREATE");
  private static final List<String> CU = List.of("CREATE", "UPDATE");

  /** Every kind that is reviewed (docs/webhooks.md). */
  public static List<WebhookKind> all() {
    return List.of(
        own("ClusterQueue", "clusterqueues", C),
        own("ResourceFlavor", "resourceflavors", C),
        new WebhookKind(
            "Workload",
            OWN,
            "v1beta2",
            "workloads",
            "",
            C,
            List.of("workloads", "workloads/status")),
        own("Cohort", "cohorts", List.of()),
        job("Job", "batch", "v1", "jobs", "batch/job", C),
        job("JobSet", "jobset.x-k8s.io", "v1alpha2", "jobsets", "jobset.x-k8s.io/jobset", C),
        kubeflow("PyTorchJob"),
        kubeflow("TFJob"),
        kubeflow("XGBoostJob"),
        kubeflow("PaddleJob"),
        kubeflow("JAXJob"),
        job("MPIJob", "kubeflow.org", "v2beta1", "mpijobs", "kubeflow.org/mpijob", C),
        job(
            "TrainJob",
            "trainer.kubeflow.org",
            "v1alpha1",
            "trainjobs",
            "trainer.kubeflow.org/trainjob",
            C),
        job("RayJob", "ray.io", "v1", "rayjobs", "ray.io/rayjob", C),
        job("RayCluster", "ray.io", "v1", "rayclusters", "ray.io/raycluster", C),
        job("RayService", "ray.io", "v1", "rayservices", "ray.io/rayservice", C),
        job(
            "AppWrapper",
            "workload.codeflare.dev",
            "v1beta2",
            "appwrappers",
            "workload.codeflare.dev/appwrapper",
            C),
        job(
            "SparkApplication",
            "sparkoperator.k8s.io",
            "v1beta2",
            "sparkapplications",
            "sparkoperator.k8s.io/sparkapplication",
            C),
        job("Pod", "", "v1", "pods", "pod", C),
        job("Deployment", "apps", "v1", "deployments", "deployment", CU),
        job("StatefulSet", "apps", "v1", "statefulsets", "statefulset", CU),
        job(
            "LeaderWorkerSet",
            "leaderworkerset.x-k8s.io",
            "v1",
            "leaderworkersets",
            "leaderworkerset.x-k8s.io/leaderworkerset",
            CU));
  }

  private static WebhookKind own(String kind, String plural, List<String> mutating) {
    return new WebhookKind(kind, OWN, "v1beta2", plural, "", mutating, List.of(plural));
  }

  private static WebhookKind job(
      String kind,
      String group,
      String version,
      String plural,
      String framework,
      List<String> mutating) {
    return new WebhookKind(kind, group, version, plural, framework, mutating, List.of(plural));
  }

  private static WebhookKind kubeflow(String kind) {
    String lower = kind.toLowerCase(Locale.ROOT);
    return job(kind, "kubeflow.org", "v1", lower + "s", "kubeflow.org/" + lower, C);
  }

  /** Whether it belongs to the operator's own API. */
  public boolean isOwn() {
    return framework.isEmpty();
  }

  /** Whether these are pods themselves. */
  boolean isPod() {
    return framework.equals("pod");
  }

  /** Where it is asked for what to fill in. */
  public String mutatingPath() {
    return "/mutate-" + suffix();
  }

  /** Where it is asked whether an object is right. */
  public String validatingPath() {
    return "/validate-" + suffix();
  }

  private String suffix() {
    return group.replace('.', '-') + "-" + version + "-" + lowerKind();
  }

  String lowerKind() {
    return kind.toLowerCase(Locale.ROOT);
  }
}
