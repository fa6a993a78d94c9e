package dev.sluice.app.module;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.conversion.ConversionWebhook;
import dev.sluice.api.conversion.HubConverter;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.PodSetInfo;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.jobs.kind.StartConflictException;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import dev.sluice.jobs.kinds.argo.Workflow;
import dev.sluice.kube.reflect.ReadErrorLog;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.HostileSamples;
import dev.sluice.webhooks.kinds.WebhookKind;
import dev.sluice.webhooks.kinds.Webhooks;
import dev.sluice.webhooks.review.WebhookRouter;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.ByteArrayInputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Objects as large as the API server takes them, filled in the ways that cost readers and webhooks
 * most: what is done with one of four times the size takes no more than about four times the time.
 * Measured is the processor time of the thread, which other programs on the machine hardly change,
 * and of several rounds the fastest. The daily build takes some of the cases; {@code
 * -Dsluice.case=TEXT} takes those whose names have it.
 */
@Order(4) // long ones begin early
class TimeBySizeTest {

  /** What etcd takes, and the API server of all annotations. */
  private static final int MOST_OBJECT = 1_400_000;

  private static final int MOST_ANNOTATIONS = 250_000;

  /**
   * Four times the size in n log n steps takes 4.6 times as long, and more once it is more than a
   * cache of the processor holds; of n² it is 16.
   */
  private static final double MOST_GROWTH = 11;

  /** Below this, what a round costs besides, such as a collection of garbage, hides the growth. */
  private static final long SMALL_NANOS = 60_000_000;

  private static final int ROUNDS = 2;

  /** What took the square of its size once. */
  private static final List<String> DAILY =
      List.of(
          "Job, sluice.dev/placement-cluster-selector of commas",
          "Job, labels of one hash",
          "Job, variables",
          "RayCluster, groups",
          "AppWrapper, pod sets of one template",
          "TrainJob, variables",
          "Workflow, tasks with resources",
          "Workload, reclaimable pods",
          "ClusterQueue, flavors");

  private static final String POD = "/spec/template/spec";
  private static final Map<String, String> PODS =
      Map.ofEntries(
          Map.entry("Job", POD),
          Map.entry("Pod", "/spec"),
          Map.entry("Deployment", POD),
          Map.entry("StatefulSet", POD),
          Map.entry("LeaderWorkerSet", "/spec/leaderWorkerTemplate/workerTemplate/spec"),
          Map.entry("Workload", "/spec/podSets/0/template/spec"),
          Map.entry("JobSet", "/spec/replicatedJobs/0/template/spec/template/spec"),
          Map.entry("PyTorchJob", "/spec/pytorchReplicaSpecs/Worker/template/spec"),
          Map.entry("RayCluster", "/spec/headGroupSpec/template/spec"),
          Map.entry("SparkApplication", "/spec/driver/template/spec"),
          Map.entry("QueueUnit", "/spec/podSet/0/template/spec"),
          Map.entry("AppWrapper", "/spec/components/0/template/spec/items/0/template/spec"),
          Map.entry(
              "TrainingRuntime",
              "/spec/template/spec/replicatedJobs/1/template/spec/template/spec"));

  private static final Map<String, ObjectNode> SAMPLES = HostileSamples.byKind();
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

  private final ReadErrorLog faults = new ReadErrorLog();
  private final KubernetesSerialization serialization = KubernetesClients.serialization(faults);
  private final HostileWorld world = new HostileWorld();
  private final ConversionWebhook conversions = new ConversionWebhook(new HubConverter());
  private final WebhookRouter router =
      new WebhookRouter(
          Webhooks.functions(HostileReadingTest.settings(), new HostileReadingTest.Facts()));

  /**
   * A way to fill an object.
   *
   * @param kind of the object
   * @param name of the way
   * @param most how many bytes are filled
   * @param filling the object by the number of bytes
   */
  record Case(String kind, String name, int most, IntFunction<ObjectNode> filling) {
    @Override
    public String toString() {
      return kind + ", " + name;
    }
  }

  static List<Case> cases() {
    List<Case> cases = new ArrayList<>();
    for (String kind :
        List.of("Job", "Pod", "PyTorchJob", "Deployment", "LeaderWorkerSet", "Workload")) {
      for (String key :
          List.of(
              "kueue.x-k8s.io/admission-gated-by",
              "sluice.dev/placement-cluster-selector",
              "sluice.dev/placement-region")) {
        cases.add(annotation(kind, key, "commas", n -> ",".repeat(n)));
        cases.add(annotation(kind, key, "items", n -> repeated("a.b/c%d,", n)));
      }
    }
    cases.add(annotation("Job", "sluice.dev/expected-run-time", "digits", n -> "1".repeat(n)));
    cases.add(annotation("Workload", "sluice.dev/expected-run-time", "parts", n -> "1h".repeat(n)));
    String selector = "sluice.dev/placement-cluster-selector";
    cases.add(annotation("Job", selector, "values", n -> "a in (" + repeated("v%d,", n) + "b)"));
    cases.add(annotation("Job", selector, "parentheses", n -> "(".repeat(n)));
    cases.add(annotation("Job", selector, "spaces", n -> "a" + " ".repeat(n) + "=b"));
    cases.add(annotation("Job", "sluice.dev/remote-status", "lists", n -> "[".repeat(n / 2) + "1"));
    cases.add(annotation("Workflow", "kube-queue/min-resources", "maps", n -> "{".repeat(n)));
    cases.add(
        annotation("Workflow", "kube-queue/min-resources", "lines", n -> repeated("r%d: 1\n", n)));
    for (String kind : List.of("Job", "Pod", "Workload", "StatefulSet", "Workflow")) {
      cases.add(of(kind, "labels of one hash", MOST_OBJECT, n -> map("/metadata/labels", kind, n)));
      cases.add(
          of(
              kind,
              "annotations of one hash",
              MOST_ANNOTATIONS,
              n -> map("/metadata/annotations", kind, n)));
    }
    PODS.forEach((kind, pod) -> templates(kind, pod, cases));
    kinds(cases);
    String wanted = System.getProperty("sluice.case", "");
    return cases.stream()
        .filter(
            each ->
                wanted.isEmpty()
                    ? BuildBreadth.full() || DAILY.contains(each.toString())
                    : each.toString().contains(wanted))
        .toList();
  }

  private static void templates(String kind, String pod, List<Case> cases) {
    cases.add(list(kind, "variables", pod + "/containers/0/env", "{'name': 'v%d', 'value': 'x'}"));
    cases.add(
        list(
            kind,
            "containers",
            pod + "/containers",
            "{'name': 'c%d', 'resources': {'requests': {'cpu': 'x'}}}"));
    cases.add(list(kind, "tolerations", pod + "/tolerations", "{'key': 'k%d'}"));
    cases.add(of(kind, "node selector", MOST_OBJECT, n -> map(pod + "/nodeSelector", kind, n)));
    cases.add(
        of(
            kind,
            "requests of one hash",
            MOST_OBJECT,
            n -> map(pod + "/containers/0/resources/requests", kind, n)));
    cases.add(
        of(
            kind,
            "a long text deep inside",
            MOST_OBJECT,
            n -> {
              ObjectNode object = sample(kind);
              ObjectNode at = object(object, pod + "/containers/0/lifecycle");
              for (int i = 0; i < 100; i++) {
                at = at.putObject("a");
              }
              at.put("a", "x".repeat(n));
              return object;
            }));
  }

  private static void kinds(List<Case> cases) {
    String job =
        "{'name': 'j%d', 'replicas': 1, 'template': {'spec': {'template': {'spec':"
            + " {'containers': [{'name': 'c'}]}}}}}";
    cases.add(list("JobSet", "jobs", "/spec/replicatedJobs", job));
    cases.add(
        of(
            "JobSet",
            "jobs with a status each",
            MOST_OBJECT,
            n -> {
              ObjectNode object = list(sample("JobSet"), "/spec/replicatedJobs", job, n / 2);
              return list(
                  object,
                  "/status/replicatedJobsStatus",
                  "{'name': 'j%d', 'ready': 1, 'succeeded': 1}",
                  n / 2);
            }));
    String group =
        "{'groupName': 'g%d', 'template': {'metadata': {'annotations':"
            + " {'kueue.x-k8s.io/podset-group-name': 'g%<d'}}, 'spec': {}}}";
    cases.add(list("RayCluster", "groups", "/spec/workerGroupSpecs", group));
    cases.add(
        list("AppWrapper", "components", "/spec/components", "{'template': {'apiVersion': 'v1'}}"));
    cases.add(
        of(
            "AppWrapper",
            "pod sets of one template",
            MOST_OBJECT,
            n -> {
              ObjectNode object = sample("AppWrapper");
              String first = "/spec/components/0";
              object(object, first + "/template/spec/items/0/template/spec")
                  .put("note", "x".repeat(n / 2));
              return list(
                  object,
                  first + "/podSets",
                  "{'path': 'template.spec.items[0].template', 'replicas': %d}",
                  n / 2);
            }));
    cases.add(
        text("AppWrapper", "a version", "/spec/components/0/template/apiVersion", n -> "a", "/"));
    cases.add(text("AppWrapper", "a path", "/spec/components/0/podSets/0/path", n -> ".a", "["));
    cases.add(text("SparkApplication", "memory", "/spec/driver/memory", n -> " ", "x"));
    cases.add(list("TrainJob", "variables", "/spec/trainer/env", "{'name': 'v%d'}"));
    cases.add(
        list(
            "TrainJob",
            "patches",
            "/spec/runtimePatches",
            "{'manager': 'm', 'trainingRuntimeSpec': {'template': {'spec': {'replicatedJobs':"
                + " [{'name': 'node', 'template': {'spec': {'template': {'spec': {'containers':"
                + " [{'name': 'node', 'env': [{'name': 'v%d'}]}]}}}}}]}}}}"));
    cases.add(
        list(
            "Workflow",
            "steps",
            "/spec/templates/0/steps/0",
            "{'name': 's%d', 'template': 'work'}"));
    cases.add(
        list(
            "Workflow",
            "tasks",
            "/spec/templates/1/dag/tasks",
            "{'name': 't%d', 'template': 'work'}"));
    cases.add(
        list(
            "Workflow",
            "templates",
            "/spec/templates",
            "{'name': 't%d', 'container': {'image': 'i'}}"));
    cases.add(
        of(
            "Workflow",
            "tasks with resources",
            MOST_OBJECT,
            n -> {
              ObjectNode object = sample("Workflow");
              ObjectNode limits =
                  object(object, "/spec/templates/2/container").putObject("resources");
              limits = limits.putObject("limits");
              for (int i = 0; i < 250; i++) {
                limits.put("example.com/r" + i, "1");
              }
              return list(
                  object,
                  "/spec/templates/1/dag/tasks",
                  "{'name': 't%d', 'template': 'work'}",
                  n - 6000);
            }));
    cases.add(text("Job", "completed indexes", "/status/completedIndexes", n -> "1-3,5,", ""));
    cases.add(list("Workload", "pod sets", "/spec/podSets", "{'name': 'p%d', 'count': 1}"));
    cases.add(
        list(
            "Workload",
            "reclaimable pods",
            "/status/reclaimablePods",
            "{'name': 'p%d', 'count': 3}"));
    cases.add(
        list(
            "Workload",
            "assignments",
            "/status/admission/podSetAssignments",
            "{'name': 'p%d', 'count': 3, 'resourceUsage': {'cpu': '1'}}"));
    cases.add(
        list(
            "Workload",
            "conditions",
            "/status/conditions",
            "{'type': 'T%d', 'status': 'True', 'reason': '-'}"));
    cases.add(
        list(
            "ClusterQueue",
            "flavors",
            "/spec/resourceGroups/0/flavors",
            "{'name': 'f%d', 'resources': [{'name': 'x', 'nominalQuota': '1'}]}"));
  }

  private static Case of(String kind, String name, int most, IntFunction<ObjectNode> filling) {
    return new Case(kind, name, most, filling);
  }

  private static Case annotation(String kind, String key, String name, IntFunction<String> value) {
    return of(
        kind,
        key + " of " + name,
        MOST_ANNOTATIONS,
        n -> {
          ObjectNode object = sample(kind);
          object(object, "/metadata/annotations").put(key, value.apply(n));
          return object;
        });
  }

  /** A list whose elements are of a form with their place in it; single quotes stand for double. */
  private static Case list(String kind, String name, String pointer, String form) {
    return of(kind, name, MOST_OBJECT, n -> list(sample(kind), pointer, form, n));
  }

  private static Case text(
      String kind, String name, String pointer, IntFunction<String> part, String end) {
    return of(
        kind,
        name,
        MOST_OBJECT,
        n -> {
          ObjectNode object = sample(kind);
          int last = pointer.lastIndexOf('/');
          String unit = part.apply(n);
          object(object, pointer.substring(0, last))
              .put(pointer.substring(last + 1), "1" + unit.repeat(n / unit.length()) + end);
          return object;
        });
  }

  private static ObjectNode sample(String kind) {
    return Objects.requireNonNull(SAMPLES.get(kind), kind).deepCopy();
  }

  private static ObjectNode object(ObjectNode root, String pointer) {
    JsonNode found = root;
    for (String step : pointer.substring(1).split("/")) {
      JsonNode parent = found;
      JsonNode next =
          parent instanceof ArrayNode list ? list.get(Integer.parseInt(step)) : parent.get(step);
      found = next == null ? ((ObjectNode) parent).putObject(step) : next;
    }
    return (ObjectNode) found;
  }

  private static ObjectNode list(ObjectNode object, String pointer, String form, int bytes) {
    String json = form.replace('\'', '"');
    StringBuilder text = new StringBuilder("[");
    for (int i = 0; text.length() < bytes; i++) {
      text.append(i == 0 ? "" : ",").append(json.formatted(i));
    }
    int last = pointer.lastIndexOf('/');
    JsonNode parent = parent(object, pointer.substring(0, last));
    JsonNode list;
    try {
      list = JsonMappers.JSON.readTree(text.append(']').toString());
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
    if (parent instanceof ArrayNode outer) {
      outer.set(Integer.parseInt(pointer.substring(last + 1)), list);
    } else {
      ((ObjectNode) parent).set(pointer.substring(last + 1), list);
    }
    return object;
  }

  private static JsonNode parent(ObjectNode root, String pointer) {
    JsonNode found = root.at(pointer);
    return found.isMissingNode() ? object(root, pointer) : found;
  }

  /** Keys that have one hash, as those of {@code Aa} and {@code BB} in any order have. */
  private static ObjectNode map(String pointer, String kind, int bytes) {
    ObjectNode object = sample(kind);
    ObjectNode map = object(object, pointer);
    for (int i = 0; i < bytes / 45; i++) {
      StringBuilder key = new StringBuilder();
      for (int bit = 0; bit < 15; bit++) {
        key.append((i >> bit & 1) == 0 ? "Aa" : "BB");
      }
      map.put(key.toString(), "v");
    }
    return object;
  }

  private static String repeated(String form, int bytes) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; text.length() < bytes; i++) {
      text.append(form.formatted(i));
    }
    return text.toString();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("cases")
  void whatIsReadAndReviewedTakesTimeInProportionToItsSize(Case each) throws Exception {
    ObjectNode quarter = each.filling().apply(each.most() / 4);
    ObjectNode whole = each.filling().apply(each.most());
    handle(quarter); // classes are loaded
    long less = fastest(quarter);
    long more = fastest(whole);
    System.out.printf(
        "time by size: %s: %.1f and %.1f ms of processor time%n", each, less / 1e6, more / 1e6);
    assertThat(more)
        .as("nanoseconds for four times the size of what took %d", less)
        .isLessThanOrEqualTo(Math.max(SMALL_NANOS, (long) (MOST_GROWTH * less)));
  }

  private long fastest(ObjectNode object) throws Exception {
    long fastest = Long.MAX_VALUE;
    for (int i = 0; i < ROUNDS; i++) {
      long before = THREADS.getCurrentThreadCpuTime();
      handle(object);
      fastest = Math.min(fastest, THREADS.getCurrentThreadCpuTime() - before);
    }
    return fastest;
  }

  /** All that is done with an object that somebody writes. */
  private void handle(ObjectNode object) throws Exception {
    String kind = object.path("kind").asText();
    byte[] text = HostileSamples.text(object).getBytes(StandardCharsets.UTF_8);
    Class<? extends HasMetadata> type = HostileWorld.TYPES.get(kind);
    boolean stored = world.parse(kind, text, object, faults);
    if (!stored && type == null) {
      world.workload(text);
    } else if (type != null) {
      String json = new String(text, StandardCharsets.UTF_8);
      world.take(Objects.requireNonNull(serialization.unmarshal(json, type)));
    }
    for (Optional<JobIntegration> integration : List.of(integration(kind))) {
      integration.ifPresent(it -> startAndStop(it, object));
    }
    for (WebhookKind reviewed : WebhookKind.all()) {
      if (reviewed.kind().equals(kind)) {
        judge(reviewed.validatingPath(), review("CREATE", object, NODES.nullNode()));
        judge(reviewed.validatingPath(), review("UPDATE", object, sample(kind)));
        judge(reviewed.validatingPath(), review("UPDATE", object, object));
        if (!reviewed.mutating().isEmpty()) {
          judge(reviewed.mutatingPath(), review("CREATE", object, NODES.nullNode()));
        }
      }
    }
    if (kind.equals("Workload") || kind.equals("ClusterQueue")) {
      String path = "-kueue-x-k8s-io-v1beta2-" + kind.toLowerCase(Locale.ROOT);
      judge("/mutate" + path, review("CREATE", object, NODES.nullNode()));
      judge("/validate" + path, review("CREATE", object, NODES.nullNode()));
      judge("/validate" + path, review("UPDATE", object, sample(kind)));
      judge("/validate" + path, review("UPDATE", object, object));
      convert(object);
    }
  }

  private static Optional<JobIntegration> integration(String kind) {
    return Stream.concat(
            BuiltInIntegrations.descriptions().stream()
                .filter(JobIntegration.class::isInstance)
                .map(JobIntegration.class::cast),
            Stream.of(new Workflow(InstantSource.system())))
        .filter(it -> it.kind().kind().equals(kind))
        .filter(it -> sample(kind).path("apiVersion").asText().equals(it.kind().apiVersion()))
        .findFirst();
  }

  private static void startAndStop(JobIntegration integration, ObjectNode object) {
    List<PodSetTemplate> podSets =
        integration.podSets(object).stream().limit(PodSetTemplate.MOST).toList();
    List<PodSetInfo> infos =
        podSets.stream()
            .map(
                it ->
                    new PodSetInfo(
                        it.name(),
                        it.count(),
                        Map.of("a", "b"),
                        Map.of(),
                        Map.of("zone", "y"),
                        List.of(NODES.objectNode().put("key", "spot")),
                        List.of("gate")))
            .toList();
    try {
      assertThat(integration.start(object, infos)).isNotNull();
    } catch (StartConflictException contradicts) {
      assertThat(contradicts).hasMessageNotContaining("\n");
    }
    integration.nextStopStep(object, Optional.of(podSets));
  }

  private void judge(String path, byte[] review) {
    WebhookRouter.Reply reply = router.answer(path, new ByteArrayInputStream(review));
    assertThat(reply.status()).isIn(200, 400);
    if (!new String(reply.body(), StandardCharsets.UTF_8).contains("\"patch\"")) {
      assertThat(reply.body()).hasSizeLessThan(200_000);
    }
  }

  private void convert(ObjectNode object) throws Exception {
    ObjectNode review = NODES.objectNode();
    review.put("apiVersion", "apiextensions.k8s.io/v1").put("kind", "ConversionReview");
    ObjectNode request = review.putObject("request").put("uid", "u");
    request.put("desiredAPIVersion", "kueue.x-k8s.io/v1beta1").putArray("objects").add(object);
    byte[] text = HostileSamples.text(review).getBytes(StandardCharsets.UTF_8);
    conversions
        .read(() -> new ByteArrayInputStream(text))
        .writeAnswer(OutputStream.nullOutputStream());
  }

  private static byte[] review(String operation, JsonNode now, JsonNode before) {
    ObjectNode review = NODES.objectNode().put("kind", "AdmissionReview");
    ObjectNode request = review.putObject("request");
    request.put("uid", "u").put("operation", operation).put("namespace", "team").put("name", "a");
    request.putObject("userInfo").put("username", "mallory");
    request.set("object", now);
    request.set("oldObject", before);
    return HostileSamples.text(review).getBytes(StandardCharsets.UTF_8);
  }
}
