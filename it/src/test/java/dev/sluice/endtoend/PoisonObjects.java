package dev.sluice.endtoend;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/**
 * Objects that somebody writes who means harm; the name of each begins with {@link #PREFIX}. Those
 * in a team's namespace ask for more than any quota, or for what belongs to others; those in the
 * adversary's own namespace may run.
 */
final class PoisonObjects {

  static final String PREFIX = "evil-";

  private static final String WORKLOADS = "kueue.x-k8s.io/v1beta2";
  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final int TOO_MANY_REQUESTS = 429;
  private static final ObjectMapper JSON = new ObjectMapper();

  /** More CPUs than any quota, and just less than the largest amount that can be counted. */
  private static final String TOO_MUCH = "9000000000000000";

  /**
   * With {@code 1e999999999} a kube-apiserver computes for minutes, long after it has given up the
   * request: that is an attack on the API server alone, which no webhook can prevent.
   */
  private static final String LARGE_EXPONENT = "1e9999";

  private static final List<String> KEYS =
      List.of(
          "sluice.dev/remote-status",
          "sluice.dev/may-run-here",
          "sluice.dev/placement-region",
          "sluice.dev/expected-run-time",
          "sluice.dev/placement-cluster-selector",
          "sluice.dev/fence-after",
          "sluice.dev/origin-workload-uid",
          "sluice.dev/active-deadline",
          "sluice.dev/aged-by",
          "sluice.dev/checkpoint-requested-at",
          "sluice.dev/checkpointed-at",
          "sluice.dev/max-delay-for-cheaper",
          "sluice.dev/max-price",
          "sluice.dev/max-run-time",
          "kueue.x-k8s.io/was-podgroup",
          "kueue.x-k8s.io/job-min-parallelism",
          "kueue.x-k8s.io/job-completions-equal-parallelism",
          "kueue.x-k8s.io/admission-gated-by",
          "kueue.x-k8s.io/podset-required-topology",
          "kueue.x-k8s.io/podset-preferred-topology",
          "kueue.x-k8s.io/podset-group-name",
          "kueue.x-k8s.io/podset-slice-required-topology",
          "kueue.x-k8s.io/podset-slice-required-topology-constraints",
          "kueue.x-k8s.io/podset-slice-size",
          "kueue.x-k8s.io/podset-topology-spreading",
          "kueue.x-k8s.io/workload-slice-replacement-for",
          "provreq.kueue.x-k8s.io/ValidUntilSeconds",
          "kueue.x-k8s.io/priority-boost",
          "kueue.x-k8s.io/pod-group-total-count",
          "kueue.x-k8s.io/is-group-workload",
          "kueue.x-k8s.io/role-hash");

  private static final List<String> TEXTS =
      List.of(
          "",
          "5-3",
          "0-99999999",
          "-1",
          "1e999999999",
          "999999999999999999999999999999",
          "NaN",
          "null",
          "{",
          "[".repeat(5000),
          "{\"active\":-1,\"succeeded\":\"x\",\"completedIndexes\":{\"a\":[1]}}",
          "{\"completedIndexes\":\"0-99999999\"}",
          "{\"failedIndexes\":\"9999999999-0,-,1-,-1\",\"succeeded\":-5}",
          "\u202e\u200b\ufeff",
          "a in (",
          "a".repeat(100_000));

  private final TestCluster cluster;
  private final List<String> teams;
  private final String own;
  private final Random random;
  private final AtomicInteger rounds = new AtomicInteger();
  private final AtomicInteger number = new AtomicInteger();
  private final AtomicInteger accepted = new AtomicInteger();
  private final AtomicInteger refused = new AtomicInteger();

  /**
   * Objects that are not written yet.
   *
   * @param teams namespaces of those who mean well, each with a LocalQueue {@code main}
   * @param own the adversary's namespace, with such a queue, too
   */
  PoisonObjects(TestCluster cluster, List<String> teams, String own, long seed) {
    this.cluster = cluster;
    this.teams = teams;
    this.own = own;
    this.random = new Random(seed);
  }

  /** How often {@link #write} has written all kinds. */
  int rounds() {
    return rounds.get();
  }

  /** How many writes the API server took. */
  int accepted() {
    return accepted.get();
  }

  /** How many writes the API server or a webhook refused. */
  int refused() {
    return refused.get();
  }

  /** Writes some of each kind; waits for the API server where it is away. */
  void write() {
    for (String team : teams) {
      annotatedJobs(team, TOO_MUCH, 8);
      hugeJobs(team);
      thieves(team);
      forgedWorkloads(team);
      unknownOwners(team, TOO_MUCH);
    }
    annotatedJobs(own, "1", 12);
    hugeJobs(own);
    unknownOwners(own, "1");
    negativeUsage();
    madeUpChildren();
    localQueues();
    rounds.incrementAndGet();
  }

  private void annotatedJobs(String namespace, String cpu, int count) {
    for (int i = 0; i < count; i++) {
      ObjectNode job = job(cpu);
      for (int key = 0; key < 3; key++) {
        job.withObject("/metadata/annotations").put(any(KEYS), any(TEXTS));
      }
      if (random.nextBoolean()) {
        job.withObject("/spec").put("completionMode", "Indexed").put("completions", 2);
      }
      createJob(namespace, job);
    }
  }

  private void hugeJobs(String namespace) {
    ObjectNode wide = job("1");
    wide.withObject("/spec").put("parallelism", Integer.MAX_VALUE);
    createJob(namespace, wide);
    ObjectNode deep = job(TOO_MUCH);
    deep.withObject("/spec")
        .put("parallelism", Integer.MAX_VALUE)
        .put("activeDeadlineSeconds", Long.MAX_VALUE);
    createJob(namespace, deep);
    createJob(namespace, job(LARGE_EXPONENT));
  }

  /** Jobs that name Workloads of other Jobs as made for them. */
  private void thieves(String namespace) {
    for (JsonNode workload : honestWorkloads(namespace)) {
      ObjectNode job = job("1");
      String name = workload.at("/metadata/name").asText();
      job.withObject("/metadata/labels").put("kueue.x-k8s.io/prebuilt-workload-name", name);
      job.withObject("/metadata/annotations").put("kueue.x-k8s.io/prebuilt-workload-name", name);
      createJob(namespace, job);
    }
  }

  /** Workloads that say that they belong to somebody else's Job, which has one already. */
  private void forgedWorkloads(String namespace) {
    for (JsonNode workload : honestWorkloads(namespace)) {
      ObjectNode forged = workload(TOO_MUCH);
      forged
          .withObject("/metadata")
          .withArray("ownerReferences")
          .add(workload.at("/metadata/ownerReferences/0").deepCopy());
      createWorkload(namespace, forged);
    }
  }

  /** Workloads of no job, or of a kind that nobody serves, which are then deactivated. */
  private void unknownOwners(String namespace, String cpu) {
    for (String kind : List.of("", "Ghost", "ConfigMap")) {
      ObjectNode workload = workload(cpu);
      if (!kind.isEmpty()) {
        workload
            .withObject("/metadata")
            .withArray("ownerReferences")
            .addObject()
            .put("apiVersion", kind.equals("Ghost") ? "evil.example.com/v1" : "v1")
            .put("kind", kind)
            .put("name", "nobody")
            .put("uid", "00000000-0000-0000-0000-" + "%012d".formatted(number.get()))
            .put("controller", true);
      }
      workload.withObject("/spec").put("priority", Integer.MAX_VALUE);
      workload.withObject("/spec").put("maximumExecutionTimeSeconds", Integer.MAX_VALUE);
      if (createWorkload(namespace, workload)) {
        patchWorkload(namespace, workload, "", "{\"spec\":{\"active\":false}}");
      }
    }
  }

  /** A Workload that says that it makes room in the queue of each team. */
  private void negativeUsage() {
    for (String team : teams) {
      for (int count : List.of(0, 1)) {
        ObjectNode workload = workload("1");
        if (createWorkload(own, workload)) {
          patchWorkload(own, workload, "status", lessThanNothing(team, count));
        }
      }
    }
  }

  private String lessThanNothing(String team, int count) {
    return """
    {"status":{
      "conditions":[{"type":"QuotaReserved","status":"True","reason":"Mine","message":"",
        "lastTransitionTime":"2026-01-01T00:00:00Z"}],
      "admission":{"clusterQueue":"%s","podSetAssignments":[
        {"name":"main","count":%d,"flavors":{"cpu":"%s"},"resourceUsage":{"cpu":"-1k"}}]}}}
    """
        .formatted(pool(team), count, cluster.name("flavor"));
  }

  /** The ClusterQueue of a namespace. */
  static String pool(String namespace) {
    return "pool-" + namespace;
  }

  /** Pods that say that a Job made them, which did not. */
  private void madeUpChildren() {
    ObjectNode parent = job("1");
    createJob(own, parent);
    String name = parent.at("/metadata/name").asText();
    Optional<JsonNode> job = read("/apis/batch/v1/namespaces/%s/jobs/%s".formatted(own, name));
    if (job.isEmpty()) {
      return;
    }
    ObjectNode pod = (ObjectNode) job("1").at("/spec/template").deepCopy();
    pod.put("apiVersion", "v1").put("kind", "Pod");
    pod.withObject("/metadata").put("name", next());
    pod.withObject("/metadata/labels").put("kueue.x-k8s.io/queue-name", "main");
    pod.withObject("/metadata")
        .withArray("ownerReferences")
        .addObject()
        .put("apiVersion", "batch/v1")
        .put("kind", "Job")
        .put("name", name)
        .put("uid", job.get().at("/metadata/uid").asText())
        .put("controller", true);
    create("/api/v1/namespaces/%s/pods".formatted(own), pod);
  }

  private void localQueues() {
    for (String target : List.of("nobody", pool(teams.getFirst()), "a".repeat(253))) {
      ObjectNode queue = JSON.createObjectNode();
      queue.put("apiVersion", WORKLOADS).put("kind", "LocalQueue");
      queue.withObject("/metadata").put("name", next());
      queue.withObject("/spec").put("clusterQueue", target);
      create("/apis/%s/namespaces/%s/localqueues".formatted(WORKLOADS, own), queue);
    }
  }

  private List<JsonNode> honestWorkloads(String namespace) {
    return read("/apis/%s/namespaces/%s/workloads".formatted(WORKLOADS, namespace)).stream()
        .flatMap(list -> list.path("items").valueStream())
        .filter(it -> it.at("/metadata/ownerReferences/0/name").asText().startsWith("job-"))
        .limit(5)
        .toList();
  }

  /** What the API server answers; empty if there is no such object, or no answer. */
  private Optional<JsonNode> read(String path) {
    AtomicReference<JsonNode> answer = new AtomicReference<>();
    attempt(client -> answer.set(tree(client.raw(path))));
    return Optional.ofNullable(answer.get());
  }

  private String next() {
    return PREFIX + number.incrementAndGet();
  }

  private <T> T any(List<T> list) {
    return list.get(random.nextInt(list.size()));
  }

  private ObjectNode job(String cpu) {
    ObjectNode job =
        tree(
            """
        {"apiVersion":"batch/v1","kind":"Job",
         "metadata":{"name":"%s","labels":{"kueue.x-k8s.io/queue-name":"main"}},
         "spec":{"backoffLimit":0,"template":{
           "metadata":{"annotations":{"sluice.dev/run-for":"1s"}},
           "spec":{"restartPolicy":"Never","containers":[
             {"name":"main","image":"a","resources":{"requests":{"cpu":"%s"}}}]}}}}
        """
                .formatted(next(), cpu));
    return job;
  }

  private ObjectNode workload(String cpu) {
    ObjectNode workload =
        tree(
            """
        {"apiVersion":"%s","kind":"Workload","metadata":{"name":"%s"},
         "spec":{"queueName":"main","podSets":[{"name":"main","count":1,"template":{
           "spec":{"restartPolicy":"Never","containers":[
             {"name":"main","image":"a","resources":{"requests":{"cpu":"%s"}}}]}}}]}}
        """
                .formatted(WORKLOADS, next(), cpu));
    return workload;
  }

  private static ObjectNode tree(String json) {
    try {
      return (ObjectNode) JSON.readTree(json);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private void createJob(String namespace, ObjectNode job) {
    create("/apis/batch/v1/namespaces/%s/jobs".formatted(namespace), job);
  }

  private boolean createWorkload(String namespace, ObjectNode workload) {
    return create("/apis/%s/namespaces/%s/workloads".formatted(WORKLOADS, namespace), workload);
  }

  private boolean create(String path, ObjectNode object) {
    return count(attempt(client -> client.raw(path, "POST", object.toString())));
  }

  private boolean count(boolean taken) {
    (taken ? accepted : refused).incrementAndGet();
    return taken;
  }

  private void patchWorkload(
      String namespace, ObjectNode workload, String subresource, String patch) {
    PatchContext merge = PatchContext.of(PatchType.JSON_MERGE);
    count(
        attempt(
            client -> {
              var known =
                  client
                      .genericKubernetesResources(WORKLOADS, "Workload")
                      .inNamespace(namespace)
                      .withName(workload.at("/metadata/name").asText());
              if (subresource.isEmpty()) {
                known.patch(merge, patch);
              } else {
                known.subresource(subresource).patch(merge, patch);
              }
            }));
  }

  /** Repeats a request until it is answered with yes or no; whether the answer was yes. */
  private boolean attempt(Consumer<KubernetesClient> request) {
    AtomicBoolean taken = new AtomicBoolean();
    try {
      Awaitility.await()
          .atMost(LIMIT)
          .pollDelay(Duration.ZERO)
          .pollInterval(Duration.ofMillis(200))
          .until(() -> isAnswered(request, taken));
    } catch (ConditionTimeoutException e) {
      // nobody answers: nothing was written
    }
    return taken.get();
  }

  private boolean isAnswered(Consumer<KubernetesClient> request, AtomicBoolean taken) {
    try {
      request.accept(cluster.client());
      taken.set(true);
      return true;
    } catch (KubernetesClientException e) {
      return e.getCode() >= 400 && e.getCode() < TOO_MANY_REQUESTS;
    }
  }
}
