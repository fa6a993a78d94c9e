package dev.sluice.webhooks;

import java.util.List;
import java.util.Locale;

/**
 * A kind that the webhooks handle.
 *
 * @param kind name of the kind
 * @param group API group, empty for the core group
 * @param version version of the group
 * @param plural plural of the kind
 * @param framework name of the integration; empty for the operator's own kinds
 * @param mutating operations of the mutating webhook; empty for none
 * @param validating resources of the validating webhook, with {@code /status} where the status is
 *     validated as well
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

  /** All kinds that the webhooks handle. */
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

  /** Whether the kind belongs to the operator's own API. */
  public boolean isOwn() {
    return framework.isEmpty();
  }

  /** Whether the kind is Pod. */
  boolean isPod() {
    return framework.equals("pod");
  }

  /** The path of the mutating webhook. */
  public String mutatingPath() {
    return "/mutate-" + suffix();
  }

  /** The path of the validating webhook. */
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
