package dev.sluice.workload.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.audit.Auditor;
import dev.sluice.lab.audit.WatchRecorder;
import dev.sluice.lab.controlplane.AutoscalerPlayer;
import dev.sluice.lab.controlplane.AutoscalerPlayer.Pool;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResourceBuilder;
import io.fabric8.kubernetes.api.model.GenericKubernetesResourceList;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.NonNamespaceOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Devices of claims, quotas that follow capacity, and nodes that are asked for, while the operator
 * is killed when Jobs wait, when what they wait for is there, and when they have started; and
 * PodGroups of kube-scheduler, while it is killed in each phase of a Job that has some; and
 * preemptions that only a PreemptionConfig allows.
 */
@ControlPlaneTest(
    exclusive = true,
    apiServerArguments = {
      "--feature-gates=GenericWorkload=true,GangScheduling=true",
      "--runtime-config=scheduling.k8s.io/v1alpha2=true"
    })
@Execution(ExecutionMode.SAME_THREAD)
@Tag(BuildBreadth.NIGHTLY)
class RestartedFeaturesIT {

  private static final Duration LIMIT = Duration.ofMinutes(3);
  private static final String PROVIDER = "kueue.x-k8s.io/v1alpha1/CapacityProvider";
  private static final String CLUSTER_QUEUE = "kueue.x-k8s.io/v1beta2/ClusterQueue";

  private static final String CONFIGURATION =
      """
      featureGates: {DynamicQuotaOrchestration: true, WASPodGroups: true, ConfigurablePreemptions: true}
      resources:
        deviceClassMappings:
        - {name: example.com/gpus, deviceClassNames: [restarts.example.com]}
      """;

  private static final String OBJECTS =
      """
      apiVersion: resource.k8s.io/v1
      kind: DeviceClass
      metadata: {name: restarts.example.com}
      spec: {}
      ---
      apiVersion: resource.k8s.io/v1
      kind: ResourceClaimTemplate
      metadata: {name: two-gpus, namespace: "${namespace}"}
      spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: restarts.example.com, count: 2}}]}}}
      ---
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: ResourceFlavor
      metadata: {name: "any-${suffix}"}
      ---
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: ResourceFlavor
      metadata: {name: "made-${suffix}"}
      spec: {nodeLabels: {pool: "made-${suffix}"}}
      ---
      apiVersion: kueue.x-k8s.io/v1alpha1
      kind: CapacityProvider
      metadata: {name: "cp-${suffix}"}
      spec:
        controllerName: example.com/budget
        orchestratedFlavors: [{name: "any-${suffix}"}]
      ---
      apiVersion: kueue.x-k8s.io/v1alpha1
      kind: DynamicQuotaOrchestrator
      metadata: {name: "dqo-${suffix}"}
      spec:
        capacityDiscovery: {providers: [{name: "cp-${suffix}"}]}
        capacityDistribution: {subtreeRootQuotaRef: {kind: ClusterQueue, name: "grows-${suffix}"}}
      ---
      apiVersion: kueue.x-k8s.io/v1beta2
      kind: AdmissionCheck
      metadata:
        name: "capacity-${suffix}"
        annotations: {sluice.dev/node-capacity-timeout: 1h}
      spec: {controllerName: sluice.dev/node-capacity}
      """;

  private final OperatorSettings settings =
      OperatorSettings.onFreePorts(new SecureRandom()).withShortLease().with(CONFIGURATION);

  @SuppressWarnings("NullAway.Init") // set by the test
  private TestCluster cluster;

  @SuppressWarnings("NullAway.Init") // set by the test
  private Api api;

  @SuppressWarnings("NullAway.Init") // set by the test
  private QueuedJobs jobs;

  @Test
  void whatJobsWaitForIsNotForgotten(TestCluster own) {
    cluster = own;
    api = new Api(own);
    jobs = new QueuedJobs(own);
    OperatorProcess operator = start();
    try (WatchRecorder recorder = new WatchRecorder(own.client(), InstantSource.system())) {
      recorder.start();
      own.createNodes(NodeGroup.plentiful(own.name("node"), 1));
      own.applyText(OBJECTS);
      queue("devices", "any", "cpu, example.com/gpus", "");
      queue("grows", "any", "cpu", "");
      queue(
          "asks",
          "made",
          "cpu",
          "admissionChecksStrategy: {admissionChecks: [{name: \"capacity-${suffix}\"}]}");
      tell(2);
      submit("first", "devices", 1, true);
      api.awaitCondition("Workload", api.workloadOf("first"), "Admitted", "True Admitted");

      submit("second", "devices", 1, true);
      submit("large", "grows", 4, false);
      submit("needs-nodes", "asks", 2, false);
      String second = api.workloadOf("second");
      String large = api.workloadOf("large");
      String needsNodes = api.workloadOf("needs-nodes");
      api.awaitMessage(second, "QuotaReserved", "example.com/gpus");
      api.awaitMessage(large, "QuotaReserved", "cpu");
      await("placeholders").atMost(LIMIT).until(() -> jobs.placeholders().size() == 2);
      Map<String, String> asked = jobs.placeholders();

      operator = restarted(operator); // while they wait
      api.awaitMessage(second, "QuotaReserved", "example.com/gpus");
      awaitQuota("2");
      assertThat(jobs.placeholders()).isEqualTo(asked);
      for (String waiting : List.of(second, large, needsNodes)) {
        assertThat(api.condition("Workload", waiting, "Admitted")).isNotEqualTo("True Admitted");
      }

      operator.kill(); // before it hears that what they wait for is there
      api.delete("Job", "first");
      tell(5);
      try (AutoscalerPlayer _ =
          new AutoscalerPlayer(
              own.client(),
              List.of(
                  new Pool(
                      NodeGroup.plentiful(own.name("made"), 1)
                          .withCapacity("cpu", "1")
                          .withLabel("pool", own.name("made")),
                      4)))) {
        operator = start();
        for (String started : List.of(second, large, needsNodes)) {
          api.awaitCondition("Workload", started, "Admitted", "True Admitted");
        }
        operator = restarted(operator); // when they have started
        api.awaitRunning("needs-nodes", 2);
        awaitQuota("5");
        await("no placeholder").atMost(LIMIT).until(() -> jobs.placeholders().isEmpty());

        submit("third", "devices", 1, true);
        submit("more", "grows", 2, false);
        api.awaitMessage(api.workloadOf("third"), "QuotaReserved", "example.com/gpus");
        api.awaitMessage(api.workloadOf("more"), "QuotaReserved", "cpu");
        assertThat(usage(second)).isEqualTo("{\"cpu\":\"1\",\"example.com/gpus\":\"2\"}");
        for (String started : List.of(second, large, needsNodes)) {
          assertThat(api.get("Workload", started).at("/status/schedulingStats/evictions"))
              .as("evictions of %s", started)
              .isEmpty();
        }
        assertThat(recorder.catchUp(LIMIT)).isTrue();
        assertThat(Auditor.audit(own.own(recorder.history())).violations()).isEmpty();
        assertThat(operator.stop()).isTrue();
      }
    } finally {
      operator.close();
      own.client()
          .genericKubernetesResources("resource.k8s.io/v1", "DeviceClass")
          .withName("restarts.example.com")
          .delete();
    }
  }

  private static final String POD_GROUP = "scheduling.k8s.io/v1alpha2/PodGroup";
  private static final String POD = "v1/Pod";
  private static final String POLICY = "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy";

  /** The moments are made by policies that keep the operator from its next write. */
  @Test
  void podGroupsAreNeitherLostNorLeftWheneverTheOperatorIsKilled(TestCluster own) {
    cluster = own;
    api = new Api(own);
    jobs = new QueuedJobs(own);
    OperatorProcess operator = start();
    try (WatchRecorder recorder = new WatchRecorder(own.client(), InstantSource.system())) {
      recorder.start();
      own.applyText(
          """
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: ResourceFlavor
          metadata: {name: "gang-${suffix}"}
          spec: {nodeLabels: {pool: "gang-${suffix}"}}
          """);
      queue("gangs", "gang", "cpu", "");
      refuse("starts", "batch", "jobs", "UPDATE", "object.spec.suspend == true");
      refuse("podgroups", "scheduling.k8s.io", "podgroups", "CREATE", "false");
      await("no PodGroup may be made").atMost(LIMIT).until(this::isRefusedToMakePodGroups);

      submitGang("gang");
      String workload = api.workloadOf("gang");
      api.awaitCondition("Workload", workload, "Admitted", "True Admitted");
      await("the attempt")
          .atMost(LIMIT)
          .until(() -> own.events().stream().anyMatch(it -> "WriteRefused".equals(it.getReason())));
      operator.kill(); // admitted, before its PodGroup is made
      allow("podgroups");
      operator = start();
      await("the PodGroup").atMost(LIMIT).until(() -> podGroups().size() == 1);
      assertThat(isSuspended("gang")).isTrue();

      String podGroup = uid(podGroups().getFirst());
      operator.kill(); // after it is made, before the Job is started
      allow("starts");
      operator = start();
      await("the start").atMost(LIMIT).until(() -> !isSuspended("gang"));
      operator.kill(); // while pods are made, which nobody puts into the PodGroup now
      assertThat(ungrouped("gang")).isEmpty();
      operator = start();
      awaitPods("gang", 4, 0);
      assertThat(ungrouped("gang")).isEmpty();
      assertThat(podGroups()).extracting(RestartedFeaturesIT::uid).containsExactly(podGroup);

      node("small", 2);
      jobs.awaitCondition(POD_GROUP, name(podGroups().getFirst()), "PodGroupScheduled", "False");
      operator.kill(); // before it is bound
      node("large", 2);
      awaitPods("gang", 4, 4);
      jobs.awaitCondition(POD_GROUP, name(podGroups().getFirst()), "PodGroupScheduled", "True");
      operator = restarted(start()); // when it is bound
      assertThat(podGroups()).extracting(RestartedFeaturesIT::uid).containsExactly(podGroup);

      operator.kill(); // a pod fails, and nobody says whether its replacement joins the PodGroup
      end(pods("gang").getFirst(), "Failed");
      awaitPods("gang", 3, 3);
      operator = start();
      awaitPods("gang", 4, 4);
      assertThat(ungrouped("gang")).as("the replacement").hasSize(1);
      assertThat(podGroups()).extracting(RestartedFeaturesIT::uid).containsExactly(podGroup);

      // stopped and started again: another PodGroup of the same name
      api.patch("Workload", workload, "{'spec': {'active': false}}");
      awaitPods("gang", 0, 0);
      operator = restarted(operator);
      api.patch("Workload", workload, "{'spec': {'active': true}}");
      awaitPods("gang", 4, 4);
      assertThat(ungrouped("gang")).isEmpty();
      assertThat(podGroups())
          .singleElement()
          .satisfies(
              made -> {
                assertThat(uid(made)).isNotEqualTo(podGroup);
                assertThat(made.at("/spec/schedulingPolicy/gang/minCount").asInt()).isEqualTo(4);
              });

      operator.kill(); // before the Job ends
      pods("gang").forEach(pod -> end(pod, "Succeeded"));
      jobs.awaitCondition("batch/v1/Job", "gang", "Complete", "True");
      operator = start();
      api.awaitCondition("Workload", workload, "Finished", "True Succeeded");
      assertThat(recorder.catchUp(LIMIT)).isTrue();
      assertThat(Auditor.audit(own.own(recorder.history())).violations()).isEmpty();

      operator.kill(); // before the Job is deleted
      api.delete("Job", "gang");
      operator = start();
      await("nothing is left")
          .atMost(LIMIT)
          .until(() -> jobs.workloads().isEmpty() && podGroups().isEmpty());
      assertThat(operator.stop()).isTrue();
    } finally {
      operator.close();
    }
  }

  /**
   * docs/preemption-config.md: what a rule allows is decided anew after each kill, and happens
   * once. The moments are made by policies, as above.
   */
  @Test
  void preemptionsByRulesHappenOnceWheneverTheOperatorIsKilled(TestCluster own) {
    cluster = own;
    api = new Api(own);
    jobs = new QueuedJobs(own);
    OperatorProcess operator = start();
    try (WatchRecorder recorder = new WatchRecorder(own.client(), InstantSource.system())) {
      recorder.start();
      own.createNodes(NodeGroup.plentiful(own.name("node"), 1));
      own.applyText(
          """
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: ResourceFlavor
          metadata: {name: "ruled-${suffix}"}
          ---
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: WorkloadPriorityClass
          metadata: {name: "hero-${suffix}"}
          value: 10
          ---
          apiVersion: kueue.x-k8s.io/v1alpha1
          kind: PreemptionConfig
          metadata: {name: "heroes-${suffix}"}
          spec:
            rules:
            - name: heroes
              preemptorPriorityClassSelector: {matchNames: ["hero-${suffix}"]}
              activationPolicy: {trigger: InsufficientQuota}
              candidateSelectors:
              - {scope: WithinClusterQueue, priority: {mode: Base, comparison: LessThan}}
          """);
      queue("ruled", "ruled", "cpu", "");
      jobs.patch(
          CLUSTER_QUEUE,
          own.name("ruled"),
          "{'metadata': {'annotations': {'kueue.x-k8s.io/preemption-config-name': '%s'}}}"
              .formatted(own.name("heroes")));
      submit("steady", "ruled", 6, false);
      submit("other", "ruled", 2, false);
      String steady = api.workloadOf("steady");
      String other = api.workloadOf("other");
      api.awaitRunning("steady", 6);
      api.awaitRunning("other", 2);
      refuse(
          "evictions",
          "kueue.x-k8s.io",
          "workloads/status",
          "UPDATE",
          "object.status.?conditions.orValue([]).all(c, c.type != 'Preempted')");
      refuse(
          "stops",
          "batch",
          "jobs",
          "UPDATE",
          "object.spec.?suspend.orValue(false) == oldObject.spec.?suspend.orValue(false)"
              + " || !object.spec.suspend");
      await("nobody may stop a Job").atMost(LIMIT).until(() -> isRefusedToStop("steady"));

      submit("hero", "ruled, kueue.x-k8s.io/priority-class: " + own.name("hero"), 5, false);
      String hero = api.workloadOf("hero");
      api.awaitMessage(hero, "QuotaReserved", "preempt");
      operator.kill(); // decided, before the eviction is written
      assertThat(api.condition("Workload", steady, "Preempted"))
          .isNotEqualTo("True InClusterQueue");
      allow("evictions");
      operator = start();
      api.awaitCondition("Workload", steady, "Preempted", "True InClusterQueue");

      operator = restarted(operator); // before the victim's Job is stopped
      api.awaitMessage(hero, "QuotaReserved", "preempt");
      assertThat(isSuspended("steady")).isFalse();
      assertThat(evictions(steady)).isEqualTo(PREEMPTED_ONCE);
      operator.kill(); // and before it is heard that it was
      allow("stops");
      operator = start();
      api.awaitCondition("Workload", hero, "Admitted", "True Admitted");
      assertThat(isSuspended("steady")).isTrue();

      operator = restarted(operator); // when the preemptor has started
      api.awaitRunning("hero", 5);
      api.delete("Job", "hero");
      api.awaitRunning("steady", 6);
      assertThat(evictions(steady)).isEqualTo(PREEMPTED_ONCE);
      assertThat(evictions(other)).as("a minimal set is preempted").isEmpty();
      assertThat(recorder.catchUp(LIMIT)).isTrue();
      assertThat(Auditor.audit(own.own(recorder.history())).violations()).isEmpty();
      assertThat(operator.stop()).isTrue();
    } finally {
      operator.close();
    }
  }

  private static final String PREEMPTED_ONCE =
      "[{\"count\":1,\"reason\":\"Preempted\",\"underlyingCause\":\"\"}]";

  private String evictions(String workload) {
    JsonNode evictions = api.get("Workload", workload).at("/status/schedulingStats/evictions");
    return evictions.isMissingNode() ? "" : evictions.toString();
  }

  private boolean isRefusedToStop(String job) {
    try {
      cluster
          .client()
          .batch()
          .v1()
          .jobs()
          .inNamespace(cluster.namespace())
          .withName(job)
          .dryRun()
          .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\": {\"suspend\": true}}");
      return false;
    } catch (KubernetesClientException e) {
      assertThat(e.getMessage()).contains("not yet");
      return true;
    }
  }

  /** Keeps everybody from a write in the namespace of the test unless the expression is true. */
  private void refuse(
      String name, String group, String resource, String operation, String expression) {
    cluster.applyText(
        """
        apiVersion: admissionregistration.k8s.io/v1
        kind: ValidatingAdmissionPolicy
        metadata: {name: "%1$s-${suffix}"}
        spec:
          failurePolicy: Fail
          matchConstraints:
            resourceRules:
            - {apiGroups: ["%2$s"], apiVersions: ["*"], operations: ["%4$s"], resources: ["%3$s"]}
          validations: [{expression: "%5$s", message: "not yet"}]
        ---
        apiVersion: admissionregistration.k8s.io/v1
        kind: ValidatingAdmissionPolicyBinding
        metadata: {name: "%1$s-${suffix}"}
        spec:
          policyName: "%1$s-${suffix}"
          validationActions: [Deny]
          matchResources:
            namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: "${namespace}"}}
        """
            .formatted(name, group, resource, operation, expression));
  }

  private void allow(String name) {
    jobs.delete(POLICY + "Binding", cluster.name(name));
    jobs.delete(POLICY, cluster.name(name));
  }

  private boolean isRefusedToMakePodGroups() {
    try {
      podGroupApi()
          .resource(
              new GenericKubernetesResourceBuilder()
                  .withApiVersion("scheduling.k8s.io/v1alpha2")
                  .withKind("PodGroup")
                  .withNewMetadata()
                  .withName("probe")
                  .endMetadata()
                  .addToAdditionalProperties(
                      "spec", Map.of("schedulingPolicy", Map.of("gang", Map.of("minCount", 2))))
                  .build())
          .dryRun()
          .create();
      return false;
    } catch (KubernetesClientException e) {
      assertThat(e.getMessage()).contains("not yet");
      return true;
    }
  }

  private NonNamespaceOperation<
          GenericKubernetesResource,
          GenericKubernetesResourceList,
          Resource<GenericKubernetesResource>>
      podGroupApi() {
    return cluster
        .client()
        .genericKubernetesResources("scheduling.k8s.io/v1alpha2", "PodGroup")
        .inNamespace(cluster.namespace());
  }

  private List<JsonNode> podGroups() {
    return podGroupApi().list().getItems().stream()
        .map(each -> jobs.get(POD_GROUP, each.getMetadata().getName()))
        .toList();
  }

  private static String uid(JsonNode object) {
    return object.at("/metadata/uid").asText();
  }

  private static String name(JsonNode object) {
    return object.at("/metadata/name").asText();
  }

  private boolean isSuspended(String job) {
    return api.get("Job", job).at("/spec/suspend").asBoolean();
  }

  /** The pods of a Job that haven't ended and aren't being deleted. */
  private List<JsonNode> pods(String job) {
    return jobs.pods().stream()
        .filter(
            pod ->
                pod.at("/metadata/labels").path("batch.kubernetes.io/job-name").asText().equals(job)
                    && pod.at("/metadata/deletionTimestamp").isMissingNode()
                    && !List.of("Succeeded", "Failed").contains(pod.at("/status/phase").asText()))
        .toList();
  }

  private List<JsonNode> ungrouped(String job) {
    return pods(job).stream()
        .filter(pod -> pod.at("/spec/schedulingGroup").isMissingNode())
        .toList();
  }

  private void awaitPods(String job, int there, int bound) {
    await(there + " pods of " + job + ", " + bound + " bound")
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              assertThat(pods(job)).hasSize(there);
              assertThat(pods(job))
                  .filteredOn(pod -> pod.at("/spec/nodeName").isTextual())
                  .hasSize(bound);
            });
  }

  private void end(JsonNode pod, String phase) {
    jobs.patchStatus(POD, name(pod), "{'status': {'phase': '" + phase + "'}}");
  }

  private void node(String stem, int cpus) {
    cluster.createNodes(
        NodeGroup.plentiful(cluster.name(stem), 1)
            .withCapacity("cpu", Integer.toString(cpus))
            .withLabel("pool", cluster.name("gang")));
  }

  /** A Job of four pods that are bound together. */
  private void submitGang(String job) {
    api.submit(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: %s
          labels: {kueue.x-k8s.io/queue-name: gangs}
          annotations: {kueue.x-k8s.io/was-podgroup: "true"}
        spec:
          parallelism: 4
          completions: 4
          template:
            metadata: {annotations: {sluice.dev/run-for: 60m}}
            spec:
              restartPolicy: Never
              containers:
              - {name: main, image: none, resources: {requests: {cpu: 1}}}
        """
            .formatted(job));
  }

  private OperatorProcess start() {
    return OperatorProcess.start(
            "features", cluster.kubeconfig(), settings, Path.of("target", "operators"), List.of())
        .awaitReady();
  }

  private OperatorProcess restarted(OperatorProcess operator) {
    operator.kill();
    return start();
  }

  private String usage(String workload) {
    return api.get("Workload", workload)
        .at("/status/admission/podSetAssignments/0/resourceUsage")
        .toString();
  }

  /** Another controller tells the capacity that the queue's quota follows. */
  private void tell(int cpu) {
    jobs.patchStatus(
        PROVIDER,
        cluster.name("cp"),
        """
        {'status': {
          'capacity': {'flavors': [{'name': '%s', 'resources': {'cpu': '%d'}}]},
          'conditions': [{'type': 'CapacitySynchronized', 'status': 'True', 'reason': 'Synchronized',
            'message': '', 'lastTransitionTime': '2026-01-01T00:00:00Z'}]}}
        """
            .formatted(cluster.name("any"), cpu));
  }

  private void awaitQuota(String cpu) {
    await("a quota of " + cpu)
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              JsonNode quotas = jobs.get(CLUSTER_QUEUE, cluster.name("grows")).at("/status");
              assertThat(
                      quotas
                          .at(
                              "/effectiveQuotas/resourceGroups/0/flavors/0/resources/0/nominalQuota")
                          .asText())
                  .isEqualTo(cpu);
            });
  }

  private void queue(String name, String flavor, String resources, String fields) {
    String quotas =
        List.of(resources.split(", ")).stream()
            .map(
                resource ->
                    "{name: %s, nominalQuota: %d}"
                        .formatted(resource, resource.equals("cpu") ? 8 : 2))
            .collect(Collectors.joining(", "));
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "%1$s-${suffix}"}
        spec:
          namespaceSelector: {}
          %5$s
          resourceGroups:
          - coveredResources: [%3$s]
            flavors: [{name: "%2$s-${suffix}", resources: [%4$s]}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: %1$s, namespace: "${namespace}"}
        spec: {clusterQueue: "%1$s-${suffix}"}
        """
            .formatted(name, flavor, resources, quotas, fields));
  }

  /** A Job of pods with a CPU each, and two devices if it says so. */
  private void submit(String job, String queue, int pods, boolean devices) {
    api.submit(
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: %1$s, labels: {kueue.x-k8s.io/queue-name: %2$s}}
        spec:
          parallelism: %3$d
          completions: %3$d
          template:
            metadata: {annotations: {sluice.dev/run-for: 60m}}
            spec:
              restartPolicy: Never
              resourceClaims: [%4$s]
              containers:
              - {name: main, image: none, resources: {requests: {cpu: 1}%5$s}}
        """
            .formatted(
                job,
                queue,
                pods,
                devices ? "{name: gpu, resourceClaimTemplateName: two-gpus}" : "",
                devices ? ", claims: [{name: gpu}]" : ""));
  }
}
