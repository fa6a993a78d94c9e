package dev.sluice.webhooks.kinds;

import static dev.sluice.webhooks.Reviews.create;
import static dev.sluice.webhooks.Reviews.edited;
import static dev.sluice.webhooks.Reviews.messages;
import static dev.sluice.webhooks.Reviews.set;
import static dev.sluice.webhooks.Reviews.update;
import static dev.sluice.webhooks.Reviews.yaml;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobKindDescription;
import dev.sluice.jobs.kind.JobReference;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import dev.sluice.webhooks.Reviews;
import dev.sluice.webhooks.review.AdmissionFunction;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.WebhookRouter.AdmissionRequest;
import dev.sluice.webhooks.rules.ClusterLookup;
import dev.sluice.webhooks.rules.WebhookSettings;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What the webhooks of kinds with a suspend field set and refuse by the rules of each kind. */
class KindRulesTest {

  private static final Map<String, AdmissionFunction> FUNCTIONS =
      functions(Reviews.settings().gates());
  private static final JsonNode JOB_SET =
      yaml(
          """
          apiVersion: jobset.x-k8s.io/v1alpha2
          kind: JobSet
          metadata: {name: a, labels: {kueue.x-k8s.io/queue-name: training}}
          spec:
            suspend: true
            replicatedJobs:
            - {name: a, template: {spec: {template: {spec: {containers: [{name: c}]}}}}}
            - {name: b, template: {spec: {template: {spec: {containers: [{name: c}]}}}}}
          """);

  private static Map<String, AdmissionFunction> functions(Set<FeatureGate> gates) {
    return functions(gates, Reviews.Cluster.EMPTY);
  }

  private static Map<String, AdmissionFunction> functions(
      Set<FeatureGate> gates, ClusterLookup cluster) {
    WebhookSettings some = Reviews.settings();
    Set<String> frameworks =
        BuiltInIntegrations.descriptions().stream()
            .map(JobKindDescription::kind)
            .map(kind -> kind.framework())
            .collect(Collectors.toSet());
    return Webhooks.functions(
        new WebhookSettings(false, some.managedNamespaces(), frameworks, gates, some.working()),
        cluster);
  }

  private static AdmissionResult review(String prefix, AdmissionRequest request) {
    return review(FUNCTIONS, prefix, request);
  }

  private static AdmissionResult review(
      Map<String, AdmissionFunction> functions, String prefix, AdmissionRequest request) {
    JsonNode object = request.object();
    String path =
        "/%s-%s-%s"
            .formatted(
                prefix,
                object.path("apiVersion").asText().replace('.', '-').replace('/', '-'),
                object.path("kind").asText().toLowerCase(Locale.ROOT));
    return Objects.requireNonNull(functions.get(path), path).review(request);
  }

  private static List<String> refused(AdmissionRequest request) {
    return messages(review("validate", request));
  }

  @Test
  void aJobThatIsBeingEvictedIsNotStarted() {
    JsonNode stopped = edited(JOB_SET, set("/metadata/uid", "evicted"));
    JsonNode started = edited(stopped, set("/spec/suspend", "false"));
    JsonNode unqueued = edited(started, set("/metadata/labels", "{}"));
    Map<String, AdmissionFunction> evicting =
        functions(
            Reviews.settings().gates(),
            new Reviews.Cluster(false, false, false, Map.of(), "evicted"));

    for (JsonNode each : List.of(started, unqueued)) {
      assertThat(messages(review(evicting, "validate", update(stopped, each))))
          .contains(
              "spec.suspend: Forbidden: may not be false while the Workload of the job is evicted"
                  + " and its pods have to end");
    }
    assertThat(refused(update(stopped, started))).isEmpty();
  }

  @Test
  void aTemplateAsksForATopologyByTheRules() {
    String annotations = "/spec/replicatedJobs/1/template/spec/template/metadata/annotations";
    JsonNode both =
        edited(
            JOB_SET,
            set(
                annotations,
                "{kueue.x-k8s.io/podset-required-topology: rack,"
                    + " kueue.x-k8s.io/podset-preferred-topology: block}"));

    assertThat(refused(create(JOB_SET))).isEmpty();
    assertThat(refused(create(both)))
        .singleElement()
        .asString()
        .startsWith(
            "spec.replicatedJobs[1].template.spec.template.metadata.annotations: Invalid value: ")
        .endsWith("must not contain more than one topology annotation");
    assertThat(refused(update(both, both))).as("it had the error before").isEmpty();
  }

  /** Also where a component doesn't say which pod sets it has, and across components. */
  @Test
  void theTemplatesOfAnAppWrapperDoSo() {
    JsonNode wrapper =
        yaml(
            """
            apiVersion: workload.codeflare.dev/v1beta2
            kind: AppWrapper
            metadata: {name: a, labels: {kueue.x-k8s.io/queue-name: training}}
            spec:
              suspend: true
              components:
              - template: {apiVersion: v1, kind: Pod, spec: {containers: [{name: c}]}}
              - template:
                  apiVersion: batch/v1
                  kind: Job
                  spec: {parallelism: 2, template: {spec: {containers: [{name: c}]}}}
            """);
    String ofJob = "/spec/components/1/template/spec/template/metadata/annotations";
    String group =
        "{kueue.x-k8s.io/podset-group-name: g, kueue.x-k8s.io/podset-required-topology: rack}";

    assertThat(refused(create(wrapper))).isEmpty();
    assertThat(
            refused(
                create(
                    edited(
                        wrapper,
                        set(
                            ofJob,
                            "{kueue.x-k8s.io/podset-slice-required-topology: rack,"
                                + " kueue.x-k8s.io/podset-slice-size: '3'}")))))
        .singleElement()
        .asString()
        .startsWith("spec.components[1].template.spec.template.metadata.annotations")
        .endsWith("must not be greater than the pod set's count, 2");
    JsonNode alone = edited(wrapper, set(ofJob, group));
    assertThat(refused(create(alone))).singleElement().asString().endsWith("got 1");
    assertThat(
            refused(
                create(
                    edited(alone, set("/spec/components/0/template/metadata/annotations", group)))))
        .isEmpty();
  }

  /** The templates of a TrainJob are its runtime's; without that there is nothing to check. */
  @Test
  void theTemplatesThatATrainJobGetsDoSo() {
    JsonNode job =
        yaml(
            """
            apiVersion: trainer.kubeflow.org/v1alpha1
            kind: TrainJob
            metadata: {name: a, labels: {kueue.x-k8s.io/queue-name: training}}
            spec: {suspend: true, runtimeRef: {name: torch}}
            """);
    JsonNode runtime =
        yaml(
            """
            template:
              spec:
                replicatedJobs:
                - name: node
                  template:
                    metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
                    spec:
                      template:
                        metadata:
                          annotations:
                            kueue.x-k8s.io/podset-required-topology: rack
                            kueue.x-k8s.io/podset-preferred-topology: block
                        spec: {containers: [{name: node}]}
            """);
    ClusterLookup withRuntime =
        new ClusterLookup() {
          @Override
          public JsonNode resolved(JobKind kind, JsonNode given) {
            ObjectNode resolved = given.deepCopy();
            JobReference.setSpec(resolved, runtime);
            return resolved;
          }

          @Override
          public boolean hasDefaultLocalQueue(String namespace) {
            return false;
          }

          @Override
          public boolean hasDefaultPriorityClass() {
            return false;
          }

          @Override
          public Map<String, String> namespaceLabels(String namespace) {
            return Map.of();
          }

          @Override
          public boolean isManaged(String namespace, Owner owner) {
            return false;
          }
        };
    Map<String, AdmissionFunction> functions = functions(Reviews.settings().gates(), withRuntime);

    assertThat(refused(create(job))).isEmpty();
    assertThat(messages(review(functions, "validate", create(job))))
        .singleElement()
        .asString()
        .startsWith("podSets[node].template.metadata.annotations: Invalid value: ")
        .endsWith("must not contain more than one topology annotation");
    assertThat(messages(review(functions, "validate", update(job, job)))).isEmpty();
  }

  private static final String SPEC =
      """
      suspend: true
      headGroupSpec: {template: {spec: {containers: [{name: c}]}}}
      workerGroupSpecs: [{groupName: w, template: {spec: {containers: [{name: c}]}}}]
      """;
  private static final JsonNode CLUSTER = ray("RayCluster", "/spec");
  private static final JsonNode JOB =
      edited(ray("RayJob", "/spec/rayClusterSpec"), set("/spec/shutdownAfterJobFinishes", "true"));
  private static final String LABELS = "/metadata/labels";

  private static JsonNode ray(String kind, String path) {
    return edited(
        yaml(
            """
            apiVersion: ray.io/v1
            kind: %s
            metadata: {name: a, labels: {kueue.x-k8s.io/queue-name: training}}
            spec: {}
            """
                .formatted(kind)),
        set(path, SPEC));
  }

  private static JsonNode withGroups(JsonNode object, String path, int groups) {
    return edited(
        object,
        set(
            path + "/workerGroupSpecs",
            IntStream.range(0, groups)
                .mapToObj(i -> "{groupName: g%d, template: {}}".formatted(i))
                .collect(Collectors.joining(", ", "[", "]"))));
  }

  @Test
  void rayObjectsThatFollowTheRulesAreAllowed() {
    assertThat(refused(create(CLUSTER))).isEmpty();
    assertThat(refused(create(JOB))).isEmpty();
    assertThat(
            refused(
                create(
                    edited(
                        CLUSTER, set("/metadata/annotations", "{kueue.x-k8s.io/elastic-job: x}")))))
        .isEmpty();
  }

  @Test
  void aClusterInAQueueDoesNotScaleItself() {
    String rule =
        "enableInTreeAutoscaling: Invalid value: true: a job in a queue can't scale itself unless"
            + " it is elastic: annotation kueue.x-k8s.io/elastic-job=true";
    JsonNode cluster = edited(CLUSTER, set("/spec/enableInTreeAutoscaling", "true"));
    JsonNode job = edited(JOB, set("/spec/rayClusterSpec/enableInTreeAutoscaling", "true"));

    assertThat(refused(create(cluster))).containsExactly("spec." + rule);
    assertThat(refused(create(job))).containsExactly("spec.rayClusterSpec." + rule);
    assertThat(refused(create(edited(cluster, set(LABELS, "{}"))))).isEmpty();
    assertThat(refused(update(CLUSTER, cluster))).hasSize(1);
    assertThat(refused(update(edited(cluster, set(LABELS, "{}")), cluster)))
        .as("it comes into a queue")
        .hasSize(1);
  }

  /**
   * docs/ray.md#what-is-refused: gate RayServiceValidateUpgradeStrategy (changes of 0.20, section
   * 2).
   */
  @Test
  void aServiceMakesNoSecondClusterUnlessItIsElastic() {
    JsonNode service = ray("RayService", "/spec/rayClusterConfig");
    JsonNode careful = edited(service, set("/spec/upgradeStrategy", "{type: None}"));
    JsonNode second = edited(service, set("/spec/upgradeStrategy", "{type: NewCluster}"));

    assertThat(refused(create(careful))).isEmpty();
    assertThat(refused(create(service)))
        .singleElement()
        .asString()
        .startsWith("spec.upgradeStrategy.type: Required value: must be None ");
    assertThat(refused(update(careful, second)))
        .singleElement()
        .asString()
        .startsWith("spec.upgradeStrategy.type: Invalid value: \"NewCluster\": must be None ");
    assertThat(refused(update(service, service))).as("it was so before").isEmpty();
    assertThat(refused(create(edited(service, set(LABELS, "{}"))))).as("not in a queue").isEmpty();
    JsonNode elastic = elastic(second);
    assertThat(refused(create(Reviews.mutated(elastic, review("mutate", create(elastic))))))
        .isEmpty();

    Set<FeatureGate> gates = EnumSet.copyOf(Reviews.settings().gates());
    gates.remove(FeatureGate.RAY_SERVICE_VALIDATE_UPGRADE_STRATEGY);
    assertThat(messages(review(functions(gates), "validate", create(second)))).isEmpty();
  }

  private static JsonNode elastic(JsonNode object) {
    return edited(object, set("/metadata/annotations", "{kueue.x-k8s.io/elastic-job: \"true\"}"));
  }

  @Test
  void podsOfAnElasticClusterAreGatedAndItMayScaleItself() {
    String gates = "[{name: kueue.x-k8s.io/elastic-job}]";
    for (JsonNode plain : List.of(CLUSTER, JOB)) {
      String path = plain == CLUSTER ? "/spec" : "/spec/rayClusterSpec";
      String shown = path.substring(1).replace('/', '.');
      JsonNode job = elastic(edited(plain, set(path + "/enableInTreeAutoscaling", "true")));
      JsonNode gated = Reviews.mutated(job, review("mutate", create(job)));
      for (String template : List.of("/headGroupSpec/template", "/workerGroupSpecs/0/template")) {
        assertThat(gated.at(path + template + "/spec/schedulingGates")).isEqualTo(yaml(gates));
      }
      assertThat(refused(create(gated))).isEmpty();
      assertThat(refused(create(job)))
          .containsExactly(
              shown
                  + ".headGroupSpec.template.spec.schedulingGates: Required value: pods of an"
                  + " elastic job must have the gate kueue.x-k8s.io/elastic-job",
              shown
                  + ".workerGroupSpecs[0].template.spec.schedulingGates: Required value: pods of"
                  + " an elastic job must have the gate kueue.x-k8s.io/elastic-job");
      assertThat(refused(create(edited(gated, set("/spec/managedBy", KueueConstants.MULTIKUEUE)))))
          .containsExactly(
              shown
                  + ".enableInTreeAutoscaling: Invalid value: true: an elastic job that is sent to"
                  + " worker clusters can't scale itself without the feature gate"
                  + " MultiKueueRayInTreeAutoscaling");
      assertThat(
              refused(
                  create(
                      edited(
                          gated,
                          set(
                              path + "/headGroupSpec/template/metadata/annotations",
                              "{kueue.x-k8s.io/podset-preferred-topology: rack}")))))
          .containsExactly(
              shown
                  + ".headGroupSpec.template.metadata.annotations"
                  + "[kueue.x-k8s.io/podset-preferred-topology]: Forbidden: may not be set for an"
                  + " elastic job");
    }
  }

  /** Changes of 0.20, section 4: MultiKueueRayInTreeAutoscaling. */
  @Test
  void aClusterThatScalesItselfIsSentWithTheGateAndTheOperatorAloneWritesItsSize() {
    Set<FeatureGate> gates = EnumSet.copyOf(Reviews.settings().gates());
    gates.add(FeatureGate.MULTI_KUEUE_RAY_IN_TREE_AUTOSCALING);
    Map<String, AdmissionFunction> functions = functions(gates);
    String sizes = "/metadata/annotations/kueue.x-k8s.io~1raycluster-podset-replica-sizes";
    for (JsonNode plain : List.of(CLUSTER, JOB)) {
      String path = plain == CLUSTER ? "/spec" : "/spec/rayClusterSpec";
      JsonNode scales = elastic(edited(plain, set(path + "/enableInTreeAutoscaling", "true")));
      JsonNode there = edited(scales, set("/spec/managedBy", KueueConstants.MULTIKUEUE));
      JsonNode sent = Reviews.mutated(there, review(functions, "mutate", create(there)));
      JsonNode runs = edited(sent, set(sizes, "'[{\"name\":\"w\",\"count\":4}]'"));
      assertThat(messages(review(functions, "validate", create(sent)))).isEmpty();
      assertThat(messages(review(functions, "validate", update(sent, runs)))).isEmpty();

      String forbidden =
          "metadata.annotations[kueue.x-k8s.io/raycluster-podset-replica-sizes]: Forbidden: is"
              + " written by the operator alone";
      JsonNode smaller = edited(runs, set(sizes, "'[]'"));
      assertThat(messages(review(functions, "validate", update(runs, smaller))))
          .containsExactly(forbidden);
      assertThat(messages(review(functions, "validate", update(runs, sent))))
          .containsExactly(forbidden);
      JsonNode labelled = edited(runs, set("/metadata/labels/team", "a"));
      assertThat(messages(review(functions, "validate", update(runs, labelled)))).isEmpty();
      // the size of one that isn't sent is told, and read by nobody
      JsonNode here = edited(runs, set("/spec/managedBy", "null"));
      JsonNode other = edited(smaller, set("/spec/managedBy", "null"));
      assertThat(messages(review(functions, "validate", update(here, other)))).isEmpty();
      // what was sent while the gate was on goes on when it is off
      assertThat(refused(update(runs, labelled))).isEmpty();
    }
  }

  /** Without the gate nobody resizes jobs. */
  @Test
  void withoutItsFeatureGateNoClusterIsElastic() {
    Set<FeatureGate> gates = EnumSet.copyOf(Reviews.settings().gates());
    gates.remove(FeatureGate.ELASTIC_JOBS_VIA_WORKLOAD_SLICES);
    JsonNode job = elastic(edited(CLUSTER, set("/spec/enableInTreeAutoscaling", "true")));
    Map<String, AdmissionFunction> functions = functions(gates);
    assertThat(messages(review(functions, "validate", create(job))))
        .singleElement()
        .asString()
        .contains("can't scale itself unless it is elastic");
    assertThat(
            Reviews.mutated(job, review(functions, "mutate", create(job)))
                .findValues("schedulingGates"))
        .isEmpty();
  }

  @Test
  void aClusterHasAsManyGroupsAsAWorkloadCanHold() {
    assertThat(refused(create(withGroups(CLUSTER, "/spec", 17)))).isEmpty();
    assertThat(refused(create(withGroups(CLUSTER, "/spec", 18))))
        .containsExactly(
            "spec.workerGroupSpecs: Invalid value: 18: a job in a queue must have at most 17"
                + " groups of workers");
    String path = "/spec/rayClusterSpec";
    assertThat(refused(create(withGroups(JOB, path, 16)))).isEmpty();
    assertThat(refused(create(withGroups(JOB, path, 17))))
        .singleElement()
        .asString()
        .startsWith("spec.rayClusterSpec.workerGroupSpecs: Invalid value: 17: ")
        .contains("at most 16");
    JsonNode http = edited(JOB, set("/spec/submissionMode", "HTTPMode"));
    assertThat(refused(create(withGroups(http, path, 17)))).isEmpty();
  }

  @Test
  void noGroupIsCalledHead() {
    assertThat(refused(create(edited(CLUSTER, set("/spec/workerGroupSpecs/0/groupName", "head")))))
        .containsExactly(
            "spec.workerGroupSpecs[0].groupName: Invalid value: \"head\": is the name of the pod"
                + " set of the head");
  }

  @Test
  void aRayJobHasAClusterOfItsOwnOrNone() {
    JsonNode both = edited(JOB, set("/spec/clusterSelector", "{ray.io/cluster: c}"));
    JsonNode other = edited(both, set("/spec/rayClusterSpec", "null"));
    JsonNode neither = edited(JOB, set("/spec/rayClusterSpec", "null"));

    assertThat(refused(create(both)))
        .containsExactly(
            "spec.clusterSelector: Invalid value: {\"ray.io/cluster\":\"c\"}: must not be set"
                + " together with spec.rayClusterSpec");
    assertThat(refused(create(neither)))
        .containsExactly(
            "spec.rayClusterSpec: Required value: a job in a queue must have a cluster of its own");
    JsonNode unsuspended = edited(other, set("/spec/suspend", "null"));
    assertThat(refused(create(unsuspended))).isEmpty();
    assertThat(Reviews.patch(review("mutate", create(unsuspended)))).isEmpty();
    assertThat(Reviews.patch(review("mutate", create(edited(JOB, set("/spec/suspend", "null"))))))
        .containsExactly("{\"op\":\"add\",\"path\":\"/spec/suspend\",\"value\":true}");
  }

  @Test
  void aRayJobThatTurnsToAnotherClusterKeepsItsQueueWhileItRuns() {
    JsonNode running =
        edited(
            JOB,
            set("/spec/suspend", "false"),
            set(LABELS + "/kueue.x-k8s.io~1priority-class", "high"));
    JsonNode turned = edited(running, set("/spec/clusterSelector", "{ray.io/cluster: c}"));

    for (JsonNode each : List.of(turned, edited(turned, set("/spec/rayClusterSpec", "null")))) {
      assertThat(refused(update(running, edited(each, set(LABELS, "{}")))))
          .containsExactly(
              "metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: \"\": field is immutable"
                  + " while the job runs",
              "metadata.labels[kueue.x-k8s.io/priority-class]: Invalid value: \"\": must not be"
                  + " removed, it was \"high\"");
    }
    assertThat(refused(update(running, turned)))
        .containsExactly(
            "spec.clusterSelector: Invalid value: {\"ray.io/cluster\":\"c\"}: must not be set"
                + " together with spec.rayClusterSpec");
  }

  @Test
  void aRayJobShutsItsClusterDown() {
    for (String value : List.of("false", "null")) {
      assertThat(refused(create(edited(JOB, set("/spec/shutdownAfterJobFinishes", value)))))
          .containsExactly(
              "spec.shutdownAfterJobFinishes: Invalid value: false: must be true for a job in a"
                  + " queue, because its quota is given back when it ends");
    }
  }

  @Test
  void updatesOutsideOfQueuesAreLeftAlone() {
    String key = "/metadata/labels/kueue.x-k8s.io~1max-exec-time-seconds";
    JsonNode unqueued = edited(CLUSTER, set(LABELS, "{}"));
    JsonNode running = edited(CLUSTER, set("/spec/suspend", "false"));

    assertThat(refused(update(unqueued, edited(unqueued, set(key, "never"))))).isEmpty();
    assertThat(refused(update(CLUSTER, edited(CLUSTER, set(key, "never"))))).hasSize(1);
    assertThat(refused(update(running, edited(running, set(LABELS, "{}")))))
        .as("it was in a queue")
        .hasSize(1);
    Set<FeatureGate> others =
        EnumSet.complementOf(EnumSet.of(FeatureGate.VALIDATE_RAY_AND_SPARK_JOB_UPDATES));
    AdmissionRequest removal = update(running, edited(running, set(LABELS, "{}")));
    assertThat(messages(review(functions(others), "validate", removal))).isEmpty();
  }

  @Test
  void templatesOfRayAreValidatedWhereTheyAre() {
    String annotations = "/spec/workerGroupSpecs/0/template/metadata/annotations";

    assertThat(
            refused(
                create(
                    edited(
                        CLUSTER, set(annotations, "{kueue.x-k8s.io/podset-slice-size: \"2\"}")))))
        .isNotEmpty()
        .allMatch(
            it ->
                it.startsWith(
                    "spec.workerGroupSpecs[0].template.metadata.annotations"
                        + "[kueue.x-k8s.io/podset-slice-size]: "));
  }

  @Test
  void aSparkApplicationRunsInTheClusterAndDoesNotScaleItself() {
    JsonNode spark =
        yaml(
            """
            apiVersion: sparkoperator.k8s.io/v1beta2
            kind: SparkApplication
            metadata: {name: a, labels: {kueue.x-k8s.io/queue-name: training}}
            spec: {mode: cluster, driver: {}, executor: {instances: 2}}
            """);
    JsonNode client = edited(spark, set("/spec/mode", "client"));

    assertThat(refused(create(spark))).isEmpty();
    assertThat(refused(create(client)))
        .containsExactly(
            "spec.mode: Invalid value: \"client\": must be \"cluster\" for a job in a queue");
    assertThat(refused(create(edited(client, set(LABELS, "{}"))))).isEmpty();
    assertThat(refused(create(edited(spark, set("/spec/dynamicAllocation", "{enabled: true}")))))
        .singleElement()
        .asString()
        .startsWith("spec.dynamicAllocation.enabled: Invalid value: true: ");
    String prebuilt = "/metadata/annotations";
    String made = "{kueue.x-k8s.io/prebuilt-workload-name: made}";
    assertThat(refused(create(edited(spark, set(prebuilt, made)))))
        .containsExactly(
            "metadata.annotations[kueue.x-k8s.io/prebuilt-workload-name]: Forbidden: a Workload is"
                + " always made for objects of this kind");
    assertThat(refused(create(edited(JOB_SET, set(prebuilt, made))))).isEmpty();
    String size = "{kueue.x-k8s.io/podset-slice-size: \"2\"}";
    assertThat(refused(create(edited(spark, set("/spec/executor/annotations", size)))))
        .isNotEmpty()
        .allMatch(
            it -> it.startsWith("spec.executor.annotations[kueue.x-k8s.io/podset-slice-size]: "));
  }

  @Test
  void aRayServiceFollowsTheRulesOfItsCluster() {
    JsonNode service =
        edited(
            ray("RayService", "/spec/rayClusterConfig"),
            set("/spec/upgradeStrategy", "{type: None}"));
    String config = "/spec/rayClusterConfig";

    assertThat(refused(create(service))).isEmpty();
    assertThat(refused(create(edited(service, set(config + "/enableInTreeAutoscaling", "true")))))
        .singleElement()
        .asString()
        .startsWith("spec.rayClusterConfig.enableInTreeAutoscaling: Invalid value: true: ");
    assertThat(refused(create(withGroups(service, config, 18)))).hasSize(1);
    assertThat(
            Reviews.patch(
                review("mutate", create(edited(service, set(config + "/suspend", "null"))))))
        .containsExactly(
            "{\"op\":\"add\",\"path\":\"/spec/rayClusterConfig/suspend\",\"value\":true}");
  }
}
