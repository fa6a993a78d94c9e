package dev.sluice.accounting;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.Futures;
import java.io.IOException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Reads pods anew, so that nobody is stopped for what a late watch tells. One pod is read at a
 * time: whoever makes pods says how many there are, and how large.
 */
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
    private final AtomicReference<CompletableFuture<Living>> next = new AtomicReference<>();

    /** Who asks at present; changed only by whoever has the entry of the map. */
    private int users;

    SharedList joined() {
      users++;
      return this;
    }

    /** Whether nobody is left. */
    boolean left() {
      users--;
      return users == 0;
    }
  }

  /**
   * The pods of a namespace that had not ended.
   *
   * @param pods by UID
   * @param readySince since when those are ready that are
   */
  public record Living(Map<UUID, PodRecord> pods, Map<UUID, Instant> readySince) {

    /** Those of some pods that have not ended and run, as they are now. */
    public List<PodRecord> of(List<PodRecord> known) {
      return known.stream()
          .filter(pod -> pods.containsKey(pod.uid()))
          .map(pod -> pods.getOrDefault(pod.uid(), pod).after(pod))
          .filter(PodRecord::runs)
          .toList();
    }

    /** Whether a pod is ready, and has been since before a moment. */
    public boolean wasReadyBefore(PodRecord pod, Instant moment) {
      return readySince.getOrDefault(pod.uid(), moment).isBefore(moment);
    }
  }

  /** Over the connections of this client. */
  public FreshPods(ApiClient client, PodRecordParser parser) {
    this.client = client;
    this.parser = parser;
  }

  /**
   * The pods of a namespace that have not ended, read after this was called.
   *
   * @throws IllegalStateException if the API server doesn't answer, or refuses
   */
  public Living living(String namespace) throws InterruptedException {
    SharedList list =
        lists.compute(
            namespace, (any, known) -> (known == null ? new SharedList() : known).joined());
    try {
      return living(namespace, list);
    } finally {
      lists.computeIfPresent(namespace, (any, same) -> same.left() ? null : same);
    }
  }

  private Living living(String namespace, SharedList list) throws InterruptedException {
    CompletableFuture<Living> mine = new CompletableFuture<>();
    CompletableFuture<Living> others = list.next.compareAndExchange(null, mine);
    if (others != null) {
      // Who waits for too long gives up for itself alone.
      return Futures.forResult(others.copy());
    }
    list.reading.lockInterruptibly();
    try {
      list.next.set(null);
      Living found = read(namespace);
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

  /** Of how many namespaces pods are read at present. */
  int remembered() {
    return lists.size();
  }

  private Living read(String namespace) {
    Map<UUID, PodRecord> pods = new HashMap<>();
    Map<UUID, Instant> readySince = new HashMap<>();
    try {
      client.list(
          "/api/v1/namespaces/" + namespace + LIVING,
          pod -> {
            if (!parser.ended(pod)) {
              PodRecord version = parser.of(pod);
              pods.put(version.uid(), version);
              readySince(pod).ifPresent(since -> readySince.put(version.uid(), since));
            }
          });
    } catch (IOException e) {
      throw new IllegalStateException(
          "pods of namespace " + namespace + " not read: " + e.getMessage(), e);
    }
    return new Living(pods, readySince);
  }

  private static Optional<Instant> readySince(JsonNode pod) {
    for (JsonNode condition : pod.path("status").path("conditions")) {
      if (condition.path("type").asText().equals("Ready")
          && condition.path("status").asText().equals("True")) {
        return JsonFields.time(condition.path("lastTransitionTime"));
      }
    }
    return Optional.empty();
  }
}
