package dev.sluice.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.lab.controlplane.binaries.Program;
import dev.sluice.lab.player.PlayedDefinitions;
import dev.sluice.testing.AdditionalControlPlane;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * What the validation rules of the Workload's definition cost the API server: its processor time
 * for a write of a status, with all rules, without any, and without each that is asked about in
 * such a write. Quota is reserved and given back in turn. The definitions are compared in rounds,
 * one after the other, so that other work on the machine is spread over all of them.
 */
public final class ValidationRulesTable implements AutoCloseable {

  private static final Path DEFINITION = Path.of("crds", "kueue.x-k8s.io_workloads.yaml");
  private static final String RULES = "x-kubernetes-validations";
  private static final String NAMESPACE = "default";
  private static final int WORKLOADS = 16;
  private static final String RESERVED =
      """
      {"status": {
        "conditions": [
          {"type": "QuotaReserved", "status": "True", "reason": "QuotaReserved", "message": "",
           "lastTransitionTime": "2026-01-01T00:00:00Z"},
          {"type": "Admitted", "status": "True", "reason": "Admitted", "message": "",
           "lastTransitionTime": "2026-01-01T00:00:00Z"}],
        "admission": {"clusterQueue": "cq", "podSetAssignments": [
          {"name": "main", "count": 1, "flavors": {"cpu": "spot"}, "resourceUsage": {"cpu": "1"}}]}}}
      """;
  private static final String GIVEN_BACK =
      """
      {"status": {
        "conditions": [
          {"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": "",
           "lastTransitionTime": "2026-01-01T00:00:00Z"}],
        "admission": null}}
      """;

  private final AdditionalControlPlane cluster =
      AdditionalControlPlane.startWithoutControllers("rules");
  private final KubernetesClient client = cluster.client();
  private final ObjectNode definition;

  private ValidationRulesTable() throws IOException {
    definition = read(DEFINITION);
  }

  /** Without conversion, which would ask an operator. */
  private static ObjectNode read(Path file) throws IOException {
    ObjectNode read = (ObjectNode) new YAMLMapper().readTree(file.toFile());
    read.withObject("/spec").remove("conversion");
    return read;
  }

  /** A form of the definition, and the processor time of a write in each round. */
  private record Form(String name, ObjectNode definition, List<Double> millis) {}

  /**
   * Prints a line for each form of the definition.
   *
   * @param args {@code ROUNDS WRITES [FILE]}: how often each form is measured, writes for that, and
   *     an earlier definition that is measured beside
   * @throws Exception when anything fails
   */
  public static void main(String[] args) throws Exception {
    try (ValidationRulesTable table = new ValidationRulesTable()) {
      List<Form> forms = new ArrayList<>(table.forms());
      if (args.length > 2) {
        forms.add(new Form("the earlier one", read(Path.of(args[2])), new ArrayList<>()));
      }
      table.print(forms, Integer.parseInt(args[0]), Integer.parseInt(args[1]));
    }
  }

  private void print(List<Form> forms, int rounds, int writes) throws Exception {
    apply(definition);
    IntStream.range(0, WORKLOADS).forEach(this::create);
    write(writes);
    for (int round = 0; round < rounds; round++) {
      for (Form form : forms) {
        apply(form.definition());
        write(writes / 10);
        double before = cpuMillis();
        write(writes);
        form.millis().add((cpuMillis() - before) / writes);
      }
    }
    double all = median(forms.getFirst().millis());
    System.out.println(
        "| definition | ms per write, median of rounds | least | beside all rules |");
    System.out.println("|---|---:|---:|---:|");
    for (Form form : forms) {
      double median = median(form.millis());
      System.out.printf(
          Locale.ROOT,
          "| %s | %.3f | %.3f | %.3f |%n",
          form.name(),
          median,
          form.millis().stream().mapToDouble(Double::doubleValue).min().orElseThrow(),
          median / all);
    }
  }

  private static double median(List<Double> values) {
    double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    return sorted[sorted.length / 2];
  }

  private List<Form> forms() {
    Map<String, ObjectNode> forms = new LinkedHashMap<>();
    forms.put("all rules", definition);
    forms.put("none", without(path -> true));
    forms.put("without those of spec", without(path -> path.startsWith("/spec")));
    forms.put("without those below status", without(path -> path.startsWith("/status/")));
    for (String owner : List.of("/status", "")) {
      int rules = rulesOf(definition, owner);
      for (int number = 0; number < rules; number++) {
        String rule = owner + "#" + number;
        forms.put(
            "without rule %d of %s"
                .formatted(number + 1, owner.isEmpty() ? "the object" : "status"),
            without(rule::equals));
      }
    }
    List<Form> list = new ArrayList<>();
    forms.forEach((name, form) -> list.add(new Form(name, form, new ArrayList<>())));
    return list;
  }

  private static int rulesOf(ObjectNode definition, String owner) {
    JsonNode schema = schemas(definition).getFirst();
    for (String name : Arrays.stream(owner.split("/")).filter(part -> !part.isEmpty()).toList()) {
      schema = schema.path("properties").path(name);
    }
    return schema.path(RULES).size();
  }

  private static List<ObjectNode> schemas(ObjectNode definition) {
    List<ObjectNode> schemas = new ArrayList<>();
    for (JsonNode version : definition.at("/spec/versions")) {
      schemas.add((ObjectNode) version.at("/schema/openAPIV3Schema"));
    }
    return schemas;
  }

  /** A copy without rules whose place, {@code /path/of/the/field#number}, is chosen. */
  private ObjectNode without(Predicate<String> chosen) {
    ObjectNode copy = definition.deepCopy();
    schemas(copy).forEach(schema -> remove(schema, "", chosen));
    return copy;
  }

  private static void remove(JsonNode schema, String path, Predicate<String> chosen) {
    if (schema.get(RULES) instanceof ArrayNode rules) {
      for (int number = rules.size() - 1; number >= 0; number--) {
        if (chosen.test(path + "#" + number)) {
          rules.remove(number);
        }
      }
    }
    schema
        .path("properties")
        .properties()
        .forEach(field -> remove(field.getValue(), path + "/" + field.getKey(), chosen));
    for (String inner : List.of("items", "additionalProperties")) {
      if (schema.get(inner) instanceof ObjectNode object) {
        remove(object, path + "/*", chosen);
      }
    }
  }

  private void apply(ObjectNode form) throws InterruptedException {
    CustomResourceDefinition applied =
        client
            .resource(
                client
                    .getKubernetesSerialization()
                    .unmarshal(form.toString(), CustomResourceDefinition.class))
            .forceConflicts()
            .serverSideApply();
    client
        .resource(applied)
        .waitUntilCondition(PlayedDefinitions::isEstablished, 1, TimeUnit.MINUTES);
    // The server takes a moment to serve what it has accepted; nothing in its API tells when.
    TimeUnit.SECONDS.sleep(2);
  }

  private void create(int number) {
    client
        .resource(
            """
            apiVersion: kueue.x-k8s.io/v1beta2
            kind: Workload
            metadata: {name: w%d, namespace: %s}
            spec:
              queueName: lq
              priority: 0
              podSets:
              - name: main
                count: 1
                template:
                  spec:
                    restartPolicy: Never
                    containers:
                    - name: c
                      image: none
                      resources: {requests: {cpu: "1"}}
            """
                .formatted(number, NAMESPACE))
        .create();
  }

  /** Writes states in turn, each Workload its own ones one after the other. */
  private void write(int writes) {
    IntStream.range(0, WORKLOADS)
        .parallel()
        .forEach(
            number -> {
              for (int i = 0; i < writes / WORKLOADS; i++) {
                patch(number, i % 2 == 0 ? RESERVED : GIVEN_BACK);
              }
            });
  }

  private void patch(int number, String body) {
    GenericKubernetesResource written =
        client
            .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "Workload")
            .inNamespace(NAMESPACE)
            .withName("w" + number)
            .subresource("status")
            .patch(PatchContext.of(PatchType.JSON_MERGE), body);
    if (written == null) {
      throw new IllegalStateException("w" + number + " is gone");
    }
  }

  private double cpuMillis() {
    return cluster.controlPlane().process(Program.API_SERVER).cpuTime().toNanos() / 1e6;
  }

  @Override
  public void close() {
    cluster.close();
  }
}
