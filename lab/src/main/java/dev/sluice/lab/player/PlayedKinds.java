package dev.sluice.lab.player;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.config.JobFrameworks;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.JobConditions;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.ReferencedKind;
import dev.sluice.jobs.kinds.jobset.JobSet;
import dev.sluice.jobs.kinds.kubeflow.MpiJob;
import dev.sluice.jobs.kinds.kubeflow.TrainingJob;
import dev.sluice.jobs.kinds.leaderworkerset.LeaderWorkerSets;
import dev.sluice.jobs.kinds.ray.RayCluster;
import dev.sluice.jobs.kinds.ray.RayService;
import dev.sluice.jobs.kinds.trainer.RenderedJobSet;
import dev.sluice.jobs.kinds.trainer.TrainJob;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/** All kinds whose own controllers are played: one line per kind. */
public final class PlayedKinds implements AutoCloseable {

  private final List<KindPlayer> players;

  private PlayedKinds(List<KindPlayer> players) {
    this.players = List.copyOf(players);
  }

  /** Their descriptions. */
  public static List<PlayedKind> all() {
    List<PlayedKind> kinds = new ArrayList<>();
    kinds.add(new PlayedJobSet());
    kinds.addAll(PlayedTrainingJob.all());
    kinds.add(new PlayedMpiJob());
    kinds.add(new PlayedTrainJob());
    kinds.add(new PlayedRayCluster());
    kinds.add(new PlayedRayJob());
    kinds.add(new PlayedRayService());
    kinds.add(new PlayedAppWrapper());
    kinds.add(new PlayedSparkApplication());
    kinds.add(new PlayedLeaderWorkerSet());
    return List.copyOf(kinds);
  }

  /** The fields of a configuration file that turn all kinds on, as YAML. */
  public static String configuration() {
    return "integrations: {frameworks: [%s]}\nfeatureGates: {%s: true}\n"
        .formatted(
            String.join(", ", JobFrameworks.integrated()),
            FeatureGate.SPARK_APPLICATION_INTEGRATION.text());
  }

  /** Makes a cluster serve all of them, and plays their controllers until it is closed. */
  public static PlayedKinds play(KubernetesClient client) {
    List<PlayedKind> kinds = all();
    kinds.forEach(played -> PlayedDefinitions.install(client, played));
    return new PlayedKinds(kinds.stream().map(played -> new KindPlayer(client, played)).toList());
  }

  /** How many kinds are played. */
  public int count() {
    return players.size();
  }

  @Override
  public void close() {
    players.forEach(KindPlayer::close);
  }

  /**
   * The controller of RayServices: a RayCluster while the service's cluster is not suspended, and
   * the condition Ready while that cluster is ready.
   *
   * <p>The real controller differs: it suspends the RayCluster where this one deletes it, deploys
   * {@code serveConfigV2} and waits for its applications, makes Services, replaces the cluster by a
   * new one when its spec changes, and gives it a name with a random end.
   */
  public static final class PlayedRayService implements PlayedKind {

    @Override
    public JobKind kind() {
      return RayService.KIND;
    }

    @Override
    public List<JobKind> childKinds() {
      return List.of(RayCluster.KIND);
    }

    @Override
    public List<ObjectNode> children(JsonNode object) {
      JsonNode spec = object.path("spec").path("rayClusterConfig");
      return spec.path("suspend").asBoolean() || !spec.isObject()
          ? List.of()
          : List.of(PlayedRayCluster.of(object, cluster(object), spec));
    }

    private static String cluster(JsonNode object) {
      return object.path("metadata").path("name").asText() + "-cluster";
    }

    @Override
    public ObjectNode status(JsonNode object, List<ObjectNode> children) {
      boolean ready = children.stream().anyMatch(PlayedRayCluster::isReady);
      ObjectNode status = JsonNodeFactory.instance.objectNode();
      if (!children.isEmpty()) {
        status
            .putObject(ready ? "activeServiceStatus" : "pendingServiceStatus")
            .put("rayClusterName", cluster(object));
      }
      status
          .put("numServeEndpoints", ready ? 1 : 0)
          .put("serviceStatus", ready ? "Running" : "")
          .putArray("conditions")
          .addObject()
          .put("type", "Ready")
          .put("status", ready ? "True" : "False")
          .put("reason", ready ? "NonZeroServeEndpoints" : "ZeroServeEndpoints")
          .put("message", "");
      return status;
    }
  }

  /**
   * The MPI operator: a Job for the launcher, which is suspended with the MPIJob, and a pod for
   * each worker, none while the MPIJob is suspended.
   *
   * <p>The real operator differs: it makes a Service, a config map and a secret, by which the
   * launcher reaches the workers, can wait with the launcher until the workers are ready, and makes
   * a worker anew that failed. Here the first failed worker fails the MPIJob, and workers are
   * removed at the end if the clean-up policy isn't {@code None}.
   */
  public static final class PlayedMpiJob implements PlayedKind {

    private static final String LAUNCHER = "Launcher";
    private static final String WORKER = "Worker";

    private final MpiJob integration = new MpiJob();

    @Override
    public JobKind kind() {
      return integration.kind();
    }

    private JsonNode replica(JsonNode object, String type) {
      return JsonFields.at(object, "spec", integration.replicasField(), type);
    }

    @Override
    public List<ObjectNode> children(JsonNode object) {
      boolean launcherWorks = JsonFields.at(object, "spec", "runLauncherAsWorker").asBoolean();
      List<ObjectNode> children = new ArrayList<>();
      if (replica(object, LAUNCHER).isObject()) {
        children.add(launcher(object));
      }
      if (replica(object, WORKER).isObject()
          && !ReplicaTypes.isSuspended(object)
          && ReplicaTypes.keepsPods(object)) {
        children.addAll(
            ReplicaTypes.pods(object, WORKER, replica(object, WORKER), launcherWorks ? 1 : 0));
      }
      return children;
    }

    private ObjectNode launcher(JsonNode object) {
      ObjectNode job = JsonNodeFactory.instance.objectNode();
      job.put("apiVersion", "batch/v1").put("kind", "Job");
      job.putObject("metadata")
          .put("name", object.path("metadata").path("name").asText() + "-launcher");
      ObjectNode template = ReplicaTypes.template(object, LAUNCHER, replica(object, LAUNCHER), 0);
      if (!template.path("spec").has("restartPolicy")) {
        template.withObjectProperty("spec").put("restartPolicy", "Never");
      }
      job.putObject("spec")
          .put("suspend", ReplicaTypes.isSuspended(object))
          .put("backoffLimit", 0)
          .set("template", template);
      return job;
    }

    @Override
    public ObjectNode status(JsonNode object, List<ObjectNode> children) {
      if (ReplicaTypes.hasEnded(object) && object.path("status") instanceof ObjectNode last) {
        return last;
      }
      JsonNode launcher =
          children.stream()
              .filter(child -> child.path("kind").asText().equals("Job"))
              .map(JsonNode.class::cast)
              .findFirst()
              .orElseGet(MissingNode::getInstance);
      int workers = replica(object, WORKER).path("replicas").asInt(1);
      int running = ReplicaTypes.count(children, WORKER, "Running");
      int failed = ReplicaTypes.count(children, WORKER, "Failed");
      boolean done = JobConditions.isTrue(launcher, "Complete");
      boolean broken = failed > 0 || JobConditions.isTrue(launcher, "Failed");
      boolean ended = done || broken;
      ObjectNode status = JsonNodeFactory.instance.objectNode();
      ObjectNode counts = status.putObject("replicaStatuses");
      counts
          .putObject(LAUNCHER)
          .put("active", ended ? 0 : launcher.path("status").path("active").asInt())
          .put("succeeded", launcher.path("status").path("succeeded").asInt())
          .put("failed", launcher.path("status").path("failed").asInt());
      counts.putObject(WORKER).put("active", ended ? 0 : running).put("failed", failed);
      ArrayNode conditions = status.putArray("conditions");
      boolean suspended = ReplicaTypes.isSuspended(object);
      ReplicaTypes.condition(conditions, object, "Suspended", suspended, "suspended");
      boolean all = launcher.path("status").path("ready").asInt() > 0 && running == workers;
      ReplicaTypes.condition(conditions, object, "Running", all && !ended && !suspended, "running");
      if (broken) {
        ReplicaTypes.condition(conditions, object, "Failed", true, "failed");
      } else if (done) {
        ReplicaTypes.condition(conditions, object, "Succeeded", true, "successfully completed");
      }
      return status;
    }
  }

  /**
   * The trainer: a JobSet of the same name, rendered from the TrainJob and its runtime, and
   * suspended with the TrainJob. The controller of JobSets is played by {@link PlayedJobSet}.
   *
   * <p>The real trainer differs: it renders what nodes need to find each other, makes secrets and
   * config maps for MPI and pod groups, notes the time of each patch, and its webhook forbids
   * changes while the TrainJob runs. Here a TrainJob without its runtime waits, where the real one
   * fails.
   */
  public static final class PlayedTrainJob implements PlayedKind {

    private final TrainJob integration = new TrainJob();

    @Override
    public JobKind kind() {
      return integration.kind();
    }

    @Override
    public List<ReferencedKind> reads() {
      return integration.references();
    }

    @Override
    public List<JobKind> childKinds() {
      return List.of(JobSet.KIND);
    }

    /** Nothing, because a TrainJob is nothing without its runtime. */
    @Override
    public List<ObjectNode> children(JsonNode object) {
      return List.of();
    }

    @Override
    public List<ObjectNode> children(JsonNode object, List<ObjectNode> read) {
      return runtime(object, read)
          .map(runtime -> List.of(jobSet(object, runtime)))
          .orElse(List.of());
    }

    private Optional<ObjectNode> runtime(JsonNode object, List<ObjectNode> read) {
      String namespace = object.path("metadata").path("namespace").asText();
      return integration
          .reference(object)
          .flatMap(
              wanted ->
                  read.stream()
                      .filter(it -> it.path("kind").asText().equals(wanted.kind().kind().kind()))
                      .filter(it -> it.path("metadata").path("name").asText().equals(wanted.name()))
                      .filter(
                          it ->
                              !wanted.kind().namespaced()
                                  || it.path("metadata")
                                      .path("namespace")
                                      .asText()
                                      .equals(namespace))
                      .findFirst());
    }

    private static ObjectNode jobSet(JsonNode object, JsonNode runtime) {
      ObjectNode jobSet = JsonNodeFactory.instance.objectNode();
      jobSet.put("apiVersion", JobSet.KIND.apiVersion()).put("kind", JobSet.KIND.kind());
      jobSet.putObject("metadata").set("name", object.path("metadata").path("name"));
      ObjectNode spec = RenderedJobSet.spec(object, runtime.path("spec"), manager -> true);
      jobSet.set("spec", spec.put("suspend", object.path("spec").path("suspend").asBoolean()));
      return jobSet;
    }

    @Override
    public ObjectNode status(JsonNode object, List<ObjectNode> children) {
      ObjectNode status = JsonNodeFactory.instance.objectNode();
      ArrayNode conditions = status.putArray("conditions");
      boolean suspended = object.path("spec").path("suspend").asBoolean();
      conditions
          .addObject()
          .put("type", "Suspended")
          .put("status", suspended ? "True" : "False")
          .put("reason", suspended ? "Suspended" : "Resumed")
          .put("message", suspended ? "TrainJob is suspended" : "TrainJob is resumed");
      for (ObjectNode jobSet : children) {
        status.set("jobsStatus", JsonFields.at(jobSet, "status", "replicatedJobsStatus"));
        end(conditions, jobSet, "Completed", "Complete");
        end(conditions, jobSet, "Failed", "Failed");
      }
      return status;
    }

    private static void end(ArrayNode conditions, JsonNode jobSet, String from, String to) {
      JobConditions.whenTrue(jobSet, from)
          .filter(ObjectNode.class::isInstance)
          .ifPresent(
              condition -> conditions.add(((ObjectNode) condition).deepCopy().put("type", to)));
    }
  }

  /**
   * The controller of LeaderWorkerSets: the pods of each group, named and labelled as the real
   * ones.
   *
   * <p>The real controller makes a StatefulSet of leaders, and for each leader a StatefulSet of its
   * workers; here the pods belong to the LeaderWorkerSet itself, so none of them waits for another.
   * A rollout replaces all pods of the old revision at once, without {@code partition}, {@code
   * maxUnavailable} and {@code maxSurge}, and a pod that fails does not take its group with it.
   */
  public static final class PlayedLeaderWorkerSet implements PlayedKind {

    private static final String PREFIX = "leaderworkerset.sigs.k8s.io/";
    private static final String REVISION = PREFIX + "template-revision-hash";

    @Override
    public JobKind kind() {
      return LeaderWorkerSets.KIND;
    }

    private static JsonNode templates(JsonNode object) {
      return object.path("spec").path("leaderWorkerTemplate");
    }

    private static int replicas(JsonNode object) {
      return object.path("spec").path("replicas").asInt(1);
    }

    private static int size(JsonNode object) {
      return templates(object).path("size").asInt(1);
    }

    private static String revision(JsonNode object) {
      return Integer.toHexString(templates(object).toString().hashCode());
    }

    @Override
    public List<ObjectNode> children(JsonNode object) {
      List<ObjectNode> pods = new ArrayList<>();
      for (int group = 0; group < replicas(object); group++) {
        for (int index = 0; index < size(object); index++) {
          pods.add(pod(object, group, index));
        }
      }
      return pods;
    }

    private static ObjectNode pod(JsonNode object, int group, int index) {
      boolean leader = index == 0 && templates(object).hasNonNull("leaderTemplate");
      JsonNode template = templates(object).path(leader ? "leaderTemplate" : "workerTemplate");
      ObjectNode pod = JsonNodeFactory.instance.objectNode();
      pod.put("apiVersion", "v1").put("kind", "Pod");
      ObjectNode metadata =
          template.path("metadata") instanceof ObjectNode given
              ? given.deepCopy()
              : JsonNodeFactory.instance.objectNode();
      pod.set("metadata", metadata);
      pod.set("spec", template.path("spec").deepCopy());
      String set = object.path("metadata").path("name").asText();
      metadata.put("name", set + "-" + group + (index == 0 ? "" : "-" + index));
      metadata
          .withObjectProperty("labels")
          .put(PREFIX + "name", set)
          .put(PREFIX + "group-index", Integer.toString(group))
          .put(PREFIX + "worker-index", Integer.toString(index))
          .put(REVISION, revision(object));
      return pod;
    }

    @Override
    public boolean replaces(ObjectNode present, ObjectNode wanted) {
      return !Objects.equals(
          JsonFields.labels(present).get(REVISION), JsonFields.labels(wanted).get(REVISION));
    }

    @Override
    public ObjectNode status(JsonNode object, List<ObjectNode> children) {
      ObjectNode status = JsonNodeFactory.instance.objectNode();
      int present = 0;
      int ready = 0;
      int updated = 0;
      for (int group = 0; group < replicas(object); group++) {
        Map.Entry<String, String> of = Map.entry(PREFIX + "group-index", Integer.toString(group));
        List<ObjectNode> pods =
            children.stream()
                .filter(pod -> of.getValue().equals(JsonFields.labels(pod).get(of.getKey())))
                .toList();
        boolean all = pods.size() == size(object);
        present += pods.isEmpty() ? 0 : 1;
        ready += all && pods.stream().allMatch(pod -> JobConditions.isTrue(pod, "Ready")) ? 1 : 0;
        updated += all && pods.stream().allMatch(pod -> isUpdated(object, pod)) ? 1 : 0;
      }
      status.put("replicas", present).put("readyReplicas", ready).put("updatedReplicas", updated);
      ArrayNode conditions = status.putArray("conditions");
      boolean available = ready == replicas(object);
      conditions
          .addObject()
          .put("type", "Available")
          .put("status", available ? "True" : "False")
          .put("reason", available ? "AllGroupsReady" : "GroupsProgressing")
          .put("message", "");
      return status;
    }

    private static boolean isUpdated(JsonNode object, JsonNode pod) {
      return revision(object).equals(JsonFields.labels(pod).get(REVISION));
    }
  }

  /**
   * The training operator, for one of its kinds: a pod per replica, none while the job is
   * suspended.
   *
   * <p>The real operator differs: it restarts replicas that failed, as their restart policy says,
   * makes Services and config maps, and sets the environment by which replicas find each other. It
   * reports a suspended job as inactive while its pods are still being stopped. A TFJob without
   * chief and master ends there with its first worker. Here the first failed pod fails the job, a
   * pod counts until it is gone, a job ends with all pods of its leading types, which are {@code
   * Chief} and {@code Master}, or with all workers if it has neither, and a clean-up policy other
   * than {@code None} removes all pods.
   */
  public static final class PlayedTrainingJob implements PlayedKind {

    private final TrainingJob integration;

    /** Of this kind. */
    public PlayedTrainingJob(TrainingJob integration) {
      this.integration = integration;
    }

    /** Of each kind. */
    public static List<PlayedTrainingJob> all() {
      return Stream.of(
              TrainingJob.pyTorch(),
              TrainingJob.tensorFlow(),
              TrainingJob.xgBoost(),
              TrainingJob.paddle(),
              TrainingJob.jax())
          .map(PlayedTrainingJob::new)
          .toList();
    }

    @Override
    public JobKind kind() {
      return integration.kind();
    }

    private Map<String, JsonNode> replicas(JsonNode object) {
      return ReplicaTypes.of(object, integration.replicasField());
    }

    @Override
    public List<ObjectNode> children(JsonNode object) {
      List<ObjectNode> pods = new ArrayList<>();
      if (!ReplicaTypes.isSuspended(object) && ReplicaTypes.keepsPods(object)) {
        replicas(object)
            .forEach((type, replica) -> pods.addAll(ReplicaTypes.pods(object, type, replica)));
      }
      return pods;
    }

    @Override
    public ObjectNode status(JsonNode object, List<ObjectNode> children) {
      if (ReplicaTypes.hasEnded(object) && object.path("status") instanceof ObjectNode last) {
        return last;
      }
      Map<String, JsonNode> replicas = replicas(object);
      ObjectNode status = JsonNodeFactory.instance.objectNode();
      ObjectNode counts = status.putObject("replicaStatuses");
      int pods = 0;
      int active = 0;
      for (Map.Entry<String, JsonNode> replica : replicas.entrySet()) {
        String type = replica.getKey();
        int running = ReplicaTypes.count(children, type, "Running");
        counts
            .putObject(type)
            .put("active", running)
            .put("succeeded", ReplicaTypes.count(children, type, "Succeeded"))
            .put("failed", ReplicaTypes.count(children, type, "Failed"));
        pods += replica.getValue().path("replicas").asInt(1);
        active += running;
      }
      ArrayNode conditions = status.putArray("conditions");
      boolean suspended = ReplicaTypes.isSuspended(object);
      ReplicaTypes.condition(conditions, object, "Suspended", suspended, "suspended");
      if (!suspended) {
        run(object, counts, active == pods, conditions);
      }
      return status;
    }

    /** The conditions of a job that is not suspended, by the counts of its pods. */
    private void run(JsonNode object, ObjectNode counts, boolean all, ArrayNode conditions) {
      List<String> leading =
          counts
              .propertyStream()
              .map(Map.Entry::getKey)
              .filter(type -> type.equals("Chief") || type.equals("Master"))
              .toList();
      List<String> awaited = leading.isEmpty() ? List.of("Worker") : leading;
      boolean done =
          awaited.stream()
              .allMatch(
                  type ->
                      counts.path(type).path("succeeded").asInt()
                          == replicas(object).getOrDefault(type, counts).path("replicas").asInt(1));
      Optional<String> failed =
          counts
              .propertyStream()
              .filter(count -> count.getValue().path("failed").asInt() > 0)
              .map(Map.Entry::getKey)
              .findFirst();
      boolean begun = all || JobConditions.isTrue(object, "Running");
      boolean ended = done || failed.isPresent();
      ReplicaTypes.condition(conditions, object, "Running", begun && !ended, "running");
      if (failed.isPresent()) {
        ReplicaTypes.condition(
            conditions,
            object,
            "Failed",
            true,
            "failed because %d %s replica(s) failed"
                .formatted(counts.path(failed.get()).path("failed").asInt(), failed.get()));
      } else if (done) {
        ReplicaTypes.condition(conditions, object, "Succeeded", true, "successfully completed");
      }
      if (ended) {
        counts.forEach(count -> ((ObjectNode) count).put("active", 0));
      }
    }
  }
}
