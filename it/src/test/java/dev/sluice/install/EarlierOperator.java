package dev.sluice.install;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.policy.WorkloadFactory.WorkloadNames;
import dev.sluice.kube.certificates.CertificateAuthority;
import dev.sluice.kube.certificates.Pem;
import dev.sluice.lab.audit.AuditedKind;
import dev.sluice.testing.TestCluster;
import dev.sluice.webhooks.registration.WebhookRegistration;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * What an operator of the same API leaves behind when its process is gone: definitions,
 * registrations, a lease that nobody gave up, and Jobs with their Workloads, as the API describes
 * them. No operator takes part in making it.
 */
final class EarlierOperator {

  /** Who held the lease. */
  static final String HOLDER = "kueue-controller-manager-6c9f8b7d5-x2x9k_1f3c7a52";

  /** The priority classes of its users, with their values. */
  static final Map<String, Integer> CLASSES = Map.of("low", -10, "usual", 100, "urgent", 1000);

  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

  private final TestCluster cluster;
  private final KubernetesClient client;
  private final KubernetesSerialization serialization = new KubernetesSerialization();
  private final ObjectMapper json = new ObjectMapper();
  private final String now = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();

  EarlierOperator(TestCluster cluster) {
    this.cluster = cluster;
    this.client = cluster.client();
  }

  /** Its definitions and queues: a pool of so many CPUs, on nodes with a label. */
  void definitionsAndQueues(int cpus) throws Exception {
    String trust = authority();
    try (Stream<Path> files = Files.list(Path.of("crds"))) {
      for (Path file : files.sorted().toList()) {
        CustomResourceDefinition definition =
            serialization.unmarshal(Files.readString(file), CustomResourceDefinition.class);
        var conversion = definition.getSpec().getConversion();
        if (conversion != null && conversion.getWebhook() != null) {
          conversion.getWebhook().getClientConfig().setCaBundle(trust);
        }
        client.resource(definition).create();
      }
    }
    new ServerSideApply(client).awaitDefinitions();
    queues(cpus);
  }

  /** Its queues alone: a pool of so many CPUs, on nodes with a label. */
  void queues(int cpus) {
    CLASSES.forEach(
        (name, value) ->
            cluster.applyText(
                """
                apiVersion: kueue.x-k8s.io/v1beta2
                kind: WorkloadPriorityClass
                metadata: {name: %s}
                value: %d
                """
                    .formatted(name, value)));
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: spot, finalizers: [kueue.x-k8s.io/resource-in-use]}
        spec: {nodeLabels: {pool: spot}}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: pool, finalizers: [kueue.x-k8s.io/resource-in-use]}
        spec:
          namespaceSelector: {}
          resourceGroups:
          - coveredResources: [cpu]
            flavors:
            - {name: spot, resources: [{name: cpu, nominalQuota: %d}]}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: main}
        spec: {clusterQueue: pool}
        """
            .formatted(cpus));
  }

  /** Its registrations, which know nothing of pods/resize, its certificate and its lease. */
  void registrationsAndLease() throws Exception {
    String trust = authority();
    client
        .resource(
            new NamespaceBuilder()
                .withNewMetadata()
                .withName(InstallManifests.NAMESPACE)
                .endMetadata()
                .build())
        .create();
    client
        .resource(
            new LeaseBuilder()
                .withNewMetadata()
                .withName("c1f6bfd2.kueue.x-k8s.io")
                .withNamespace(InstallManifests.NAMESPACE)
                .endMetadata()
                .withNewSpec()
                .withHolderIdentity(HOLDER)
                .withLeaseDurationSeconds(15)
                .withLeaseTransitions(3)
                .withRenewTime(ZonedDateTime.now(ZoneOffset.UTC))
                .withAcquireTime(ZonedDateTime.now(ZoneOffset.UTC))
                .endSpec()
                .build())
        .create();
    cluster.applyText(
        """
        apiVersion: v1
        kind: Secret
        metadata: {name: kueue-webhook-server-cert, namespace: kueue-system}
        data: {ca.crt: "%s", ca.key: "", tls.crt: "%s", tls.key: ""}
        """
            .formatted(trust, trust));
    String service = "kueue-webhook-service";
    List<HasMetadata> registrations =
        InstallManifests.webhooks(
            WebhookRegistration.shipped(
                InstallManifests.NAMESPACE,
                service,
                InstallManifests.user(InstallManifests.NAMESPACE)));
    for (HasMetadata registration : registrations) {
      JsonNode text =
          json.readTree(serialization.asJson(registration).replace(",\"pods/resize\"", ""));
      text.path("webhooks")
          .forEach(webhook -> ((ObjectNode) webhook.path("clientConfig")).put("caBundle", trust));
      client.resource(text.toString()).create();
    }
  }

  private static String authority() throws Exception {
    var authority =
        new CertificateAuthority(InstantSource.system(), new SecureRandom())
            .authority(Duration.ofDays(365));
    return Base64.getEncoder()
        .encodeToString(
            Pem.certificates(List.of(authority.certificate())).getBytes(StandardCharsets.US_ASCII));
  }

  /** A Job of one CPU that waits, with its Workload. */
  void pending(String name, String priorityClass) throws IOException {
    pending(job(name, priorityClass, "1h"), "{\"cpu\": \"1\"}");
  }

  /** The same of a Job that is there, whose pods request this together. */
  void pending(Job job, String requests) throws IOException {
    workload(job, true);
    status(
        workloadName(job),
        """
        {"conditions": [{"type": "QuotaReserved", "status": "False", "reason": "Pending",
          "message": "couldn't assign flavors to pod set main: insufficient unused quota",
          "lastTransitionTime": "NOW", "observedGeneration": 1}],
         "resourceRequests": [{"name": "main", "resources": %s}]}
        """
            .formatted(requests));
  }

  /** One that was admitted and runs so long: its pods have the node selector of the flavor. */
  void running(String name, String priorityClass, String runsFor) throws IOException {
    running(job(name, priorityClass, runsFor), "pool", "{\"cpu\": \"1\"}");
  }

  /** The same of a Job that is there: the ClusterQueue, and what is charged of flavor spot. */
  void running(Job job, String clusterQueue, String usage) throws IOException {
    workload(job, true);
    status(
        workloadName(job),
        """
        {"conditions": [
          {"type": "QuotaReserved", "status": "True", "reason": "QuotaReserved",
           "message": "Quota reserved in ClusterQueue %1$s", "lastTransitionTime": "NOW",
           "observedGeneration": 1},
          {"type": "Admitted", "status": "True", "reason": "Admitted",
           "message": "The workload is admitted", "lastTransitionTime": "NOW",
           "observedGeneration": 1}],
         "admission": {"clusterQueue": "%1$s", "podSetAssignments": [
          {"name": "main", "count": %2$d, "flavors": %3$s, "resourceUsage": %4$s}]}}
        """
            .formatted(
                clusterQueue,
                job.getSpec().getParallelism(),
                usage.replaceAll(": \"[^\"]*\"", ": \"spot\""),
                usage));
    client
        .resource(job)
        .patch(
            MERGE,
            """
            {"spec": {"suspend": false, "template": {
              "metadata": {
                "labels": {"kueue.x-k8s.io/podset": "main",
                  "kueue.x-k8s.io/cluster-queue-name": "%s",
                  "kueue.x-k8s.io/local-queue-name": "%s"},
                "annotations": {"kueue.x-k8s.io/workload": "%s"}},
              "spec": {"nodeSelector": {"pool": "spot"}}}}}
            """
                .formatted(clusterQueue, queue(job), workloadName(job)));
  }

  /** One that a person has deactivated. */
  void deactivated(String name) throws IOException {
    Job job = job(name, "urgent", "1h");
    workload(job, false);
    status(
        workloadName(job),
        """
        {"conditions": [
          {"type": "QuotaReserved", "status": "False", "reason": "Deactivated",
           "message": "The workload is deactivated", "lastTransitionTime": "NOW",
           "observedGeneration": 1},
          {"type": "Evicted", "status": "True", "reason": "Deactivated",
           "message": "The workload is deactivated", "lastTransitionTime": "NOW",
           "observedGeneration": 1},
          {"type": "Requeued", "status": "False", "reason": "Deactivated",
           "message": "The workload is deactivated", "lastTransitionTime": "NOW",
           "observedGeneration": 1}]}
        """);
  }

  /** One whose pods weren't ready in time; it may queue again in an hour. */
  void backingOff(String name) throws IOException {
    Job job = job(name, "urgent", "1h");
    workload(job, true);
    status(
        workloadName(job),
        """
        {"conditions": [
          {"type": "QuotaReserved", "status": "False", "reason": "PendingEvaluation",
           "message": "Exceeded the PodsReady timeout", "lastTransitionTime": "NOW",
           "observedGeneration": 1},
          {"type": "Evicted", "status": "True", "reason": "PodsReadyTimeout",
           "message": "Exceeded the PodsReady timeout", "lastTransitionTime": "NOW",
           "observedGeneration": 1},
          {"type": "Requeued", "status": "False", "reason": "PodsReadyTimeout",
           "message": "Exceeded the PodsReady timeout", "lastTransitionTime": "NOW",
           "observedGeneration": 1}],
         "requeueState": {"count": 2, "requeueAt": "LATER"},
         "schedulingStats": {"evictions": [
           {"reason": "PodsReadyTimeout", "underlyingCause": "WaitForStart", "count": 2}]}}
        """);
  }

  private Job job(String name, String priorityClass, String runsFor) {
    return (Job)
        cluster
            .applyText(
                """
                apiVersion: batch/v1
                kind: Job
                metadata:
                  name: %s
                  labels:
                    kueue.x-k8s.io/queue-name: main
                    kueue.x-k8s.io/priority-class: %s
                spec:
                  suspend: true
                  template:
                    metadata: {annotations: {sluice.dev/run-for: %s}}
                    spec:
                      restartPolicy: Never
                      terminationGracePeriodSeconds: 1
                      containers:
                      - name: main
                        image: registry.example/test/image:1
                        resources: {requests: {cpu: "1"}}
                """
                    .formatted(name, priorityClass, runsFor))
            .getFirst();
  }

  private static String queue(Job job) {
    return job.getMetadata().getLabels().getOrDefault("kueue.x-k8s.io/queue-name", "");
  }

  private void workload(Job job, boolean active) {
    String priorityClass =
        job.getMetadata().getLabels().getOrDefault("kueue.x-k8s.io/priority-class", "usual");
    Map<String, Object> workload = new TreeMap<>();
    workload.put("apiVersion", "kueue.x-k8s.io/v1beta2");
    workload.put("kind", "Workload");
    workload.put(
        "metadata",
        Map.of(
            "name", workloadName(job),
            "namespace", job.getMetadata().getNamespace(),
            "finalizers", List.of("kueue.x-k8s.io/resource-in-use"),
            "labels", Map.of("kueue.x-k8s.io/job-uid", job.getMetadata().getUid()),
            "ownerReferences",
                List.of(
                    Map.of(
                        "apiVersion",
                        "batch/v1",
                        "kind",
                        "Job",
                        "name",
                        job.getMetadata().getName(),
                        "uid",
                        job.getMetadata().getUid(),
                        "controller",
                        true,
                        "blockOwnerDeletion",
                        true))));
    workload.put(
        "spec",
        Map.of(
            "active", active,
            "queueName", queue(job),
            "priority", CLASSES.get(priorityClass),
            "priorityClassRef",
                Map.of(
                    "group", "kueue.x-k8s.io",
                    "kind", "WorkloadPriorityClass",
                    "name", priorityClass),
            "podSets",
                List.of(
                    Map.of(
                        "name",
                        "main",
                        "count",
                        job.getSpec().getParallelism(),
                        "template",
                        map(job.getSpec().getTemplate())))));
    client.resource(serialization.asJson(workload)).create();
  }

  private void status(String workload, String status) throws IOException {
    String text =
        status
            .replace("NOW", now)
            .replace(
                "LATER",
                Instant.now().plus(Duration.ofHours(1)).truncatedTo(ChronoUnit.SECONDS).toString());
    json.readTree(text);
    client
        .genericKubernetesResources(AuditedKind.WORKLOAD.context())
        .inNamespace(cluster.namespace())
        .withName(workload)
        .subresource("status")
        .patch(MERGE, "{\"status\": " + text + "}");
  }

  /** The name that the API gives to the Workload of a Job. */
  static String workloadName(Job job) {
    return WorkloadNames.of(
        "Job",
        "batch",
        job.getMetadata().getName(),
        job.getMetadata().getUid(),
        "",
        WorkloadNames.LONGEST);
  }

  /** All Workloads of the namespace. */
  List<GenericKubernetesResource> workloads() {
    return client
        .genericKubernetesResources(AuditedKind.WORKLOAD.context())
        .inNamespace(cluster.namespace())
        .list()
        .getItems();
  }

  @SuppressWarnings("unchecked")
  private Map<String, Object> map(Object value) {
    return serialization.convertValue(value, TreeMap.class);
  }
}
