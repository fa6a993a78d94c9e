package dev.sluice.jobs.kinds.appwrapper;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.InvalidField;
import dev.sluice.jobs.kinds.appwrapper.ComponentPodSet.Topology;
import dev.sluice.jobs.kinds.kubeflow.KubeflowJob;
import dev.sluice.jobs.kinds.kubeflow.TrainingJob;
import dev.sluice.jobs.kinds.ray.RayCluster;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The pod sets of components that declare none, for the kinds whose pod sets the controller of
 * AppWrappers infers, too. A component of any other kind makes no pods unless it declares pod sets.
 */
final class KnownComponents {

  private static final String JOB_INDEX = "batch.kubernetes.io/job-completion-index";

  /**
   * Kinds that make pods and whose pod sets the controller doesn't infer: a component of such a
   * kind has to declare them.
   */
  private static final Set<String> MAKE_PODS =
      Set.of(
          "/ReplicationController",
          "apps/ReplicaSet",
          "apps/DaemonSet",
          "batch/CronJob",
          "kubeflow.org/TFJob",
          "kubeflow.org/XGBoostJob",
          "kubeflow.org/PaddleJob",
          "kubeflow.org/JAXJob",
          "kubeflow.org/MPIJob",
          "trainer.kubeflow.org/TrainJob",
          "ray.io/RayService",
          "sparkoperator.k8s.io/SparkApplication",
          "leaderworkerset.x-k8s.io/LeaderWorkerSet",
          "workload.codeflare.dev/AppWrapper",
          "argoproj.io/Workflow");

  private KnownComponents() {}

  /** Whether a component without pod sets makes pods all the same. */
  static boolean makesPods(JsonNode component) {
    return MAKE_PODS.contains(kind(component.path("template")));
  }

  private static String kind(JsonNode object) {
    String version = object.path("apiVersion").asText();
    String group = version.substring(0, Math.max(0, version.lastIndexOf('/')));
    return group + "/" + object.path("kind").asText();
  }

  /** What can't be counted in the object of a component, by the rules of its own kind. */
  static List<InvalidField> uncounted(JsonNode component) {
    JsonNode object = component.path("template");
    return kind(object).equals("kubeflow.org/PyTorchJob")
        ? TrainingJob.pyTorch().validate(object, false)
        : List.of();
  }

  /**
   * The pod sets that a component must declare if it declares any: those that are inferred, and
   * those of ReplicaSets; empty if they are not known.
   */
  static List<ComponentPodSet> expected(JsonNode component) {
    return switch (kind(component.path("template"))) {
      case "apps/ReplicaSet", "/ReplicationController" -> replicated(component, Topology.NONE);
      default -> podSets(component);
    };
  }

  static List<ComponentPodSet> podSets(JsonNode component) {
    JsonNode object = component.path("template");
    return switch (kind(object)) {
      case "/Pod" -> List.of(ComponentPodSet.at(component, "template", 1, Topology.NONE));
      case "apps/Deployment" -> replicated(component, Topology.NONE);
      case "apps/StatefulSet" -> replicated(component, Topology.of("apps.kubernetes.io/pod-index"));
      case "batch/Job" ->
          List.of(
              ComponentPodSet.at(
                  component,
                  "template.spec.template",
                  podsOfJob(object.path("spec")),
                  Topology.of(JOB_INDEX)));
      case "jobset.x-k8s.io/JobSet" -> jobSet(component);
      case "kubeflow.org/PyTorchJob" -> pyTorchJob(component);
      case "ray.io/RayCluster" -> rayCluster(component, "template.spec", object.path("spec"));
      case "ray.io/RayJob" ->
          rayCluster(
              component,
              "template.spec.rayClusterSpec",
              object.path("spec").path("rayClusterSpec"));
      default -> List.of();
    };
  }

  private static List<ComponentPodSet> replicated(JsonNode component, Topology topology) {
    return List.of(
        ComponentPodSet.at(
            component,
            "template.spec.template",
            component.path("template").path("spec").path("replicas").asLong(1),
            topology));
  }

  private static long podsOfJob(JsonNode spec) {
    long parallelism = spec.path("parallelism").asLong(1);
    return Math.min(parallelism, spec.path("completions").asLong(parallelism));
  }

  private static List<ComponentPodSet> jobSet(JsonNode component) {
    List<ComponentPodSet> podSets = new ArrayList<>();
    for (JsonNode job : JsonFields.list(component, "template", "spec", "replicatedJobs")) {
      int replicas = Math.max(0, job.path("replicas").asInt(1));
      long pods = Math.clamp(podsOfJob(job.path("template").path("spec")), 0, Integer.MAX_VALUE);
      podSets.add(
          ComponentPodSet.at(
              component,
              "template.spec.replicatedJobs[" + podSets.size() + "].template.spec.template",
              replicas * pods,
              new Topology(JOB_INDEX, "jobset.sigs.k8s.io/job-index", replicas)));
    }
    return podSets;
  }

  private static List<ComponentPodSet> pyTorchJob(JsonNode component) {
    JsonNode specs = component.path("template").path("spec").path("pytorchReplicaSpecs");
    return Stream.of("Master", "Worker")
        .map(type -> KubeflowJob.key(specs, type))
        .filter(specs::has)
        .map(
            type ->
                ComponentPodSet.at(
                    component,
                    "template.spec.pytorchReplicaSpecs." + type + ".template",
                    specs.path(type).path("replicas").asLong(1),
                    Topology.of("training.kubeflow.org/replica-index")))
        .toList();
  }

  private static List<ComponentPodSet> rayCluster(JsonNode component, String path, JsonNode spec) {
    List<ComponentPodSet> podSets = new ArrayList<>();
    podSets.add(ComponentPodSet.at(component, path + ".headGroupSpec.template", 1, Topology.NONE));
    List<JsonNode> groups = JsonFields.list(spec, "workerGroupSpecs");
    for (int i = 0; i < groups.size(); i++) {
      podSets.add(
          ComponentPodSet.at(
              component,
              path + ".workerGroupSpecs[" + i + "].template",
              RayCluster.workers(groups.get(i)),
              Topology.NONE));
    }
    return podSets;
  }
}
