package dev.sluice.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.v1beta2.ClusterQueue;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;

/**
 * One test's share of a manager and its workers: in each of them a namespace of its own, and a
 * suffix that makes names of cluster-wide objects unique. What was made through it is deleted when
 * the test ends.
 */
public final class MultiCluster implements AutoCloseable {

  /** The LocalQueue in each of the clusters. */
  public static final String LOCAL_QUEUE = "analysis";

  /** The stem of the ClusterQueue's name in each of the clusters. */
  public static final String CLUSTER_QUEUE = "everywhere";

  private static final String SCENARIO = "/scenarios/multi-cluster/";
  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

  private final ManagerAndWorkers clusters;
  private final String suffix;
  private final List<Made> made = Collections.synchronizedList(new ArrayList<>());

  private record Made(KubernetesClient client, HasMetadata object) {}

  MultiCluster(ManagerAndWorkers clusters, String suffix) {
    this.clusters = clusters;
    this.suffix = suffix;
  }

  /** Makes the queues of the scenario of many clusters in all clusters, and waits for them. */
  public MultiCluster setUp() {
    ManagerAndWorkers.WORKERS.forEach(this::setUpWorker);
    return setUpManager(scenario("manager/setup.yaml"));
  }

  /** Makes the scenario's queues in a worker, and waits until they are active. */
  public void setUpWorker(String worker) {
    apply(worker(worker), scenario(worker + "/setup.yaml"));
    awaitActive(worker(worker));
  }

  /** Makes queues in the manager, and waits until they are active. */
  public MultiCluster setUpManager(String yaml) {
    apply(manager(), yaml);
    awaitActive(manager());
    return this;
  }

  private void awaitActive(KubernetesClient client) {
    eventually(
        () ->
            assertThat(
                    client
                        .resources(ClusterQueue.class)
                        .withName(name(CLUSTER_QUEUE))
                        .require()
                        .getStatus())
                .isNotNull()
                .satisfies(
                    status ->
                        assertThat(status.conditions())
                            .anySatisfy(
                                condition -> {
                                  assertThat(condition.getType()).isEqualTo("Active");
                                  assertThat(condition.getStatus()).isEqualTo("True");
                                })));
    if (clusters.controllers()) {
      eventually(
          () ->
              assertThat(
                      client.serviceAccounts().inNamespace(namespace()).withName("default").get())
                  .isNotNull());
    }
  }

  /** A file of the scenario of many clusters, with the names of this test. */
  public String scenario(String file) {
    return text(SCENARIO + file)
        .replaceAll("(name|namespace): physics\\b", "$1: " + namespace())
        .replace(": everywhere", ": " + name(CLUSTER_QUEUE))
        .replace("name: default-flavor", "name: " + name("default-flavor"))
        .replace("name: clusters", "name: " + name("clusters"))
        .replaceAll("(?s)---\napiVersion: [^\n]*\nkind: MultiKueueCluster\n.*?(?=---|$)", "");
  }

  /** The text of a file on the class path. */
  public static String text(String resource) {
    try (InputStream in = MultiCluster.class.getResourceAsStream(resource)) {
      if (in == null) {
        throw new IllegalArgumentException("no resource " + resource);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Makes or changes objects; {@code ${namespace}} and {@code ${suffix}} are replaced. They are
   * deleted when the test ends.
   */
  public List<HasMetadata> apply(KubernetesClient client, String yaml) {
    List<HasMetadata> objects =
        applyTo(client, yaml.replace("${namespace}", namespace()).replace("${suffix}", suffix));
    objects.forEach(object -> made.add(new Made(client, object)));
    return objects;
  }

  /** Makes or changes objects that stay. */
  public static List<HasMetadata> applyTo(KubernetesClient client, String yaml) {
    return client
        .load(new ByteArrayInputStream(yaml.getBytes(StandardCharsets.UTF_8)))
        .fieldManager("test")
        .forceConflicts()
        .serverSideApply();
  }

  /** Waits for it; what it looks for may not be there yet. */
  public static void eventually(ThrowingRunnable assertion) {
    Awaitility.await()
        .atMost(LIMIT)
        .ignoreException(NoSuchElementException.class)
        .untilAsserted(assertion);
  }

  /** A client of the manager with all rights; don't close it. */
  public KubernetesClient manager() {
    return clusters.manager();
  }

  /** Where the manager's operator serves its metrics. */
  public MetricsEndpoint managerMetrics() {
    return clusters.managerMetrics();
  }

  /** A client of a worker with all rights; don't close it. */
  public KubernetesClient worker(String name) {
    return clusters.worker(name);
  }

  /** The worker that isn't this one. */
  public static String other(String worker) {
    return worker.equals(ManagerAndWorkers.ONSITE)
        ? ManagerAndWorkers.REMOTE
        : ManagerAndWorkers.ONSITE;
  }

  /** The test's namespace in each of the clusters. */
  public String namespace() {
    return name("physics");
  }

  /** The stem with the test's suffix: a name that no other test uses. */
  public String name(String stem) {
    return stem + "-" + suffix;
  }

  /** The manager's job of this name. */
  public Job job(String name) {
    return manager().batch().v1().jobs().inNamespace(namespace()).withName(name).require();
  }

  /**
   * The manager's Workload of a job, or of a pod.
   *
   * @throws NoSuchElementException if there is none
   */
  public Workload workload(String owner) {
    return manager().resources(Workload.class).inNamespace(namespace()).list().getItems().stream()
        .filter(
            it ->
                it.getMetadata().getOwnerReferences().stream()
                    .anyMatch(reference -> reference.getName().equals(owner)))
        .findFirst()
        .orElseThrow();
  }

  /** The cluster that a job runs in, by what its Workload says; empty while it runs nowhere. */
  public String cluster(String job) {
    return Optional.ofNullable(workload(job).getStatus())
        .flatMap(status -> Optional.ofNullable(status.clusterName()))
        .orElse("");
  }

  /** The message of the first check of a job's Workload; empty while it has none. */
  public String checkMessage(String job) {
    return Optional.ofNullable(workload(job).getStatus()).stream()
        .flatMap(status -> status.checkMessages().stream())
        .findFirst()
        .orElse("");
  }

  /** Switches the Workload of a job, or of a pod, on or off. */
  public void activate(String owner, boolean active) {
    manager().resource(workload(owner)).patch(MERGE, "{\"spec\":{\"active\":" + active + "}}");
  }

  /** Has all pods of a cluster with this label end with success now. */
  public void endPods(KubernetesClient client, String label, String value) {
    client
        .pods()
        .inNamespace(namespace())
        .withLabel(label, value)
        .list()
        .getItems()
        .forEach(pod -> end(client, pod));
  }

  private static void end(KubernetesClient client, Pod pod) {
    try {
      client
          .resource(pod)
          .subresource("status")
          .patch(MERGE, "{\"status\":{\"phase\":\"Succeeded\"}}");
    } catch (KubernetesClientException e) {
      if (e.getCode() != HttpURLConnection.HTTP_NOT_FOUND) {
        throw e;
      }
    }
  }

  /** Waits until the job is complete here, with so many pods. */
  public void awaitComplete(String name, int pods) {
    eventually(
        () ->
            assertThat(job(name).getStatus().getConditions())
                .anySatisfy(
                    condition -> {
                      assertThat(condition.getType()).isEqualTo("Complete");
                      assertThat(condition.getStatus()).isEqualTo("True");
                    }));
    assertThat(job(name).getStatus().getSucceeded()).isEqualTo(pods);
  }

  /** Waits until workers have neither the job nor a pod of it nor its Workload. */
  public void awaitNothingLeft(String job) {
    for (String worker : ManagerAndWorkers.WORKERS) {
      KubernetesClient client = worker(worker);
      eventually(
          () -> {
            assertThat(client.batch().v1().jobs().inNamespace(namespace()).withName(job).get())
                .isNull();
            assertThat(
                    client
                        .resources(Workload.class)
                        .inNamespace(namespace())
                        .withName(workload(job).getMetadata().getName())
                        .get())
                .isNull();
            assertThat(podsOf(client, job)).isZero();
          });
    }
  }

  /** How many pods of a job a cluster has. */
  public int podsOf(KubernetesClient client, String job) {
    return client
        .pods()
        .inNamespace(namespace())
        .withLabel("job-name", job)
        .list()
        .getItems()
        .size();
  }

  /** Deletes what was made, last first, without waiting until it is gone. */
  @Override
  public void close() {
    made.reversed().forEach(each -> each.client().resource(each.object()).delete());
  }
}
