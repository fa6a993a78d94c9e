package dev.sluice.endtoend;

import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ApiRequest;
import dev.sluice.kube.client.Futures;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A tenant of one namespace who does anything: the built-in ClusterRole edit, the role of batch
 * users, all kinds of jobs, and resizing pods are allowed; the service account of the pods has the
 * same rights, and some steps are done as it. Each step is drawn from the seed and its own number
 * alone, but for which of the pods and children of the moment it hits. Usable from any thread.
 */
final class RandomTenant implements AutoCloseable {

  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final int AT_A_TIME = 32;
  private static final JobKind POD = JobKind.of("", "v1", "Pod");
  private static final List<String> PROPAGATIONS = List.of("Background", "Foreground", "Orphan");
  private static final List<Integer> GRACES = List.of(-1, -1, 0, 1, 30, 86_400);
  private static final List<String> CPUS = List.of("1", "2", "4", "100m");

  private static final List<String> ENDS =
      List.of("Succeeded", "Failed", "Complete", "Completed", "Suspended", "Running");

  private static final List<JobKind> CHILDREN =
      List.of(
          JobKind.of("batch", "v1", "Job"),
          JobKind.of("apps", "v1", "ReplicaSet"),
          JobKind.of("apps", "v1", "StatefulSet"),
          JobKind.of("ray.io", "v1", "RayCluster"));

  private final String namespace;
  private final long seed;
  private final int names;
  private final RandomObjects objects;
  private final NamespaceObjects known;
  private final List<KubernetesClient> clients = new ArrayList<>();
  private final ApiClient user;
  private final ApiClient pods;
  private final ApiClient kubelet;
  private final Map<String, AtomicLong> answers = new ConcurrentHashMap<>();

  /**
   * Gives a user these rights in a namespace that exists; returns when they hold.
   *
   * @param names how many objects of each kind there are at most
   * @param known what there is in the namespace
   */
  RandomTenant(
      TestCluster cluster,
      String namespace,
      long seed,
      int names,
      RandomObjects objects,
      NamespaceObjects known) {
    this.namespace = namespace;
    this.seed = seed;
    this.names = names;
    this.objects = objects;
    this.known = known;
    cluster.applyText(rights(namespace));
    this.kubelet = new ApiClient(cluster.client(), ApiClient.Options.atATime(AT_A_TIME));
    this.user = as(cluster, namespace, "system:authenticated");
    this.pods =
        as(
            cluster,
            "system:serviceaccount:" + namespace + ":default",
            "system:serviceaccounts",
            "system:serviceaccounts:" + namespace,
            "system:authenticated");
    await("rights of " + namespace)
        .atMost(LIMIT)
        .until(
            () ->
                Futures.forResult(user.send(ApiRequest.get(path(POD, "?limit=1"))))
                    instanceof ApiOutcome.Written);
  }

  private ApiClient as(TestCluster cluster, String name, String... groups) {
    Config config =
        new ConfigBuilder(cluster.client().getConfiguration())
            .withImpersonateUsername(name)
            .withImpersonateGroups(groups)
            .build();
    KubernetesClient client = new KubernetesClientBuilder().withConfig(config).build();
    clients.add(client);
    return new ApiClient(client, ApiClient.Options.atATime(AT_A_TIME));
  }

  private static String rights(String namespace) {
    StringBuilder text =
        new StringBuilder(
            """
            apiVersion: rbac.authorization.k8s.io/v1
            kind: Role
            metadata: {name: tenant, namespace: %1$s}
            rules:
            - {apiGroups: [""], resources: [pods/resize, pods/ephemeralcontainers], verbs: [patch]}
            - apiGroups: [jobset.x-k8s.io, ray.io, kubeflow.org, trainer.kubeflow.org,
                leaderworkerset.x-k8s.io, workload.codeflare.dev, sparkoperator.k8s.io, argoproj.io]
              resources: ["*"]
              verbs: [get, list, create, update, patch, delete]
            """
                .formatted(namespace));
    String subjects =
        """
        - {apiGroup: rbac.authorization.k8s.io, kind: User, name: %1$s}
        - {kind: ServiceAccount, name: default, namespace: %1$s}
        """
            .formatted(namespace);
    for (String role :
        List.of("Role tenant", "ClusterRole edit", "ClusterRole kueue-batch-user-role")) {
      String[] words = role.split(" ", -1);
      text.append(
          """
          ---
          apiVersion: rbac.authorization.k8s.io/v1
          kind: RoleBinding
          metadata: {name: tenant-%2$s, namespace: %1$s}
          roleRef: {apiGroup: rbac.authorization.k8s.io, kind: %3$s, name: %2$s}
          subjects:
          %4$s\
          """
              .formatted(namespace, words[1], words[0], subjects));
    }
    return text.toString();
  }

  private String path(JobKind kind, String rest) {
    return (kind.group().isEmpty() ? "/api/" : "/apis/")
        + kind.apiVersion()
        + "/namespaces/"
        + namespace
        + "/"
        + kind.plural()
        + rest;
  }

  /** Does the step of this number, and tells what it was and how it was answered. */
  String step(long number) throws InterruptedException {
    Random random = new Random(seed * 0x9E37_79B9_7F4A_7C15L + number * 0xBF58_476D_1CE4_E5B9L);
    ApiClient by = random.nextInt(10) == 0 ? pods : user;
    List<Step> steps = draw(random);
    StringBuilder told = new StringBuilder();
    for (Step step : steps) {
      ApiOutcome outcome = Futures.forResult(by.send(step.request()));
      String answer = answer(outcome);
      answers
          .computeIfAbsent(
              step.name() + " " + answer.replaceAll(" .*", ""), any -> new AtomicLong())
          .incrementAndGet();
      told.append(number)
          .append(by == pods ? " (pod) " : " ")
          .append(step.request().method())
          .append(' ')
          .append(step.request().path().replaceAll(".*/namespaces/[^/]*/", ""))
          .append(' ')
          .append(step.request().body())
          .append(" -> ")
          .append(answer)
          .append('\n');
    }
    return told.toString();
  }

  private static String answer(ApiOutcome outcome) {
    return switch (outcome) {
      case ApiOutcome.Written written -> "done";
      case ApiOutcome.Conflict conflict -> "conflict " + conflict.message();
      case ApiOutcome.Gone gone -> "gone";
      case ApiOutcome.Refused refused -> "refused " + refused.message();
      case ApiOutcome.Unreachable unreachable -> "unreachable " + unreachable.message();
    };
  }

  /**
   * A request.
   *
   * @param name of what is done to what, for counting
   */
  private record Step(String name, ApiRequest request) {}

  private List<Step> draw(Random random) throws InterruptedException {
    int drawn = random.nextInt(100);
    if (drawn < 33) {
      return create(random);
    }
    if (drawn < 50) {
      return List.of(change(random));
    }
    if (drawn < 75) {
      return List.of(deleteJob(random));
    }
    Optional<GenericKubernetesResource> hit =
        drawn < 92
            ? known.any(POD, random)
            : known.any(RandomObjects.pick(CHILDREN, random), random);
    if (hit.isEmpty()) {
      return create(random);
    }
    return List.of(drawn < 92 ? pod(hit.get(), random) : child(hit.get(), random));
  }

  private List<Step> create(Random random) {
    List<Step> steps = new ArrayList<>();
    for (ObjectNode object : objects.job(random, names)) {
      if (random.nextInt(20) == 0) {
        owners(object.withObjectProperty("metadata"), random);
      }
      if (object.path("kind").asText().equals("Pod") && random.nextInt(20) == 0) {
        object.withObjectProperty("spec").put("nodeName", "node-0");
      }
      JobKind kind = RandomObjects.kind(object);
      steps.add(new Step("create " + kind.kind(), ApiRequest.create(path(kind, ""), object)));
    }
    return steps;
  }

  /** Another owner, which exists with the UID that is named; or none. */
  private void owners(ObjectNode metadata, Random random) {
    Optional<GenericKubernetesResource> owner =
        random.nextInt(3) == 0 ? Optional.empty() : known.any(random);
    if (owner.isEmpty()) {
      metadata.putNull("ownerReferences");
      return;
    }
    metadata
        .putArray("ownerReferences")
        .addObject()
        .put("apiVersion", owner.get().getApiVersion())
        .put("kind", owner.get().getKind())
        .put("name", owner.get().getMetadata().getName())
        .put("uid", owner.get().getMetadata().getUid())
        .put("controller", random.nextInt(4) > 0);
  }

  /** A job gets what another one of its kind has, or parts of it. */
  private Step change(Random random) {
    List<ObjectNode> job = objects.job(random, names);
    ObjectNode object = job.get(random.nextInt(job.size()));
    JobKind kind = RandomObjects.kind(object);
    if (random.nextInt(8) == 0) {
      return end(object, kind, random);
    }
    ObjectNode patch = JsonMappers.JSON.createObjectNode();
    String what =
        switch (random.nextInt(6)) {
          case 0 -> {
            patch.set("spec", object.path("spec"));
            yield "spec";
          }
          case 1 -> {
            patch.set("spec", object.path("spec"));
            patch.set("metadata", object.path("metadata"));
            yield "spec and labels";
          }
          case 2 -> {
            suspend(patch, kind, random);
            yield "suspend";
          }
          case 3 -> {
            size(patch, kind, random);
            yield "size";
          }
          default -> metadata(patch, random);
        };
    String name = object.at("/metadata/name").asText();
    return new Step(what + " of " + kind.kind(), ApiRequest.patch(path(kind, "/" + name), patch));
  }

  /** A lie about how a job is, where its status is the tenant's to write. */
  private Step end(ObjectNode object, JobKind kind, Random random) {
    ObjectNode patch = JsonMappers.JSON.createObjectNode();
    ObjectNode status = patch.putObject("status");
    status.put("phase", RandomObjects.pick(ENDS, random));
    status.put("state", RandomObjects.pick(ENDS, random).toLowerCase(Locale.ROOT));
    status
        .putArray("conditions")
        .addObject()
        .put("type", RandomObjects.pick(ENDS, random))
        .put("status", "True")
        .put("reason", "Made")
        .put("message", "made up")
        .put("lastTransitionTime", "2026-01-01T00:00:00Z");
    String path = path(kind, "/" + object.at("/metadata/name").asText() + "/status");
    return new Step("status of " + kind.kind(), ApiRequest.patch(path, patch));
  }

  private static void suspend(ObjectNode patch, JobKind kind, Random random) {
    ObjectNode spec = patch.putObject("spec");
    ObjectNode owner = kind.group().equals("kubeflow.org") ? spec.putObject("runPolicy") : spec;
    owner.put("suspend", random.nextInt(3) == 0);
  }

  private static void size(ObjectNode patch, JobKind kind, Random random) {
    int size = random.nextInt(random.nextInt(10) == 0 ? 20 : 6);
    ObjectNode spec = patch.putObject("spec");
    spec.put(kind.kind().equals("Job") ? "parallelism" : "replicas", size);
  }

  private String metadata(ObjectNode patch, Random random) {
    if (random.nextInt(4) == 0) {
      owners(patch.putObject("metadata"), random);
      return "owners";
    }
    RandomMetadata.change(patch.putObject("metadata"), random);
    return "metadata";
  }

  private Step deleteJob(Random random) {
    ObjectNode object = objects.job(random, names).getFirst();
    JobKind kind = RandomObjects.kind(object);
    String name = object.at("/metadata/name").asText();
    if (random.nextInt(4) == 0) {
      // What somebody's finalizer holds would never go.
      ObjectNode patch = JsonMappers.JSON.createObjectNode();
      patch.putObject("metadata").putNull("finalizers");
      return new Step(
          "finalizers of " + kind.kind(), ApiRequest.patch(path(kind, "/" + name), patch));
    }
    return delete(kind, name, random);
  }

  private Step delete(JobKind kind, String name, Random random) {
    ObjectNode options =
        JsonMappers.JSON
            .createObjectNode()
            .put("apiVersion", "v1")
            .put("kind", "DeleteOptions")
            .put("propagationPolicy", RandomObjects.pick(PROPAGATIONS, random));
    int grace = RandomObjects.pick(GRACES, random);
    if (grace >= 0) {
      options.put("gracePeriodSeconds", grace);
    }
    return new Step(
        "delete " + kind.kind(),
        new ApiRequest("DELETE", path(kind, "/" + name), "application/json", options.toString()));
  }

  private Step child(GenericKubernetesResource object, Random random) {
    JobKind kind = JobKind.of(group(object), version(object), object.getKind());
    String name = object.getMetadata().getName();
    ObjectNode patch = JsonMappers.JSON.createObjectNode();
    String what;
    switch (random.nextInt(5)) {
      case 0 -> {
        return delete(kind, name, random);
      }
      case 1 -> {
        suspend(patch, kind, random);
        what = "suspend";
      }
      case 2 -> {
        size(patch, kind, random);
        what = "size";
      }
      default -> what = metadata(patch, random);
    }
    return new Step(
        what + " of some " + kind.kind(), ApiRequest.patch(path(kind, "/" + name), patch));
  }

  private static String group(GenericKubernetesResource object) {
    int slash = object.getApiVersion().indexOf('/');
    return slash < 0 ? "" : object.getApiVersion().substring(0, slash);
  }

  private static String version(GenericKubernetesResource object) {
    return object.getApiVersion().substring(object.getApiVersion().indexOf('/') + 1);
  }

  private Step pod(GenericKubernetesResource object, Random random) throws InterruptedException {
    String name = object.getMetadata().getName();
    String path = path(POD, "/" + name);
    ObjectNode patch = JsonMappers.JSON.createObjectNode();
    String what;
    switch (random.nextInt(12)) {
      case 0 -> {
        return delete(POD, name, random);
      }
      case 1 -> {
        ObjectNode eviction =
            JsonMappers.JSON
                .createObjectNode()
                .put("apiVersion", "policy/v1")
                .put("kind", "Eviction");
        eviction.putObject("metadata").put("name", name);
        return new Step("evict Pod", ApiRequest.create(path + "/eviction", eviction));
      }
      case 2 -> {
        patch.putObject("spec").putNull("schedulingGates");
        what = "gates";
      }
      case 3 -> {
        return resize(object, path, random);
      }
      case 4 -> {
        patch
            .putObject("spec")
            .putArray("ephemeralContainers")
            .addObject()
            .put("name", "debug-" + random.nextInt(3))
            .put("image", "none");
        path += "/ephemeralcontainers";
        what = "ephemeral containers";
      }
      case 5 -> {
        patch.putObject("status").put("phase", random.nextBoolean() ? "Succeeded" : "Running");
        path += "/status";
        what = "status";
      }
      case 6 -> {
        patch.putObject("spec").put("activeDeadlineSeconds", 1 + random.nextInt(5));
        what = "deadline";
      }
      case 7, 8 -> {
        owners(patch.putObject("metadata"), random);
        what = "owners";
      }
      default -> {
        RandomMetadata.change(patch.putObject("metadata"), random);
        what = "metadata";
      }
    }
    return new Step(what + " of some Pod", ApiRequest.patch(path, patch));
  }

  /** A kubelet that can resize pods tells what their containers request; the API server asks. */
  private Step resize(GenericKubernetesResource pod, String path, Random random)
      throws InterruptedException {
    ObjectNode report = JsonMappers.JSON.createObjectNode();
    JsonNode statuses = JsonMappers.JSON.valueToTree(pod).at("/status/containerStatuses");
    if (statuses instanceof ArrayNode array) {
      ArrayNode copy = array.deepCopy();
      for (JsonNode status : copy) {
        ((ObjectNode) status).putObject("resources").putObject("requests").put("cpu", "1");
      }
      report.putObject("status").set("containerStatuses", copy);
      Futures.forResult(kubelet.send(ApiRequest.patch(path + "/status", report)));
    }
    ArrayNode operations = JsonMappers.JSON.createArrayNode();
    operations
        .addObject()
        .put("op", "add")
        .put("path", "/spec/containers/0/resources/requests")
        .putObject("value")
        .put("cpu", RandomObjects.pick(CPUS, random));
    return new Step("resize of some Pod", ApiRequest.jsonPatch(path + "/resize", operations));
  }

  /** How often each sort of request was answered how. */
  Map<String, AtomicLong> answers() {
    return Map.copyOf(answers);
  }

  @Override
  public void close() {
    clients.forEach(KubernetesClient::close);
  }
}
