package dev.sluice.endtoend;

import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.batch.v1.JobBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;

/** Many Jobs of one CPU each for one queue, submitted by somebody who doesn't give up. */
final class JobLoad implements AutoCloseable {

  /** Tests that keep all processors busy take turns. */
  static final String PROCESSORS = "processors";

  private static final int AT_A_TIME = 8;
  private static final Duration LIMIT = Duration.ofMinutes(10);

  private final TestCluster cluster;
  private final String namespace;
  private final Duration runFor;
  private final ExecutorService submitters = Executors.newVirtualThreadPerTaskExecutor();
  private final Semaphore permits = new Semaphore(AT_A_TIME);
  private final AtomicInteger submitted = new AtomicInteger();

  /** Each pod runs so long. */
  JobLoad(TestCluster cluster, Duration runFor) {
    this(cluster, cluster.namespace(), runFor);
  }

  /** The same in another namespace, which has a LocalQueue {@code main}. */
  JobLoad(TestCluster cluster, String namespace, Duration runFor) {
    this.cluster = cluster;
    this.namespace = namespace;
    this.runFor = runFor;
  }

  /** Makes the queue, with room for so many of the Jobs at a time. */
  JobLoad withRoomFor(int jobs) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "flavor-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "pool-${suffix}"}
        spec:
          namespaceSelector: {}
          resourceGroups:
          - coveredResources: [cpu]
            flavors:
            - name: "flavor-${suffix}"
              resources: [{name: cpu, nominalQuota: %d}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: main}
        spec: {clusterQueue: "pool-${suffix}"}
        """
            .formatted(jobs));
    return this;
  }

  /** Begins to submit; what fails is tried again until it succeeds. */
  JobLoad submit(int jobs) {
    for (int i = 0; i < jobs; i++) {
      Job job = job("job-" + i);
      submitters.execute(() -> submit(job));
    }
    return this;
  }

  /** Begins to submit one of this name; the same. */
  JobLoad submit(String name) {
    submitters.execute(() -> submit(job(name)));
    return this;
  }

  private void submit(Job job) {
    permits.acquireUninterruptibly();
    try {
      Awaitility.await("submission of " + job.getMetadata().getName())
          .atMost(LIMIT)
          .pollDelay(Duration.ZERO)
          .pollInterval(Duration.ofMillis(200))
          .until(() -> isCreated(job));
      submitted.incrementAndGet();
    } finally {
      permits.release();
    }
  }

  private boolean isCreated(Job job) {
    try {
      client().resource(job).create();
      return true;
    } catch (KubernetesClientException e) {
      return e.getCode() == HttpURLConnection.HTTP_CONFLICT;
    }
  }

  /** A Job of this load that is not submitted. */
  Job job(String name) {
    return new JobBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace(namespace)
        .addToLabels("kueue.x-k8s.io/queue-name", "main")
        .endMetadata()
        .withNewSpec()
        .withNewTemplate()
        .withNewMetadata()
        .addToAnnotations("sluice.dev/run-for", runFor.toMillis() + "ms")
        .endMetadata()
        .withNewSpec()
        .withRestartPolicy("Never")
        .withTerminationGracePeriodSeconds(1L)
        .addNewContainer()
        .withName("main")
        .withImage("registry.example/test/image:1")
        .withNewResources()
        .addToRequests("cpu", new Quantity("1"))
        .endResources()
        .endContainer()
        .endSpec()
        .endTemplate()
        .endSpec()
        .build();
  }

  /** Whether so many Jobs are there and all of them are complete. */
  boolean isComplete(int jobs) {
    if (submitted.get() < jobs) {
      return false;
    }
    try {
      return completed() == jobs;
    } catch (KubernetesClientException e) {
      return false;
    }
  }

  /** How many Jobs are complete now. */
  int completed() {
    return client()
        .batch()
        .v1()
        .jobs()
        .inNamespace(namespace)
        .withField("status.successful", "1")
        .list()
        .getItems()
        .size();
  }

  private KubernetesClient client() {
    return cluster.client();
  }

  @Override
  public void close() {
    submitters.shutdownNow();
    try {
      submitters.awaitTermination(1, TimeUnit.MINUTES);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
