package dev.sluice.api.crd;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.CustomResourceDefinitionContext;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/**
 * Measures what the schema of the pod template in a Workload costs the API server per write. Part
 * of no test run; {@code docs/decisions/0001-workload-schema.md} says how to run it and what came
 * out.
 */
@ControlPlaneTest(exclusive = true)
class WorkloadSchemaCost {

  private static final int ROUNDS = Integer.getInteger("sluice.rounds", 7);
  private static final int WRITES = Integer.getInteger("sluice.writes", 500);
  private static final int WRITERS = 4;
  private static final Pattern CPU =
      Pattern.compile("^process_cpu_seconds_total (\\S+)$", Pattern.MULTILINE);
  private static final ObjectMapper JSON = new ObjectMapper();

  private final YAMLMapper yaml = new YAMLMapper();
  private final PrintStream out = System.out;

  /** A definition under measurement, with the API server's CPU milliseconds per write, by round. */
  private record Variant(String name, String group, List<Double> creates, List<Double> patches) {

    Variant(String name) {
      this(name, name + ".sluice.dev", new ArrayList<>(), new ArrayList<>());
    }

    String apiVersion() {
      return group + "/v1beta2";
    }
  }

  @Test
  void costOfWrites(TestCluster cluster) throws Exception {
    KubernetesClient client = cluster.client();
    List<Variant> variants = List.of(new Variant("thin"), new Variant("full"));
    JsonNode full = new PodTemplateSchemas(JSON.readTree(client.raw("/openapi/v3/api/v1"))).full();
    for (Variant variant : variants) {
      define(client, variant, variant.name().equals("full") ? full : null);
    }
    for (int round = 0; round < ROUNDS; round++) {
      for (Variant variant : round % 2 == 0 ? variants : variants.reversed()) {
        measure(client, cluster.namespace(), variant, round);
      }
    }
    out.printf("%d rounds, the first not counted, of %d writes each%n", ROUNDS, WRITES);
    for (Variant variant : variants) {
      report(variant, "create", variant.creates());
      report(variant, "status patch", variant.patches());
    }
    assertThat(variants).allSatisfy(variant -> assertThat(variant.patches()).hasSize(ROUNDS - 1));
  }

  private void report(Variant variant, String write, List<Double> costs) {
    List<Double> sorted = costs.stream().sorted().toList();
    out.printf(
        Locale.ROOT,
        "%s %-12s mean %.2f, median %.2f, range %.2f to %.2f CPU-ms%n",
        variant.name(),
        write,
        sorted.stream().mapToDouble(Double::doubleValue).average().orElseThrow(),
        sorted.get(sorted.size() / 2),
        sorted.getFirst(),
        sorted.getLast());
  }

  private void measure(KubernetesClient client, String namespace, Variant variant, int round)
      throws Exception {
    var workloads = client.genericKubernetesResources(context(variant)).inNamespace(namespace);
    String path = "/apis/%s/namespaces/%s/workloads".formatted(variant.apiVersion(), namespace);
    double create =
        perWrite(
            client,
            number -> client.raw(path, "POST", workload(variant, name(round, number)).toString()));
    double patch =
        perWrite(
            client,
            number ->
                workloads
                    .withName(name(round, number))
                    .subresource("status")
                    .patch(PatchContext.of(PatchType.JSON_MERGE), admission()));
    if (round > 0) {
      variant.creates().add(create);
      variant.patches().add(patch);
    }
    out.printf(
        Locale.ROOT,
        "round %d %s: create %.2f, patch %.2f%n",
        round,
        variant.name(),
        create,
        patch);
    for (int number = 0; number < WRITES; number++) {
      workloads.withName(name(round, number)).delete();
    }
  }

  private static double perWrite(KubernetesClient client, IntConsumer write) throws Exception {
    double before = cpuMillis(client);
    try (ExecutorService writers = Executors.newFixedThreadPool(WRITERS)) {
      List<Future<?>> writes = new ArrayList<>();
      for (int number = 0; number < WRITES; number++) {
        int current = number;
        writes.add(writers.submit(() -> write.accept(current)));
      }
      for (Future<?> done : writes) {
        await(done);
      }
    }
    return (cpuMillis(client) - before) / WRITES;
  }

  private static void await(Future<?> write) throws InterruptedException {
    try {
      write.get();
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    }
  }

  private static double cpuMillis(KubernetesClient client) {
    Matcher matcher = CPU.matcher(client.raw("/metrics"));
    if (!matcher.find()) {
      throw new IllegalStateException("the API server doesn't tell process_cpu_seconds_total");
    }
    return Double.parseDouble(matcher.group(1)) * 1000;
  }

  private void define(
      KubernetesClient client,
      Variant variant,
      @org.jspecify.annotations.Nullable JsonNode template)
      throws IOException {
    ObjectNode crd =
        (ObjectNode) yaml.readTree(new CrdFiles().all().get("kueue.x-k8s.io_workloads.yaml"));
    ObjectNode spec = (ObjectNode) crd.get("spec");
    crd.withObject("/metadata").put("name", "workloads." + variant.group());
    spec.put("group", variant.group());
    spec.putObject("conversion").put("strategy", "None");
    ArrayNode versions = spec.arrayNode();
    for (JsonNode version : spec.path("versions")) {
      if (version.path("name").asText().equals("v1beta2")) {
        versions.add(version);
        if (template != null) {
          ((ObjectNode)
                  version.at(
                      "/schema/openAPIV3Schema/properties/spec/properties/podSets/items/properties"))
              .set("template", template);
        }
      }
    }
    spec.set("versions", versions);
    out.printf("%s: definition of %d KiB%n", variant.name(), crd.toString().length() / 1024);
    client.raw("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "POST", crd.toString());
    Awaitility.await(variant.name())
        .atMost(Duration.ofMinutes(5))
        .ignoreExceptions()
        .until(() -> client.raw("/apis/" + variant.apiVersion() + "/workloads") != null);
  }

  private static CustomResourceDefinitionContext context(Variant variant) {
    return new CustomResourceDefinitionContext.Builder()
        .withGroup(variant.group())
        .withVersion("v1beta2")
        .withKind("Workload")
        .withPlural("workloads")
        .withScope("Namespaced")
        .build();
  }

  private static String name(int round, int number) {
    return "w-%d-%d".formatted(round, number);
  }

  private JsonNode workload(Variant variant, String name) {
    return read(
        """
        apiVersion: %s
        kind: Workload
        metadata:
          name: %s
          labels: {kueue.x-k8s.io/job-uid: 4b5b3c2e-0000-4000-8000-000000000001}
          finalizers: []
        spec:
          active: true
          queueName: team
          priority: 0
          podSets:
          - name: main
            count: 3
            template:
              metadata: {labels: {app: sample, team: a}}
              spec:
                restartPolicy: Never
                serviceAccountName: default
                terminationGracePeriodSeconds: 30
                dnsPolicy: ClusterFirst
                schedulerName: default-scheduler
                nodeSelector: {zone: a}
                tolerations: [{key: spot, operator: Exists, effect: NoSchedule}]
                securityContext: {runAsNonRoot: true, runAsUser: 1000}
                volumes: [{name: scratch, emptyDir: {}}]
                containers:
                - name: main
                  image: registry.example.com/train:1.0
                  command: [python, train.py]
                  args: [--epochs, "10"]
                  env: [{name: A, value: b}, {name: C, value: d}, {name: E, value: f}]
                  resources: {requests: {cpu: "1", memory: 200Mi}, limits: {memory: 400Mi}}
                  volumeMounts: [{name: scratch, mountPath: /scratch}]
                  imagePullPolicy: IfNotPresent
                  terminationMessagePath: /dev/termination-log
                  terminationMessagePolicy: File
        """
            .formatted(variant.apiVersion(), name));
  }

  private String admission() {
    return read("""
    status:
      admission:
        clusterQueue: pool
        podSetAssignments:
        - {name: main, count: 3, flavors: {cpu: spot, memory: spot}, resourceUsage: {cpu: "3", memory: 600Mi}}
      conditions:
      - {type: QuotaReserved, status: "True", reason: QuotaReserved, message: quota reserved in pool, observedGeneration: 1, lastTransitionTime: "2026-01-01T00:00:00Z"}
      - {type: Admitted, status: "True", reason: Admitted, message: the workload is admitted, observedGeneration: 1, lastTransitionTime: "2026-01-01T00:00:00Z"}
    """)
        .toString();
  }

  private JsonNode read(String text) {
    try {
      return yaml.readTree(text);
    } catch (IOException e) {
      throw new IllegalStateException(text, e);
    }
  }
}
