package dev.sluice.checks.multikueue;

import static dev.sluice.testing.MultiCluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.metrics.MetricsPage;
import dev.sluice.testing.ManagerAndWorkers;
import dev.sluice.testing.MultiCluster;
import dev.sluice.testing.MultiClusterTest;
import dev.sluice.testing.Workload;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.batch.v1.JobStatus;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Jobs of the scenario of many clusters: one manager, two workers, an operator in each. */
@MultiClusterTest
@Tag("scenario")
class MultiClusterIT {

  private static final Set<String> OWN_LABELS =
      Set.of(
          "controller-uid",
          "batch.kubernetes.io/controller-uid",
          "job-name",
          "batch.kubernetes.io/job-name");

  private final Map<String, Seen> seen = new TreeMap<>();
  private final List<AutoCloseable> watches = new ArrayList<>();

  @SuppressWarnings("NullAway.Init") // made before each test
  private MultiCluster clusters;

  /** The last status of each job that was seen in a cluster. */
  private static final class Seen implements ResourceEventHandler<Job> {
    private final Map<String, Job> jobs = new ConcurrentHashMap<>();
    private final Set<String> active = ConcurrentHashMap.newKeySet();

    @Override
    public void onAdd(Job job) {
      note(job);
    }

    @Override
    public void onUpdate(Job before, Job after) {
      note(after);
    }

    @Override
    public void onDelete(Job job, boolean unknown) {
      note(job);
    }

    private void note(Job job) {
      jobs.put(job.getMetadata().getName(), job);
      JobStatus status = job.getStatus();
      if (status != null && status.getActive() != null && status.getActive() > 0) {
        active.add(job.getMetadata().getName());
      }
    }
  }

  @BeforeEach
  void setUp(MultiCluster share) {
    clusters = share.setUp();
    ManagerAndWorkers.WORKERS.forEach(name -> watch(name, clusters.worker(name)));
    watch("manager", clusters.manager());
  }

  private void watch(String name, KubernetesClient client) {
    Seen jobs = new Seen();
    seen.put(name, jobs);
    watches.add(client.batch().v1().jobs().inNamespace(clusters.namespace()).inform(jobs));
  }

  @AfterEach
  void stop() throws Exception {
    for (AutoCloseable each : watches) {
      each.close();
    }
  }

  private Seen seen(String name) {
    return Objects.requireNonNull(seen.get(name), name);
  }

  /** The clusters in which the job ever had pods. */
  private List<String> ranIn(String name) {
    return ManagerAndWorkers.WORKERS.stream()
        .filter(each -> seen(each).active.contains(name))
        .toList();
  }

  @ParameterizedTest
  @CsvSource({
    "01-small.yaml, small, 2, onsite remote",
    "02-large.yaml, too-big-for-site, 16, remote",
    "03-gpu.yaml, needs-gpus, 2, remote"
  })
  void jobsRunWholeWhereThereIsRoomAndNothingOfThemIsLeft(
      String file, String name, int pods, String allowed) {
    clusters.apply(clusters.manager(), clusters.scenario("jobs/" + file));

    clusters.awaitComplete(name, pods);
    assertThat(ranIn(name)).hasSize(1).isSubsetOf(allowed.split(" "));
    assertThat(seen("manager").active).contains(name);
    eventually(
        () ->
            assertThat(clusters.job(name).getStatus())
                .isEqualTo(
                    Objects.requireNonNull(seen(ranIn(name).getFirst()).jobs.get(name))
                        .getStatus()));
    assertThat(clusters.manager().pods().inNamespace(clusters.namespace()).list().getItems())
        .isEmpty();
    clusters.awaitNothingLeft(name);
  }

  @Test
  void aJobThatIsSentBackHereStopsThereAndRunsAgainWhenItMay() {
    clusters.apply(
        clusters.manager(),
        clusters
            .scenario("jobs/01-small.yaml")
            .replace("name: small", "name: paused")
            .replace(
                "  template:\n",
                "  template:\n    metadata: {annotations: {sluice.dev/run-for: 10m}}\n"));
    eventually(() -> assertThat(clusters.job("paused").getStatus().getActive()).isEqualTo(2));

    clusters.activate("paused", false);

    eventually(
        () -> {
          assertThat(clusters.job("paused").getSpec().getSuspend()).isTrue();
          assertThat(clusters.job("paused").getStatus().getActive()).isNull();
          assertThat(clusters.workload("paused").getStatus().admission()).isNull();
        });
    clusters.awaitNothingLeft("paused");

    clusters.activate("paused", true);
    eventually(() -> assertThat(clusters.job("paused").getStatus().getActive()).isEqualTo(2));
    clusters.endPods(clusters.worker(clusters.cluster("paused")), "job-name", "paused");
    clusters.awaitComplete("paused", 2);
    clusters.awaitNothingLeft("paused");
  }

  private static String queue(String name, String nodeLabels, String more) {
    return """
    apiVersion: kueue.x-k8s.io/v1beta2
    kind: ResourceFlavor
    metadata: {name: "%1$s-${suffix}"}
    spec: {nodeLabels: {%2$s}}
    ---
    apiVersion: kueue.x-k8s.io/v1beta2
    kind: ClusterQueue
    metadata: {name: "%1$s-${suffix}"}
    spec:
      namespaceSelector: {}
      resourceGroups:
      - coveredResources: ["cpu", "memory"]
        flavors:
        - name: "%1$s-${suffix}"
          resources: [{name: cpu, nominalQuota: 4}, {name: memory, nominalQuota: 16Gi}]
      %3$s
    ---
    apiVersion: kueue.x-k8s.io/v1beta2
    kind: LocalQueue
    metadata: {name: renamed, namespace: "${namespace}"}
    spec: {clusterQueue: "%1$s-${suffix}"}
    """
        .formatted(name, nodeLabels, more);
  }

  /** As while the worker's operator restarts, whose webhooks must not be passed over. */
  private List<HasMetadata> webhookThatIsDown(KubernetesClient worker) {
    List<HasMetadata> webhook =
        clusters.apply(
            worker,
            """
            apiVersion: admissionregistration.k8s.io/v1
            kind: ValidatingWebhookConfiguration
            metadata: {name: "down-${suffix}"}
            webhooks:
            - name: down.example.org
              clientConfig: {url: "https://127.0.0.1:1/"}
              rules:
              - {apiGroups: [batch], apiVersions: [v1], operations: [CREATE], resources: [jobs]}
              namespaceSelector:
                matchLabels: {kubernetes.io/metadata.name: "${namespace}"}
              failurePolicy: Fail
              sideEffects: None
              admissionReviewVersions: [v1]
            """);
    Job job =
        worker
            .getKubernetesSerialization()
            .unmarshal(clusters.scenario("jobs/01-small.yaml"), Job.class);
    eventually(
        () ->
            assertThatThrownBy(() -> worker.resource(job).dryRun().create())
                .hasMessageContaining("down.example.org"));
    return webhook;
  }

  /** The manager's Job is started meanwhile; its queue and flavor aren't those of the worker. */
  @Test
  void aJobThatIsMadeThereAtALaterAttemptRunsByTheQueueOfItsWorker() {
    KubernetesClient onsite = clusters.worker(ManagerAndWorkers.ONSITE);
    String onNodes = "kubernetes.io/os";
    clusters.apply(onsite, queue("there", onNodes + ": linux", ""));
    clusters.apply(
        clusters.manager(),
        queue(
            "sent",
            "type: none, " + onNodes + ": none",
            "admissionChecksStrategy: {admissionChecks: [{name: \"clusters-${suffix}\"}]}"));
    List<HasMetadata> webhook = webhookThatIsDown(onsite);
    clusters.apply(
        clusters.manager(),
        clusters
            .scenario("jobs/01-small.yaml")
            .replace("name: small", "name: late")
            .replace("queue-name: analysis", "queue-name: renamed"));
    eventually(
        () -> {
          assertThat(clusters.job("late").getSpec().getSuspend()).isFalse();
          assertThat(clusters.job("late").getSpec().getTemplate().getSpec().getNodeSelector())
              .containsEntry(onNodes, "none");
          assertThat(clusters.cluster("late")).isEqualTo(ManagerAndWorkers.ONSITE);
        });
    assertThat(seen(ManagerAndWorkers.ONSITE).jobs).doesNotContainKey("late");

    webhook.forEach(each -> onsite.resource(each).delete());

    clusters.awaitComplete("late", 2);
    PodTemplateSpec template =
        Objects.requireNonNull(seen(ManagerAndWorkers.ONSITE).jobs.get("late"))
            .getSpec()
            .getTemplate();
    assertThat(template.getSpec().getNodeSelector()).isEqualTo(Map.of(onNodes, "linux"));
    assertThat(template.getMetadata().getLabels())
        .containsEntry("kueue.x-k8s.io/cluster-queue-name", clusters.name("there"));
    clusters.awaitNothingLeft("late");
  }

  private void scale(int pods) {
    clusters
        .manager()
        .batch()
        .v1()
        .jobs()
        .inNamespace(clusters.namespace())
        .withName("grows")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"spec\": {\"parallelism\": %d}}".formatted(pods));
  }

  /** The slices of the elastic job that have not ended, by the pods that each is for. */
  private List<Integer> slices(KubernetesClient client) {
    return client
        .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "Workload")
        .inNamespace(clusters.namespace())
        .list()
        .getItems()
        .stream()
        .filter(it -> !String.valueOf((Object) it.get("status")).contains("type=Finished"))
        .map(it -> (Integer) Objects.requireNonNull(it.get("spec", "podSets", 0, "count")))
        .toList();
  }

  private void awaitSize(KubernetesClient worker, int pods) {
    eventually(
        () -> {
          assertThat(
                  worker.pods().inNamespace(clusters.namespace()).list().getItems().stream()
                      .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
                      .filter(pod -> pod.getSpec().getSchedulingGates().isEmpty())
                      .filter(pod -> "Running".equals(pod.getStatus().getPhase())))
              .hasSize(pods);
          assertThat(clusters.job("grows").getStatus().getActive()).isEqualTo(pods);
          assertThat(slices(worker)).containsExactly(pods);
          assertThat(slices(clusters.manager())).containsExactly(pods);
        });
  }

  @Test
  void theWorkerFollowsTheSizeOfAnElasticJob() {
    clusters.apply(
        clusters.manager(),
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: grows
          namespace: "${namespace}"
          labels: {kueue.x-k8s.io/queue-name: analysis}
          annotations: {kueue.x-k8s.io/elastic-job: "true"}
        spec:
          parallelism: 1
          completions: 100
          template:
            metadata: {annotations: {sluice.dev/run-for: 10m}}
            spec:
              restartPolicy: Never
              containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """);
    eventually(() -> assertThat(clusters.job("grows").getStatus().getActive()).isEqualTo(1));
    String cluster = clusters.cluster("grows");
    KubernetesClient worker = clusters.worker(cluster);
    String uid = there(worker).getMetadata().getUid();

    scale(3);
    awaitSize(worker, 3);
    assertThat(seen(MultiCluster.other(cluster)).active).doesNotContain("grows");
    scale(4);
    awaitSize(worker, 4);
    // more than any worker has: the slice waits there, and the others run on
    scale(66);
    eventually(
        () -> {
          assertThat(slices(worker)).containsExactlyInAnyOrder(4, 66);
          assertThat(slices(clusters.manager())).containsExactlyInAnyOrder(4, 66);
          assertThat(places(66)).isEqualTo(cluster + " null");
          assertThat(places(4)).isEqualTo(cluster + " null");
        });
    assertThat(there(worker).getMetadata().getUid()).as("never stopped").isEqualTo(uid);
    scale(4);
    awaitSize(worker, 4);
    scale(2);
    awaitSize(worker, 2);
    assertThat(there(worker).getMetadata().getUid()).as("never stopped").isEqualTo(uid);
    eventually(() -> assertThat(clusters.job("grows").getStatus().getTerminating()).isIn(null, 0));

    clusters.manager().resource(clusters.job("grows")).delete();
    eventually(
        () -> {
          assertThat(worker.batch().v1().jobs().inNamespace(clusters.namespace()).list().getItems())
              .isEmpty();
          assertThat(slices(worker)).isEmpty();
          assertThat(slices(clusters.manager())).isEmpty();
        });
  }

  /** The cluster of the manager's slice for so many pods, and the nominated ones. */
  private String places(int pods) {
    return clusters
        .manager()
        .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "Workload")
        .inNamespace(clusters.namespace())
        .list()
        .getItems()
        .stream()
        .filter(it -> it.get("spec", "podSets", 0, "count").equals(pods))
        .filter(it -> !String.valueOf((Object) it.get("status")).contains("type=Finished"))
        .map(
            it ->
                it.get("status", "clusterName")
                    + " "
                    + (Object) it.get("status", "nominatedClusterNames"))
        .findFirst()
        .orElse("");
  }

  private Job there(KubernetesClient worker) {
    return worker.batch().v1().jobs().inNamespace(clusters.namespace()).withName("grows").require();
  }

  @Test
  void metricsOfWorkersAreThoseOfThePage() throws Exception {
    clusters.apply(
        clusters.manager(),
        clusters
            .scenario("jobs/01-small.yaml")
            .replace("name: small", "name: counted")
            .replace(
                "  template:\n",
                "  template:\n    metadata: {annotations: {sluice.dev/run-for: 10m}}\n"));
    eventually(() -> assertThat(clusters.job("counted").getStatus().getActive()).isEqualTo(2));
    clusters
        .worker(clusters.cluster("counted"))
        .resources(Workload.class)
        .inNamespace(clusters.namespace())
        .withName(clusters.workload("counted").getMetadata().getName())
        .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"active\":false}}");

    MetricsPage page = MetricsPage.read();
    String token = clusters.managerMetrics().token();
    eventually(
        () ->
            assertThat(
                    page.differences(
                        clusters.managerMetrics().get(token).body(),
                        "multikueue_",
                        // counted in a worker whose manager falls silent, and of workers that send
                        // too much or what can't be read; MultiKueueMetricsTest
                        Set.of(
                            "multikueue_workloads_fenced_total",
                            "multikueue_cluster_cut_offs_total",
                            "multikueue_unreadable_objects_total")))
                .isEmpty());
  }

  /** Has a worker refuse to delete Jobs and Workloads of this test. */
  private List<HasMetadata> guard(KubernetesClient worker) {
    List<HasMetadata> policy =
        clusters.apply(
            worker,
            """
            apiVersion: admissionregistration.k8s.io/v1
            kind: ValidatingAdmissionPolicy
            metadata: {name: "keep-${suffix}"}
            spec:
              matchConstraints:
                resourceRules:
                - apiGroups: ["batch", "kueue.x-k8s.io"]
                  apiVersions: ["*"]
                  operations: ["DELETE"]
                  resources: ["jobs", "workloads"]
              validations: [{expression: "false", message: "is kept"}]
            ---
            apiVersion: admissionregistration.k8s.io/v1
            kind: ValidatingAdmissionPolicyBinding
            metadata: {name: "keep-${suffix}"}
            spec:
              policyName: "keep-${suffix}"
              validationActions: ["Deny"]
              matchResources:
                namespaceSelector:
                  matchLabels: {kubernetes.io/metadata.name: "${namespace}"}
            """);
    eventually(
        () ->
            assertThatThrownBy(
                    () ->
                        worker
                            .batch()
                            .v1()
                            .jobs()
                            .inNamespace(clusters.namespace())
                            .withName("victim")
                            .dryRun()
                            .delete())
                .hasMessageContaining("is kept"));
    return policy;
  }

  /** Makes a Workload that preempts all others of the worker. */
  private void preempt(KubernetesClient worker, String cpu) {
    worker
        .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "ClusterQueue")
        .withName(clusters.name(MultiCluster.CLUSTER_QUEUE))
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"spec\": {\"preemption\": {\"withinClusterQueue\": \"LowerPriority\"}}}");
    clusters.apply(
        worker,
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata: {name: urgent, namespace: "${namespace}"}
        spec:
          queueName: analysis
          priority: 100
          podSets:
          - name: main
            count: 1
            template:
              spec:
                restartPolicy: Never
                containers: [{name: main, image: none, resources: {requests: {cpu: "%s"}}}]
        """
            .formatted(cpu));
  }

  private static Workload workload(KubernetesClient client, String namespace, String name) {
    return client.resources(Workload.class).inNamespace(namespace).withName(name).require();
  }

  /**
   * The Workload in the worker holds the labels that the manager's API server derived from the
   * Job's uid there, or those of another Job, if it is prebuilt.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aJobThatItsWorkerPreemptsIsRestoredThereAndRunsInTheOther(boolean prebuilt) {
    clusters.apply(
        clusters.manager(),
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata: {name: prebuilt, namespace: "${namespace}"}
        spec:
          queueName: analysis
          active: false
          podSets:
          - name: main
            count: 1
            template:
              metadata:
                labels:
                  controller-uid: 3f0c9f52-0000-4000-8000-000000000001
                  batch.kubernetes.io/controller-uid: 3f0c9f52-0000-4000-8000-000000000001
                  job-name: another
                  batch.kubernetes.io/job-name: another
              spec:
                restartPolicy: Never
                containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        ---
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: victim
          namespace: "${namespace}"
          labels: {kueue.x-k8s.io/queue-name: analysis%s}
        spec:
          suspend: true
          template:
            metadata: {annotations: {sluice.dev/run-for: 10m}}
            spec:
              restartPolicy: Never
              containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
        """
            .formatted(prebuilt ? ", kueue.x-k8s.io/prebuilt-workload-name: prebuilt" : ""));
    if (prebuilt) {
      eventually(() -> clusters.activate("victim", true)); // not before it belongs to the Job
    }
    eventually(() -> assertThat(clusters.job("victim").getStatus().getActive()).isEqualTo(1));
    String cluster = clusters.cluster("victim");
    KubernetesClient worker = clusters.worker(cluster);
    String name = clusters.workload("victim").getMetadata().getName();
    assertThat(name.equals("prebuilt")).isEqualTo(prebuilt);
    Map<String, String> own =
        jobIn(worker).getSpec().getTemplate().getMetadata().getLabels().entrySet().stream()
            .filter(label -> OWN_LABELS.contains(label.getKey()))
            .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    assertThat(own)
        .containsEntry("batch.kubernetes.io/controller-uid", jobIn(worker).getMetadata().getUid());
    List<HasMetadata> policy = guard(worker);

    preempt(worker, cluster.equals(ManagerAndWorkers.ONSITE) ? "4" : "64");

    eventually(
        () -> {
          Job job = jobIn(worker);
          assertThat(job.getSpec().getSuspend()).isTrue();
          assertThat(job.getStatus().getActive()).isNull();
          assertThat(job.getMetadata().getAnnotations())
              .doesNotContainKey("kueue.x-k8s.io/stopping");
          assertThat(job.getSpec().getTemplate().getMetadata().getLabels()).isEqualTo(own);
          assertThat(workload(worker, clusters.namespace(), name).getStatus().admission()).isNull();
          Workload urgent = workload(worker, clusters.namespace(), "urgent");
          assertThat(urgent.getStatus()).isNotNull();
          assertThat(urgent.getStatus().admission()).isNotNull();
        });

    policy.reversed().forEach(each -> worker.resource(each).delete());
    eventually(
        () -> {
          assertThat(clusters.cluster("victim")).isEqualTo(MultiCluster.other(cluster));
          assertThat(clusters.job("victim").getStatus().getActive()).isEqualTo(1);
        });
    clusters.endPods(clusters.worker(MultiCluster.other(cluster)), "job-name", "victim");
    clusters.awaitComplete("victim", 1);
    clusters.awaitNothingLeft("victim");
  }

  private Job jobIn(KubernetesClient client) {
    return client
        .batch()
        .v1()
        .jobs()
        .inNamespace(clusters.namespace())
        .withName("victim")
        .require();
  }
}
