package dev.sluice.jobs.kinds.trainer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.JobReference;
import dev.sluice.jobs.kind.PodSetTemplate;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The spec of the JobSet that the trainer makes of a TrainJob and its runtime, as far as it matters
 * for quota: patches of the runtime in their order, then what the TrainJob says of its trainer and
 * its initializers. What the trainer adds to find other nodes (environment, ports, services) isn't
 * rendered.
 */
public final class RenderedJobSet {

  private static final String STEP = "trainer.kubeflow.org/trainjob-ancestor-step";
  private static final String TRAINER = "trainer";

  /** The container that trains, and the job of its pods. */
  private static final String NODE = "node";

  /** The steps that prepare the training; each is also the name of its container. */
  private static final Map<String, String> INITIALIZERS =
      Map.of("dataset-initializer", "dataset", "model-initializer", "model");

  /** Lists whose entries have names: a patch changes the entry of the same name. */
  private static final Map<String, String> KEYS =
      Map.of(
          "containers", "name",
          "initContainers", "name",
          "env", "name",
          "volumes", "name",
          "volumeMounts", "mountPath",
          "imagePullSecrets", "name",
          "schedulingGates", "name",
          "resourceClaims", "name",
          "claims", "name");

  /** What a patch may change in a pod spec. */
  private static final Set<String> PATCHED =
      Set.of(
          "serviceAccountName",
          "volumes",
          "initContainers",
          "containers",
          "imagePullSecrets",
          "securityContext",
          "nodeSelector",
          "affinity",
          "tolerations",
          "schedulingGates",
          "resourceClaims");

  private final JsonNode trainJob;
  private final JsonNode runtime;
  private final boolean mpi;

  /** The entries of lists that were looked at, by the value of the list's key. */
  private final Map<ArrayNode, Map<String, ObjectNode>> entries = new IdentityHashMap<>();

  private RenderedJobSet(JsonNode trainJob, JsonNode runtime) {
    this.trainJob = trainJob;
    this.runtime = runtime;
    this.mpi = JsonFields.at(runtime, "mlPolicy", "mpi").isObject();
  }

  /**
   * The JobSet of a TrainJob that was read with the spec of its runtime, with the status of its
   * jobs.
   *
   * @param managers the managers whose patches are applied
   */
  static ObjectNode of(JsonNode trainJob, Predicate<String> managers) {
    ObjectNode jobSet = JsonNodeFactory.instance.objectNode();
    jobSet.set("spec", spec(trainJob, JobReference.specOf(trainJob), managers));
    JsonNode jobs = JsonFields.at(trainJob, "status", "jobsStatus");
    jobSet.putObject("status").set("replicatedJobsStatus", jobs.deepCopy());
    return jobSet;
  }

  /**
   * The spec of the JobSet.
   *
   * @param runtime the runtime's spec
   * @param managers the managers whose patches are applied
   */
  public static ObjectNode spec(JsonNode trainJob, JsonNode runtime, Predicate<String> managers) {
    return new RenderedJobSet(trainJob, runtime).spec(managers);
  }

  private ObjectNode spec(Predicate<String> managers) {
    ObjectNode spec = JsonFields.object(JsonFields.at(runtime, "template", "spec")).deepCopy();
    Map<String, ObjectNode> jobs = new LinkedHashMap<>();
    for (JsonNode job : JsonFields.list(spec, "replicatedJobs")) {
      if (job instanceof ObjectNode object) {
        jobs.putIfAbsent(job.path("name").toString(), object);
      }
    }
    for (JsonNode patch : JsonFields.list(trainJob, "spec", "runtimePatches")) {
      if (managers.test(patch.path("manager").asText())) {
        patch(jobs, JsonFields.at(patch, "trainingRuntimeSpec", "template", "spec"));
      }
    }
    jobs.values().stream().limit(PodSetTemplate.MOST + 1L).forEach(this::render);
    return spec;
  }

  private void render(ObjectNode job) {
    initialize(job);
    train(job);
    nodes(job);
  }

  private void patch(Map<String, ObjectNode> jobs, JsonNode patch) {
    for (JsonNode patched : JsonFields.list(patch, "replicatedJobs")) {
      ObjectNode job = jobs.get(patched.path("name").toString());
      if (job != null) {
        patchJob(job, patched);
      }
    }
  }

  private void patchJob(ObjectNode job, JsonNode patch) {
    JsonNode template = JsonFields.at(patch, "template", "spec", "template");
    ObjectNode target = template(job);
    for (String field : List.of("labels", "annotations")) {
      JsonNode given = JsonFields.at(template, "metadata", field);
      if (given.isObject()) {
        merge(JsonFields.child(JsonFields.child(target, "metadata"), field), given);
      }
    }
    ObjectNode spec = JsonFields.child(target, "spec");
    JsonFields.at(template, "spec")
        .properties()
        .forEach(
            field -> {
              if (PATCHED.contains(field.getKey())) {
                set(spec, field.getKey(), field.getValue());
              }
            });
  }

  /** The pod template of a replicated job, which is made if it is missing. */
  private static ObjectNode template(ObjectNode job) {
    return JsonFields.child(
        JsonFields.child(JsonFields.child(job, "template"), "spec"), "template");
  }

  private void merge(ObjectNode target, JsonNode patch) {
    patch.properties().forEach(field -> set(target, field.getKey(), field.getValue()));
  }

  /** Objects are merged, and lists of named entries by name; anything else is replaced. */
  private void set(ObjectNode target, String field, JsonNode value) {
    String key = KEYS.get(field);
    if (value.isObject()) {
      merge(JsonFields.child(target, field), value);
    } else if (key != null && value.isArray() && target.get(field) instanceof ArrayNode present) {
      value.forEach(entry -> put(present, key, entry));
    } else {
      target.set(field, value.deepCopy());
    }
  }

  private void put(ArrayNode present, String key, JsonNode entry) {
    Map<String, ObjectNode> named =
        entries.computeIfAbsent(present, list -> RenderedJobSet.named(list, key));
    String name = entry.path(key).toString();
    ObjectNode same = named.get(name);
    if (same != null) {
      merge(same, entry);
      return;
    }
    JsonNode added = entry.deepCopy();
    present.add(added);
    if (added instanceof ObjectNode object) {
      named.put(name, object);
    }
  }

  private static Map<String, ObjectNode> named(ArrayNode list, String key) {
    Map<String, ObjectNode> named = new HashMap<>();
    for (JsonNode entry : list) {
      if (entry instanceof ObjectNode object) {
        named.putIfAbsent(entry.path(key).toString(), object);
      }
    }
    return named;
  }

  private static boolean isStep(JsonNode job, String step) {
    return JsonFields.text(job, "template", "metadata", "labels", STEP).equals(step)
        || JsonFields.text(job, "template", "spec", "template", "metadata", "labels", STEP)
            .equals(step);
  }

  private void initialize(ObjectNode job) {
    INITIALIZERS.forEach(
        (step, field) -> {
          JsonNode given = JsonFields.at(trainJob, "spec", "initializer", field);
          if (isStep(job, step) && given.isObject()) {
            container(job, step).ifPresent(container -> fetch(container, given));
          }
        });
  }

  private void fetch(ObjectNode container, JsonNode given) {
    ArrayNode env = JsonFields.array(container.get("env"));
    container.set("env", env);
    if (given.hasNonNull("storageUri")) {
      ObjectNode uri = env.objectNode().put("name", "STORAGE_URI");
      put(env, "name", uri.set("value", given.get("storageUri")));
    }
    given.path("env").forEach(entry -> put(env, "name", entry));
    if (given.path("secretRef").isObject()) {
      ArrayNode from = JsonFields.array(container.get("envFrom"));
      from.addObject().set("secretRef", given.get("secretRef").deepCopy());
      container.set("envFrom", from);
    }
  }

  /** The container of this name; a pod has no two of one name. */
  private static Optional<ObjectNode> container(ObjectNode job, String name) {
    return JsonFields.list(job, "template", "spec", "template", "spec", "containers").stream()
        .filter(ObjectNode.class::isInstance)
        .map(ObjectNode.class::cast)
        .filter(container -> container.path("name").asText().equals(name))
        .findFirst();
  }

  private void train(ObjectNode job) {
    JsonNode trainer = JsonFields.at(trainJob, "spec", "trainer");
    boolean leads = isStep(job, TRAINER);
    if (trainer.isObject() && (leads || (mpi && isNode(job)))) {
      container(job, NODE).ifPresent(container -> train(container, trainer, leads));
    }
  }

  private void train(ObjectNode container, JsonNode trainer, boolean leads) {
    copy(trainer, "image", container);
    for (String field : List.of("requests", "limits")) {
      JsonNode amounts = JsonFields.at(trainer, "resourcesPerNode", field);
      if (amounts.isObject()) {
        merge(JsonFields.child(JsonFields.child(container, "resources"), field), amounts);
      }
    }
    if (leads) {
      copy(trainer, "command", container);
      copy(trainer, "args", container);
      ArrayNode env = JsonFields.array(container.get("env"));
      trainer.path("env").forEach(entry -> put(env, "name", entry));
      JsonFields.setUnlessEmpty(container, "env", env);
    }
  }

  private static void copy(JsonNode from, String field, ObjectNode to) {
    if (from.hasNonNull(field)) {
      to.set(field, from.get(field).deepCopy());
    }
  }

  private static boolean isNode(JsonNode job) {
    return job.path("name").asText().equals(NODE);
  }

  /**
   * The pods of the training: as many as there are nodes. With MPI these are the pods of the job of
   * nodes, one fewer if the launcher is a node itself. Every other step has one pod, whatever the
   * runtime says of its parallelism.
   */
  private void nodes(ObjectNode job) {
    JsonNode wanted = JsonFields.at(trainJob, "spec", TRAINER, "numNodes");
    JsonNode policy = runtime.path("mlPolicy");
    boolean trains = mpi ? isNode(job) : isStep(job, TRAINER);
    if (trains && !wanted.isNumber() && !policy.isObject()) {
      return;
    }
    int nodes = wanted.isNumber() ? wanted.asInt() : policy.path("numNodes").asInt(1);
    boolean launcherIsNode = mpi && policy.path("mpi").path("runLauncherAsNode").asBoolean();
    int training = launcherIsNode ? Math.max(1, nodes - 1) : nodes;
    int pods = trains ? training : 1;
    JsonFields.child(JsonFields.child(job, "template"), "spec")
        .put("parallelism", pods)
        .put("completions", pods);
  }
}
