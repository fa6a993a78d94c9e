package dev.sluice.accounting;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ApiRequest;
import dev.sluice.kube.client.Futures;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;

/** Reads pods anew, so that nobody is stopped for what a late watch tells. */
public final class FreshPods {

  /** Pods that have ended are left out by the API server. */
  private static final String LIVING =
      "/pods?fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed";

  private final ApiClient client;
  private final PodRecordParser parser;
  private final Map<String, SharedList> lists = new ConcurrentHashMap<>();

  /**
   * The lists of a namespace: one is read at a time, and whoever asks meanwhile gets the next one,
   * which begins after all of them asked.
   */
  private static final class SharedList {
    private final ReentrantLock reading = new ReentrantLock();
    private final AtomicReference<CompletableFuture<Map<UUID, PodRecord>>> next =
        new AtomicReference<>();
  }

  /** Over the connections of this client. */
  public FreshPods(ApiClient client, PodRecordParser parser) {
    this.client = client;
    this.parser = parser;
  }

  /**
   * Those of some pods of a namespace that have not ended, as they are now.
   *
   * @throws IllegalStateException if the API server doesn't answer, or refuses
   */
  public List<PodRecord> of(String namespace, List<PodRecord> known) throws InterruptedException {
    Map<UUID, PodRecord> now = living(namespace);
    return known.stream()
        .filter(pod -> now.containsKey(pod.uid()))
        .map(pod -> now.getOrDefault(pod.uid(), pod).after(pod))
        .filter(PodRecord::runs)
        .toList();
  }

  /**
   * The pods of a namespace that have not ended, by UID, read after this was called.
   *
   * @throws IllegalStateException if the API server doesn't answer, or refuses
   */
  public Map<UUID, PodRecord> living(String namespace) throws InterruptedException {
    SharedList list = lists.computeIfAbsent(namespace, any -> new SharedList());
    CompletableFuture<Map<UUID, PodRecord>> mine = new CompletableFuture<>();
    CompletableFuture<Map<UUID, PodRecord>> others = list.next.compareAndExchange(null, mine);
    if (others != null) {
      return Futures.forResult(others);
    }
    list.reading.lockInterruptibly();
    try {
      list.next.set(null);
      Map<UUID, PodRecord> found = read(namespace);
      mine.complete(found);
      return found;
    } catch (RuntimeException e) {
      mine.completeExceptionally(e);
      throw e;
    } finally {
      // Whoever shares the list doesn't wait for a thread that was interrupted.
      list.next.compareAndSet(mine, null);
      mine.cancel(false);
      list.reading.unlock();
    }
  }

  /**
   * The pods of a namespace that are ready, and have been since before a moment; by UID.
   *
   * @throws IllegalStateException if the API server doesn't answer, or refuses
   */
  Set<UUID> readyBefore(String namespace, Instant moment) throws InterruptedException {
    Set<UUID> ready = new HashSet<>();
    for (JsonNode pod : list(namespace)) {
      for (JsonNode condition : pod.path("status").path("conditions")) {
        if (condition.path("type").asText().equals("Ready")
            && condition.path("status").asText().equals("True")
            && JsonFields.time(condition.path("lastTransitionTime"))
                .filter(moment::isAfter)
                .isPresent()) {
          ready.add(parser.of(pod).uid());
        }
      }
    }
    return ready;
  }

  private Map<UUID, PodRecord> read(String namespace) throws InterruptedException {
    Map<UUID, PodRecord> now = new HashMap<>();
    for (JsonNode pod : list(namespace)) {
      if (!PodRecordParser.ended(pod)) {
        PodRecord version = parser.of(pod);
        now.put(version.uid(), version);
      }
    }
    return now;
  }

  private JsonNode list(String namespace) throws InterruptedException {
    ApiOutcome outcome =
        Futures.forResult(client.send(ApiRequest.get("/api/v1/namespaces/" + namespace + LIVING)));
    if (!(outcome instanceof ApiOutcome.Written listed)) {
      throw new IllegalStateException("pods of namespace " + namespace + " not read: " + outcome);
    }
    return listed.object().path("items");
  }
}
