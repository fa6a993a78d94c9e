package dev.sluice.jobs.importer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.jobs.importer.ClusterImport.ImportPlanner;
import dev.sluice.jobs.importer.ImportQueues.ImportDecision;
import dev.sluice.jobs.importer.ImportRules.ImportRule;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.ObjectKey;
import dev.sluice.jobs.kinds.batch.BatchJob;
import dev.sluice.jobs.kinds.pod.SinglePod;
import dev.sluice.jobs.policy.WorkloadFactory.PriorityLookup;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Decisions about objects that run without a queue, and the rules of the command line. */
class ImportPlannerTest {

  private static final Instant NOW = Instant.parse("2026-11-23T01:02:03.456Z");
  private static final PriorityLookup CLASSES =
      new PriorityLookup() {
        @Override
        public OptionalInt workloadPriorityClass(String name) {
          return name.equals("gold") ? OptionalInt.of(7) : OptionalInt.empty();
        }

        @Override
        public OptionalInt priorityClass(String name) {
          return OptionalInt.empty();
        }

        @Override
        public Optional<Named> globalDefault() {
          return Optional.empty();
        }
      };

  private static final String POD =
      """
      {metadata: {name: p, namespace: ns, uid: u1, resourceVersion: "5", labels: {team: a}%s},
       spec: {nodeName: n%s, containers: [
         {name: c, image: i, resources: {requests: {cpu: 1500m, memory: 1Gi}}}]},
       status: {phase: %s}}
      """;

  @Test
  void aRunningPodGetsAWorkloadThatHoldsQuota() throws Exception {
    ImportDecision decision = decide(new SinglePod(), pod("", "", "Running"), Map.of("pool", "b"));

    assertThat(decision).isInstanceOf(ImportDecision.Take.class);
    ImportDecision.Take take = (ImportDecision.Take) decision;
    assertThat(take.clusterQueue()).isEqualTo("cq");
    assertThat(take.amounts())
        .as("of the flavor whose labels the node has")
        .containsOnly(Map.entry("flavor-b/cpu", 1500L), Map.entry("flavor-b/memory", 1L << 30));
    assertThat(take.workload().at("/spec/queueName").asText()).isEqualTo("lq");
    assertThat(take.workload().at("/metadata/labels/import").asText()).isEqualTo("yes");
    assertThat(take.workload().at("/metadata/ownerReferences/0/uid").asText()).isEqualTo("u1");
    assertThat(take.status())
        .isEqualTo(
            yaml(
                """
                admission:
                  clusterQueue: cq
                  podSetAssignments:
                  - name: main
                    count: 1
                    flavors: {cpu: flavor-b, memory: flavor-b}
                    resourceUsage: {cpu: 1500m, memory: 1Gi}
                conditions:
                - {type: QuotaReserved, status: "True", reason: Imported,
                   message: Imported into ClusterQueue cq, observedGeneration: 1,
                   lastTransitionTime: "2026-11-23T01:02:03Z"}
                - {type: Admitted, status: "True", reason: Imported,
                   message: Imported into ClusterQueue cq, observedGeneration: 1,
                   lastTransitionTime: "2026-11-23T01:02:03Z"}
                """));
    assertThat(take.patch())
        .isEqualTo(
            yaml(
                """
                metadata:
                  resourceVersion: "5"
                  labels: {kueue.x-k8s.io/queue-name: lq, import: "yes",
                    kueue.x-k8s.io/managed: "true"}
                  finalizers: [kueue.x-k8s.io/managed]
                """));
  }

  @Test
  void aRunningJobHoldsQuotaForAllItsPods() throws Exception {
    JsonNode job =
        yaml(
            """
            metadata: {name: j, namespace: ns, uid: u2, resourceVersion: "6",
              labels: {team: a, kueue.x-k8s.io/priority-class: gold}}
            spec:
              parallelism: 3
              template:
                spec:
                  nodeSelector: {pool: a}
                  containers: [{name: c, image: i, resources: {requests: {cpu: "2"}}}]
            """);

    ImportDecision decision =
        planner("a=lq").decide(new BatchJob(), job, Set.of(), Optional.empty(), NOW);

    assertThat(decision).isInstanceOf(ImportDecision.Take.class);
    ImportDecision.Take take = (ImportDecision.Take) decision;
    assertThat(take.amounts()).containsOnly(Map.entry("flavor-a/cpu", 6000L));
    assertThat(take.workload().at("/spec/priority").asInt()).isEqualTo(7);
    assertThat(take.patch().at("/metadata").has("finalizers")).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "Succeeded | | | it has ended",
        "Running | , deletionTimestamp: '2026-01-01T00:00:00Z' | | it is being deleted",
        "Running | , ownerReferences: [{controller: true, apiVersion: batch/v1, kind: Job, name: j,"
            + " uid: x}] | | it belongs to Job j",
        "Pending | | , schedulingGates: [{name: kueue.x-k8s.io/admission}] | it doesn't run; the"
            + " operator queues it if it names a queue"
      })
  void whatIsInOrderIsLeftAlone(String phase, String metadata, String spec, String reason)
      throws Exception {
    assertThat(
            decide(
                new SinglePod(),
                pod(
                    Optional.ofNullable(metadata).orElse(""),
                    Optional.ofNullable(spec).orElse(""),
                    phase),
                Map.of("pool", "a")))
        .isEqualTo(new ImportDecision.Leave(reason));
  }

  @Test
  void whoHasAWorkloadIsLeftAlone() throws Exception {
    assertThat(
            planner("a=lq")
                .decide(
                    new SinglePod(), pod("", "", "Running"), Set.of("u1"), Optional.empty(), NOW))
        .isEqualTo(new ImportDecision.Leave("it has a Workload"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "b=lq | a | no rule names a queue for it",
        "a=none | a | LocalQueue none does not exist",
        "a=lost | a | ClusterQueue gone does not exist",
        "a=small | a | ClusterQueue small has no quota for memory",
        "a=lq | c | no ResourceFlavor of ClusterQueue cq for cpu exists and has the labels of its"
            + " node"
      })
  void aFaultIsToldByItsObject(String mapping, String pool, String fault) throws Exception {
    assertThat(
            planner(mapping)
                .decide(
                    new SinglePod(),
                    pod("", "", "Running"),
                    Set.of(),
                    Optional.of(Map.of("pool", pool)),
                    NOW))
        .isEqualTo(new ImportDecision.Fault(fault));
  }

  @Test
  void aClassThatIsMissingIsAFault() throws Exception {
    assertThat(
            decide(
                new SinglePod(),
                yaml(POD.formatted("", ", priorityClassName: none", "Running")),
                Map.of("pool", "a")))
        .isEqualTo(new ImportDecision.Fault("PriorityClass none does not exist"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "[{toLocalQueue: q, skip: true}] | [0]: either toLocalQueue or skip: true is needed",
        "[{match: {labels: {a: b}}}] | [0]: either toLocalQueue or skip: true is needed",
        "a: q | is a map, so --queuelabel has to name its label",
        "just text | is neither a list of rules nor a map"
      })
  void rulesThatCannotBeMeantAreRefused(String yaml, String message) {
    assertThatThrownBy(() -> ImportRules.parse(yaml, ""))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(message);
  }

  @Test
  void theFirstRuleThatMatchesCounts() {
    ImportRules rules =
        ImportRules.parse(
            """
            - {match: {labels: {team: a}, priorityClassName: low}, skip: true}
            - {match: {labels: {team: a}}, toLocalQueue: q}
            """,
            "");
    assertThat(rules.of(Map.of("team", "a"), "low")).map(ImportRule::skip).contains(true);
    assertThat(rules.of(Map.of("team", "a"), "")).map(ImportRule::localQueue).contains("q");
    assertThat(rules.of(Map.of("team", "b"), "low")).isEmpty();
    assertThat(ImportRules.parse("{a: q}", "team").of(Map.of("team", "a"), ""))
        .map(ImportRule::localQueue)
        .contains("q");
  }

  private static ImportDecision decide(
      JobIntegration kind, JsonNode object, Map<String, String> node)
      throws JsonProcessingException {
    return planner("a=lq").decide(kind, object, Set.of(), Optional.of(node), NOW);
  }

  private static ImportPlanner planner(String mapping) throws JsonProcessingException {
    String[] parts = mapping.split("=", 2);
    String queue =
        """
        spec: {resourceGroups: [{coveredResources: [cpu%s],
          flavors: [{name: flavor-missing}, {name: flavor-a}, {name: flavor-b}]}]}
        """;
    return new ImportPlanner(
        ImportRules.ofLabel("team", Map.of(parts[0], parts[1])),
        new ImportQueues(
            Map.of(
                new ObjectKey("ns", "lq"), "cq",
                new ObjectKey("ns", "small"), "small",
                new ObjectKey("ns", "lost"), "gone"),
            Map.of(
                "cq", yaml(queue.formatted(", memory")),
                "small", yaml(queue.formatted(""))),
            Map.of(
                "flavor-a", yaml("spec: {nodeLabels: {pool: a}}"),
                "flavor-b", yaml("spec: {nodeLabels: {pool: b}}"))),
        CLASSES,
        Map.of("import", "yes"),
        List.of());
  }

  private static JsonNode pod(String metadata, String spec, String phase)
      throws JsonProcessingException {
    return yaml(POD.formatted(metadata, spec, phase));
  }

  private static JsonNode yaml(String text) throws JsonProcessingException {
    return JsonMappers.YAML.readTree(text);
  }
}
