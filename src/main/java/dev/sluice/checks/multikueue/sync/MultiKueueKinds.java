package dev.sluice.checks.multikueue.sync;

import dev.sluice.api.KueueConstants;
import dev.sluice.checks.multikueue.sync.MultiKueueKind.Dropped;
import dev.sluice.checks.multikueue.sync.MultiKueueKind.Entry;
import dev.sluice.checks.multikueue.sync.MultiKueueKind.Pods;
import dev.sluice.checks.multikueue.sync.MultiKueueKind.StatusRules;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The job kinds that can be dispatched to other clusters.
 *
 * @param all one description per kind
 */
public record MultiKueueKinds(List<MultiKueueKind> all) {

  private static final List<String> MANAGED_BY = List.of("spec", "managedBy");
  private static final List<String> SUSPEND = List.of("spec", "suspend");
  private static final String KUBEFLOW = "kubeflow.org";
  private static final String RAY = "ray.io";

  /** Jobs of batch/v1. */
  public static final MultiKueueKind JOB =
      new MultiKueueKind(
          "batch",
          "v1",
          "Job",
          "jobs",
          List.of(MANAGED_BY),
          SUSPEND,
          new Dropped(
              List.of(
                  List.of("spec", "selector"),
                  List.of("metadata", "labels", "controller-uid"),
                  List.of("metadata", "labels", "job-name"),
                  List.of("metadata", "labels", "batch.kubernetes.io/controller-uid"),
                  List.of("metadata", "labels", "batch.kubernetes.io/job-name"),
                  List.of("spec", "template", "metadata", "labels", "controller-uid"),
                  List.of("spec", "template", "metadata", "labels", "job-name"),
                  List.of(
                      "spec",
                      "template",
                      "metadata",
                      "labels",
                      "batch.kubernetes.io/controller-uid"),
                  List.of(
                      "spec", "template", "metadata", "labels", "batch.kubernetes.io/job-name")),
              List.of()),
          List.of(),
          new StatusRules(
              true,
              List.of("Complete", "Failed"),
              List.of("succeeded", "failed"),
              List.of("active", "ready", "terminating"),
              List.of()));

  private static final StatusRules POD_STATUS_RULES = StatusRules.tellingOf(List.of(), List.of());

  /**
   * Pods, alone or in groups. Fields that the manager's API server, scheduler and webhooks wrote
   * are dropped; the worker writes its own. The volume with the token of the service account is
   * copied, so that the remote pod matches its Workload.
   */
  public static final MultiKueueKind POD =
      new MultiKueueKind(
          "",
          "v1",
          "Pod",
          "pods",
          List.of(),
          List.of(),
          new Dropped(
              List.of(
                  List.of("spec", "nodeName"),
                  List.of("spec", "priority"),
                  List.of("spec", "preemptionPolicy"),
                  List.of("spec", "overhead")),
              List.of(
                  new Entry(
                      List.of("spec", "schedulingGates"), "name", KueueConstants.ADMISSION_GATE),
                  new Entry(
                      List.of("spec", "schedulingGates"), "name", KueueConstants.TOPOLOGY_GATE))),
          List.of(),
          POD_STATUS_RULES,
          Pods.ITSELF);

  /** StatefulSets of apps/v1. */
  public static final MultiKueueKind STATEFUL_SET =
      new MultiKueueKind(
          "apps",
          "v1",
          "StatefulSet",
          "statefulsets",
          List.of(),
          List.of(),
          Dropped.NOTHING,
          List.of(),
          POD_STATUS_RULES,
          Pods.MADE);

  /** The kinds that are always known. */
  public static final List<MultiKueueKind> BUILT_IN =
      List.of(
          JOB,
          POD,
          STATEFUL_SET,
          standardKind("jobset.x-k8s.io", "v1alpha2", "JobSet", List.of("replicatedJobsStatus")),
          kubeflow("v1", "PyTorchJob"),
          kubeflow("v1", "TFJob"),
          kubeflow("v1", "XGBoostJob"),
          kubeflow("v1", "PaddleJob"),
          kubeflow("v1", "JAXJob"),
          kubeflow("v2beta1", "MPIJob"),
          new MultiKueueKind(
              "trainer.kubeflow.org",
              "v1alpha1",
              "TrainJob",
              "trainjobs",
              List.of(MANAGED_BY),
              SUSPEND,
              new Dropped(
                  List.of(),
                  List.of(
                      new Entry(
                          List.of("spec", "runtimePatches"), "manager", "kueue.x-k8s.io/manager"))),
              List.of(),
              StatusRules.tellingOf(List.of("jobsStatus"), List.of())),
          standardKind(
              RAY, "v1", "RayJob", List.of("rayClusterStatus", "jobDeploymentStatus", "jobStatus")),
          standardKind(
              RAY,
              "v1",
              "RayCluster",
              List.of("state", "readyWorkerReplicas", "availableWorkerReplicas")),
          new MultiKueueKind(
              RAY,
              "v1",
              "RayService",
              "rayservices",
              List.of(MANAGED_BY, List.of("spec", "rayClusterConfig", "managedBy")),
              List.of("spec", "rayClusterConfig", "suspend"),
              Dropped.NOTHING,
              List.of(List.of("spec", "serveConfigV2")),
              StatusRules.tellingOf(
                  List.of("serviceStatus", "numServeEndpoints"), List.of("Ready"))),
          new MultiKueueKind(
              "workload.codeflare.dev",
              "v1beta2",
              "AppWrapper",
              "appwrappers",
              List.of(MANAGED_BY),
              SUSPEND,
              Dropped.NOTHING,
              List.of(),
              StatusRules.tellingOf(
                  List.of("phase"), List.of("QuotaReserved", "ResourcesDeployed", "PodsReady"))));

  /** Copies the list. */
  public MultiKueueKinds {
    all = List.copyOf(all);
  }

  /**
   * The kinds of a configuration.
   *
   * @param further additional kinds, each as {@code Kind.version.group}
   * @param pushing whether some fields follow the manager's job while the remote job runs
   */
  public static MultiKueueKinds of(List<String> further, boolean pushing) {
    List<MultiKueueKind> all = new ArrayList<>();
    BUILT_IN.forEach(kind -> all.add(pushing ? kind : kind.withoutPushes()));
    further.forEach(name -> all.add(external(name)));
    return new MultiKueueKinds(all);
  }

  /**
   * A kind of which only the managed-by field is known; its plural follows the usual English rule.
   */
  static MultiKueueKind external(String name) {
    String[] parts = name.split("\\.", 3);
    return new MultiKueueKind(
        parts[2],
        parts[1],
        parts[0],
        plural(parts[0]),
        List.of(MANAGED_BY),
        List.of(),
        Dropped.NOTHING,
        List.of(),
        StatusRules.tellingOf(List.of(), List.of()));
  }

  /** The kind that an owner reference with these fields refers to. */
  Optional<MultiKueueKind> find(String apiVersion, String kind) {
    return all.stream().filter(known -> known.is(apiVersion, kind)).findFirst();
  }

  /** The names of the kinds, for messages. */
  String names() {
    return all.stream().map(MultiKueueKind::kind).collect(Collectors.joining(", "));
  }

  private static MultiKueueKind standardKind(
      String group, String version, String kind, List<String> pods) {
    return new MultiKueueKind(
        group,
        version,
        kind,
        plural(kind),
        List.of(MANAGED_BY),
        SUSPEND,
        Dropped.NOTHING,
        List.of(),
        StatusRules.tellingOf(pods, List.of()));
  }

  private static MultiKueueKind kubeflow(String version, String kind) {
    return new MultiKueueKind(
        KUBEFLOW,
        version,
        kind,
        plural(kind),
        List.of(List.of("spec", "runPolicy", "managedBy")),
        List.of("spec", "runPolicy", "suspend"),
        Dropped.NOTHING,
        List.of(),
        StatusRules.tellingOf(List.of("replicaStatuses"), List.of()));
  }

  private static String plural(String kind) {
    String lower = kind.toLowerCase(Locale.ROOT);
    if (lower.endsWith("s")
        || lower.endsWith("x")
        || lower.endsWith("ch")
        || lower.endsWith("sh")) {
      return lower + "es";
    }
    boolean y = lower.endsWith("y") && "aeiou".indexOf(lower.charAt(lower.length() - 2)) < 0;
    return y ? lower.substring(0, lower.length() - 1) + "ies" : lower + "s";
  }
}
