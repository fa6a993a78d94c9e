package dev.sluice.lab.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.lab.bench.BenchmarkFixture.Condition;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * A process that admits every Workload at once with one bare status patch, and does nothing else:
 * no quota, no queues, no events. What a scenario costs with it, no operator can cost less.
 */
public final class Floor {

  private static final int IN_FLIGHT = 32;
  private static final int NOT_FOUND = 404;
  private static final int PAUSE_MILLIS = 100;
  private static final RequestKey ADMISSION =
      new RequestKey("PATCH", BenchmarkTarget.GROUP, "workloads", "status");

  private final BenchmarkApiClient client;
  private final InstantSource clock;
  private final Semaphore slots = new Semaphore(IN_FLIGHT);
  private final Set<String> admitted = ConcurrentHashMap.newKeySet();

  private Floor(BenchmarkApiClient client, InstantSource clock) {
    this.client = client;
    this.clock = clock;
  }

  /** Runs until it is ended; the only argument is the kubeconfig. */
  public static void main(String[] arguments) throws InterruptedException {
    try (BenchmarkApiClient client = new BenchmarkApiClient(Path.of(arguments[0]))) {
      CountDownLatch failed = new CountDownLatch(1);
      Floor floor = new Floor(client, InstantSource.system());
      try (CollectionWatch watch =
          new CollectionWatch(
              client,
              "/apis/" + BenchmarkTarget.GROUP + "/v1beta2/workloads",
              floor::seen,
              failure -> failed.countDown())) {
        watch.start();
        failed.await();
      }
    }
  }

  private void seen(JsonNode workload) {
    JsonNode metadata = workload.path("metadata");
    if (workload.path("status").has("admission") || !admitted.add(metadata.path("uid").asText())) {
      return;
    }
    slots.acquireUninterruptibly();
    admit(
        "/apis/%s/v1beta2/namespaces/%s/workloads/%s/status"
            .formatted(
                BenchmarkTarget.GROUP,
                metadata.path("namespace").asText(),
                metadata.path("name").asText()),
        admission(workload, clock.instant()).toString());
  }

  /** Repeats a write that failed: the Workload isn't seen a second time without a change. */
  private void admit(String path, String patch) {
    var unused =
        client
            .send(ADMISSION, path, patch)
            .whenComplete(
                (answer, failure) -> {
                  if (answer != null && (answer.successful() || answer.code() == NOT_FOUND)) {
                    slots.release();
                  } else {
                    CompletableFuture.delayedExecutor(PAUSE_MILLIS, TimeUnit.MILLISECONDS)
                        .execute(() -> admit(path, patch));
                  }
                });
  }

  /** The least that an admission says. */
  static ObjectNode admission(JsonNode workload, Instant now) {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    ObjectNode status = patch.putObject("status");
    ArrayNode none = JsonNodeFactory.instance.arrayNode();
    ArrayNode reserved = Condition.with(none, "QuotaReserved", true, "QuotaReserved", "", now);
    status.set("conditions", Condition.with(reserved, "Admitted", true, "Admitted", "", now));
    ObjectNode admission = status.putObject("admission");
    admission.put("clusterQueue", workload.at("/spec/queueName").asText());
    ArrayNode podSets = admission.putArray("podSetAssignments");
    workload
        .at("/spec/podSets")
        .forEach(
            podSet ->
                podSets
                    .addObject()
                    .put("name", podSet.path("name").asText("main"))
                    .put("count", podSet.path("count").asInt(1)));
    return patch;
  }
}
