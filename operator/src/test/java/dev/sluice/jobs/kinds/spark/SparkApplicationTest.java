package dev.sluice.jobs.kinds.spark;

import static dev.sluice.jobs.GivenObject.podSets;
import static dev.sluice.jobs.GivenObject.started;
import static dev.sluice.jobs.GivenObject.status;
import static dev.sluice.jobs.GivenObject.stopped;
import static dev.sluice.jobs.GivenObject.with;
import static dev.sluice.jobs.GivenObject.yaml;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.kind.InvalidField;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.jobs.kind.ReviewedPodSet;
import dev.sluice.jobs.kind.StartConflictException;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** SparkApplications as their integration sees them. */
class SparkApplicationTest {

  private static final SparkApplication KIND = new SparkApplication();
  private static final ObjectNode JOB =
      yaml(
          """
          metadata: {name: pi, namespace: team, uid: u}
          spec:
            suspend: true
            mode: cluster
            image: spark
            volumes: [{name: scratch, emptyDir: {}}]
            driver:
              cores: 2
              coreLimit: 1200m
              memory: 512m
              memoryLimit: 1g
              labels: {role: lead}
              tolerations: [{key: old, operator: Exists}]
              priorityClassName: high
              volumeMounts: [{name: scratch, mountPath: /tmp}]
              initContainers: [{name: fetch, image: f}]
              sidecars: [{name: logs, image: s, resources: {requests: {cpu: 100m}}}]
            executor:
              instances: 3
              coreRequest: 500m
              memory: 2G
              gpu: {name: nvidia.com/gpu, quantity: 1}
              annotations: {a: b}
              nodeSelector: {disk: fast}
          """);

  private static JsonNode template(ObjectNode job, int podSet) {
    return KIND.podSets(job).get(podSet).template();
  }

  @Test
  void aDriverAndItsExecutors() {
    assertThat(KIND.kind().apiVersion()).isEqualTo("sparkoperator.k8s.io/v1beta2");
    assertThat(KIND.kind().framework()).isEqualTo("sparkoperator.k8s.io/sparkapplication");
    assertThat(KIND.multiKueue()).isEmpty();
    assertThat(podSets(KIND, JOB)).containsExactly("driver=1", "executor=3");
    assertThat(podSets(KIND, with(JOB, "{spec: {executor: {instances: 0}}}")))
        .containsExactly("driver=1", "executor=0");
  }

  /** Spark starts two where nothing says a number, and none where no number is said. */
  @Test
  void executorsThatNothingSaysANumberOfAreThoseOfSpark() {
    assertThat(podSets(KIND, with(JOB, "{spec: {executor: {instances: null}}}")))
        .containsExactly("driver=1", "executor=2");
    assertThat(podSets(KIND, yaml("{metadata: {name: a}}")))
        .containsExactly("driver=1", "executor=2");
    assertThat(
            podSets(
                KIND,
                with(
                    JOB,
                    "{spec: {executor: {instances: null},"
                        + " sparkConf: {spark.executor.instances: many}}}")))
        .containsExactly("driver=1", "executor=0");
  }

  @Test
  void aTemplateIsComposedOfWhatIsSaidOfTheRole() {
    assertThat(template(JOB, 0))
        .isEqualTo(
            yaml(
                """
                metadata: {labels: {role: lead}}
                spec:
                  containers:
                  - name: spark-kubernetes-driver
                    image: spark
                    volumeMounts: [{name: scratch, mountPath: /tmp}]
                    resources:
                      requests: {cpu: "2", memory: 896Mi}
                      limits: {cpu: 1200m, memory: 1Gi}
                  - {name: logs, image: s, resources: {requests: {cpu: 100m}}}
                  initContainers: [{name: fetch, image: f}]
                  volumes: [{name: scratch, emptyDir: {}}]
                  tolerations: [{key: old, operator: Exists}]
                  priorityClassName: high
                """));
    assertThat(template(JOB, 1))
        .isEqualTo(
            yaml(
                """
                metadata: {annotations: {a: b}}
                spec:
                  containers:
                  - name: spark-kubernetes-executor
                    image: spark
                    resources:
                      requests: {cpu: 500m, memory: 2432Mi}
                      limits: {nvidia.com/gpu: "1"}
                  volumes: [{name: scratch, emptyDir: {}}]
                  nodeSelector: {disk: fast}
                """));
  }

  @Test
  void amountsGoToTheContainerOfATemplateThatSparkRunsIn() {
    String templates =
        """
        spec:
          executor:
            coreRequest: null
            template:
              metadata: {labels: {from: template}}
              spec:
                containers:
                - {name: other, image: o}
                - {name: executor, resources: {requests: {cpu: "7"}}}
          driver: {coreLimit: null, template: {spec: {containers: [{name: first}, {name: second}]}}}
        """;
    JsonNode executor = template(with(JOB, templates), 1);
    JsonNode driver = template(with(JOB, templates), 0);

    assertThat(executor.at("/metadata/labels/from").asText()).isEqualTo("template");
    assertThat(executor.at("/spec/containers/0")).isEqualTo(yaml("{name: other, image: o}"));
    assertThat(executor.at("/spec/containers/1/resources/requests"))
        .isEqualTo(yaml("{cpu: '7', memory: 2432Mi}"));
    assertThat(driver.at("/spec/containers/0/resources/requests/cpu").asText()).isEqualTo("2");
    assertThat(driver.at("/spec/containers/1")).isEqualTo(yaml("{name: second}"));
  }

  /** Changes of 0.20, section 1: cores are cpu. */
  @Test
  void aPodWithoutANumberOfCoresHasOneAsSparkGivesIt() {
    assertThat(template(with(JOB, "{spec: {driver: {cores: null}}}"), 0).findValue("requests"))
        .isEqualTo(yaml("{cpu: '1', memory: 896Mi}"));
  }

  /** Changes of 0.20, section 1. */
  @ParameterizedTest
  @CsvSource({
    "512m, 896Mi",
    "1g, 1408Mi",
    "2GB, 2432Mi",
    "7k, 385Mi",
    "3t, 3460301Mi",
    "100b, 385Mi",
    "900, 1284Mi",
    "8g, 9012Mi"
  })
  void memoryIsThatOfJavaWithItsOverhead(String memory, String quantity) {
    ObjectNode job = with(JOB, "{spec: {driver: {memory: '%s'}}}".formatted(memory));
    assertThat(requests(job, 0).path("memory").asText()).isEqualTo(quantity);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {executor: {memory: null}}                                              | 1408Mi
          {executor: {memory: null}, sparkConf: {spark.executor.memory: 4g}}      | 4506Mi
          {sparkConf: {spark.executor.memory: 4g}}                                | 2432Mi
          {executor: {memoryOverhead: 1g}}                                        | 3072Mi
          {sparkConf: {spark.executor.memoryOverhead: 3g}}                        | 5120Mi
          {sparkConf: {spark.executor.minMemoryOverhead: 1g}}                     | 3072Mi
          {memoryOverheadFactor: '0.5'}                                           | 3072Mi
          {sparkConf: {spark.kubernetes.memoryOverheadFactor: '0.5'}}             | 3072Mi
          {memoryOverheadFactor: '0.5', sparkConf: {spark.executor.memoryOverheadFactor: '1'}} | 4096Mi
          {type: Python}                                                          | 2868Mi
          {sparkConf: {spark.executor.pyspark.memory: 1g}}                        | 3456Mi
          {sparkConf: {spark.memory.offHeap.enabled: 'true', spark.memory.offHeap.size: '1073741824'}} | 3456Mi
          {sparkConf: {spark.memory.offHeap.size: 1g}}                            | 2432Mi
          """)
  void anExecutorRequestsWhatSparkAddsToItsMemory(String spec, String quantity) {
    ObjectNode job = with(JOB, "{spec: " + spec + "}");
    assertThat(requests(job, 1).path("memory").asText()).isEqualTo(quantity);
    assertThat(KIND.validate(job, false)).isEmpty();
  }

  @Test
  void propertiesOfSparkCountWhereTheFieldIsAbsent() {
    String conf =
        """
        spec:
          executor: {instances: null, coreRequest: null}
          sparkConf:
            spark.executor.instances: "100"
            spark.executor.cores: "8"
            spark.kubernetes.driver.request.cores: "3"
            spark.kubernetes.executor.limit.cores: "9"
            spark.executor.resource.npu.amount: "2"
            spark.executor.resource.npu.vendor: example.com
        """;
    ObjectNode job = with(JOB, conf);
    assertThat(podSets(KIND, job)).containsExactly("driver=1", "executor=100");
    assertThat(requests(job, 0).path("cpu").asText()).isEqualTo("3");
    assertThat(requests(job, 1).path("cpu").asText()).isEqualTo("8");
    assertThat(template(job, 1).findValue("limits"))
        .isEqualTo(yaml("{cpu: '9', example.com/npu: '2', nvidia.com/gpu: '1'}"));

    ObjectNode both = with(job, "{spec: {executor: {instances: 3, cores: 1, coreRequest: 500m}}}");
    assertThat(podSets(KIND, both)).containsExactly("driver=1", "executor=3");
    assertThat(requests(both, 1).path("cpu").asText()).isEqualTo("500m");
  }

  private static JsonNode requests(ObjectNode job, int podSet) {
    return template(job, podSet).findValue("requests");
  }

  /** Changes of 0.20, section 1: memory in another form than Java's, too. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {driver: {memory: 512Mi}}                                 | spec.driver.memory
          {executor: {memoryOverhead: '0.5'}}                       | spec.executor.memoryOverhead
          {memoryOverheadFactor: much}                              | spec.memoryOverheadFactor
          {sparkConf: {spark.executor.memory: 1Gi}}                 | spec.sparkConf[spark.executor.memory]
          {sparkConf: {spark.executor.instances: many}}             | spec.sparkConf[spark.executor.instances]
          {sparkConf: {spark.driver.cores: few}}                    | spec.sparkConf[spark.driver.cores]
          {sparkConf: {spark.dynamicAllocation.enabled: 'TRUE'}}    | spec.sparkConf[spark.dynamicAllocation.enabled]
          {sparkConf: {spark.kubernetes.executor.podTemplateFile: f}} | spec.sparkConf[spark.kubernetes.executor.podTemplateFile]
          """)
  void whatCannotBeCountedIsRefusedAndHeld(String spec, String path) {
    ObjectNode job = with(JOB, "{spec: " + spec + "}");
    assertThat(KIND.validate(job, false)).extracting(InvalidField::path).containsExactly(path);
    assertThat(KIND.state(job).handling().hold())
        .get()
        .asString()
        .startsWith("What the job runs can't be counted: " + path);
    assertThat(KIND.podSets(job)).hasSize(2);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{spec: {driver: {template: {metadata: {labels: {a: b}}, spec: {schedulingGates: [{name:"
            + " g}]}}}}}",
        "{spec: {driver: {labels: null, tolerations: null}}}"
      })
  void aStartReachesBothRolesAndAStopTakesItBack(String change) throws StartConflictException {
    ObjectNode job = with(JOB, change);
    ObjectNode started = started(KIND, job);

    assertThat(started.at("/spec/suspend").asBoolean(true)).isFalse();
    for (String role : new String[] {"driver", "executor"}) {
      JsonNode given = started.at("/spec/" + role);
      assertThat(given.at("/labels/kueue.x-k8s.io~1podset").asText()).isEqualTo(role);
      assertThat(given.at("/annotations/kueue.x-k8s.io~1workload").asText()).isEqualTo("w");
      assertThat(given.at("/nodeSelector/pool").asText()).isEqualTo("of-" + role);
      assertThat(given.at("/tolerations").findValuesAsText("key")).contains("spot");
      assertThat(given.at("/template/spec/schedulingGates").findValuesAsText("name"))
          .contains("kueue.x-k8s.io/topology");
    }
    assertThat(started.at("/spec/executor/nodeSelector/disk").asText()).isEqualTo("fast");
    assertThat(stopped(KIND, started, Optional.of(KIND.podSets(job)))).isEqualTo(job);
    assertThat(
            stopped(KIND, started, Optional.empty())
                .at("/spec/driver/labels")
                .has("kueue.x-k8s.io/podset"))
        .isFalse();
  }

  @Test
  void aNodeSelectorOfTheWholeApplicationIsMovedIntoBothRoles() throws StartConflictException {
    ObjectNode job = with(JOB, "{spec: {nodeSelector: {zone: z}}}");
    ObjectNode started = started(KIND, job);
    ObjectNode stopped = stopped(KIND, started, Optional.of(KIND.podSets(job)));

    assertThat(started.path("spec").has("nodeSelector")).isFalse();
    assertThat(started.at("/spec/driver/nodeSelector"))
        .isEqualTo(yaml("{pool: of-driver, zone: z}"));
    assertThat(started.at("/spec/executor/nodeSelector"))
        .isEqualTo(yaml("{disk: fast, pool: of-executor, zone: z}"));
    assertThat(KIND.podSets(stopped).stream().map(PodSetTemplate::template))
        .isEqualTo(KIND.podSets(job).stream().map(PodSetTemplate::template).toList());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{spec: {executor: {nodeSelector: {pool: other}}}}",
        "{spec: {nodeSelector: {pool: other}}}",
        "{spec: {driver: {template: {spec: {nodeSelector: {pool: other}}}}}}"
      })
  void aRoleThatContradictsIsNotStarted(String change) {
    ObjectNode job = with(JOB, change);
    assertThatThrownBy(() -> started(KIND, job))
        .isInstanceOf(StartConflictException.class)
        .hasMessageContaining("nodeSelector[pool] is \"other\"");
  }

  private static JobState state(String status) {
    return KIND.state(status(with(JOB, "{spec: {suspend: false}}"), status));
  }

  @ParameterizedTest
  @CsvSource({
    "'', false",
    "SUBMITTED, true",
    "RUNNING, true",
    "SUCCEEDING, true",
    "FAILING, true",
    "INVALIDATING, true",
    "SUSPENDING, true",
    "UNKNOWN, true",
    "SUSPENDED, false",
    "PENDING_RERUN, false",
    "RESUMING, false",
    "COMPLETED, false",
    "FAILED, false",
    "SUBMISSION_FAILED, false"
  })
  void itHasPodsInTheseStates(String name, boolean active) {
    String status = "{applicationState: {state: '%s'}}".formatted(name);
    assertThat(state(status).active()).isEqualTo(active);
    assertThat(KIND.state(status(JOB, status)).settled()).isEqualTo(!active);
  }

  @Test
  void itIsReadyWithAllExecutors() {
    String status = "{applicationState: {state: %s}, executorState: {a: RUNNING, b: %s, c: %s}}";
    assertThat(state(status.formatted("RUNNING", "COMPLETED", "RUNNING")).podsReady()).isTrue();
    assertThat(state(status.formatted("RUNNING", "PENDING", "RUNNING")).podsReady()).isFalse();
    assertThat(state(status.formatted("SUBMITTED", "RUNNING", "RUNNING")).podsReady()).isFalse();
  }

  @Test
  void itEndsAsItsStateSays() {
    assertThat(state("{applicationState: {state: COMPLETED}}").end())
        .contains(new JobState.End(true, "SparkApplication finished successfully"));
    assertThat(state("{applicationState: {state: FAILED, errorMessage: broken}}").end())
        .contains(new JobState.End(false, "broken"));
    assertThat(state("{applicationState: {state: SUBMISSION_FAILED}}").end())
        .contains(new JobState.End(false, "SparkApplication could not be submitted"));
    assertThat(state("{applicationState: {state: RUNNING}}").end()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "Never, 5, 1, true",
    "OnFailure, 1, 1, false",
    "OnFailure, 1, 2, true",
    "Always, , 9, false"
  })
  void oneThatIsSubmittedAgainHasNotEnded(String type, Integer retries, int attempts, boolean end) {
    ObjectNode job =
        with(
            JOB,
            "{spec: {restartPolicy: {type: %s, onSubmissionFailureRetries: %s}}}"
                .formatted(type, retries));
    String status =
        "{applicationState: {state: SUBMISSION_FAILED}, submissionAttempts: %d}"
            .formatted(attempts);
    assertThat(KIND.state(status(job, status)).end().isPresent()).isEqualTo(end);
  }

  @Test
  void inAQueueItRunsInTheClusterWithAFixedNumberOfExecutors() {
    assertThat(KIND.validate(JOB, false)).isEmpty();
    assertThat(KIND.validate(with(JOB, "{spec: {mode: null}}"), false)).isEmpty();
    assertThat(KIND.validate(with(JOB, "{spec: {dynamicAllocation: {enabled: false}}}"), false))
        .isEmpty();
    assertThat(
            KIND.validate(
                with(JOB, "{spec: {mode: client, dynamicAllocation: {enabled: true}}}"), false))
        .extracting(InvalidField::path)
        .containsExactly("spec.mode", "spec.dynamicAllocation.enabled");
  }

  @Test
  void annotationsOfRoleAndTemplateAreReviewed() {
    ObjectNode job = with(JOB, "{spec: {executor: {template: {metadata: {annotations: {t: u}}}}}}");
    assertThat(KIND.reviewedPodSets(job))
        .extracting(ReviewedPodSet::path)
        .containsExactly("spec.driver.annotations", "spec.executor.annotations");
    assertThat(KIND.reviewedPodSets(job).getLast().annotations()).containsOnlyKeys("a", "t");
  }

  @Test
  void theAnnotationHoldsAnApplicationWithoutAState() {
    ObjectNode held =
        with(
            JOB,
            "{metadata: {generation: 1, annotations: {scheduling.x-k8s.io/suspend: 'true'}},"
                + " spec: {suspend: null}}");
    assertThat(KIND.state(held).suspended()).isFalse();
    assertThat(KIND.state(held).handling().held()).isTrue();
    assertThat(KIND.neverStarted(held)).isTrue();
    assertThat(KIND.neverStarted(status(held, "{applicationState: {state: SUBMITTED}}"))).isFalse();
    assertThat(KIND.neverStarted(status(JOB, "{applicationState: {state: SUSPENDED}}"))).isTrue();
  }
}
