package dev.sluice.checks.multikueue.sync;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.checks.multikueue.fencing.FenceAnnotations;
import dev.sluice.checks.multikueue.fencing.FenceTimeouts;
import dev.sluice.checks.multikueue.remote.ConnectionContext;
import dev.sluice.checks.multikueue.remote.RemoteConnections;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells each connected worker that has something of ours, again and again, that this manager is
 * there. What a worker stops that isn't told so for too long, see {@link
 * dev.sluice.checks.multikueue.fencing}. A worker that doesn't let itself be told fences nothing.
 */
public final class LeaseHeartbeat {

  private static final Logger LOG = LoggerFactory.getLogger(LeaseHeartbeat.class);
  private static final DateTimeFormatter MICROS =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);
  private static final Duration REFUSED = Duration.ofMinutes(1);
  private static final long USUAL_GRACE_SECONDS = 30;

  private final Fence fence;
  private final String origin;
  private final RemoteClients remoteClients;
  private final RemoteConnections links;
  private final ConnectionContext connectionContext;
  private final BooleanSupplier active;
  private final Map<String, Answer> answers = new ConcurrentHashMap<>();
  private final Set<String> underWay = ConcurrentHashMap.newKeySet();

  /**
   * What is told.
   *
   * @param terms how often, and what follows from silence
   * @param namespace of the operators in workers
   * @param holder this process
   * @param clock is never set
   */
  public record Fence(FenceTimeouts terms, String namespace, String holder, InstantSource clock) {}

  /** The last answer of a worker. */
  private record Answer(RemoteClient worker, Instant at, boolean taken) {}

  LeaseHeartbeat(
      Fence fence,
      String origin,
      RemoteClients remoteClients,
      RemoteConnections links,
      ConnectionContext connectionContext,
      BooleanSupplier active) {
    this.fence = fence;
    this.origin = origin;
    this.remoteClients = remoteClients;
    this.links = links;
    this.connectionContext = connectionContext;
    this.active = active;
  }

  /** Begins; it goes on as long as it is active. */
  void start() {
    if (!fence.terms().fences() || !active.getAsBoolean()) {
      return;
    }
    for (Map.Entry<String, Boolean> link : links.connected().entrySet()) {
      String cluster = link.getKey();
      boolean used = links.workloads(cluster).filter(it -> !it.all().isEmpty()).isPresent();
      if (link.getValue() && used && underWay.add(cluster)) {
        connectionContext.io().execute(() -> renew(cluster));
      }
    }
    connectionContext.delays().after(fence.terms().renewEvery(), this::start);
  }

  private void renew(String cluster) {
    try {
      RemoteClient worker = remoteClients.of(cluster);
      if (!refusedLately(cluster, worker)) {
        boolean taken = renewIn(cluster, worker);
        LOG.debug("cluster={} lease=renewed taken={}", cluster, taken);
      }
    } catch (IOException e) {
      LOG.info("cluster={} lease=unknown reason=\"{}\"", cluster, e.toString());
    } finally {
      underWay.remove(cluster);
    }
  }

  /**
   * What the copy of a Workload has to say so that it is fenced; a renewal was answered right
   * before. Empty if the worker fences nothing.
   */
  Optional<Duration> stopAfter(String cluster, RemoteClient worker, JsonNode workload)
      throws IOException {
    if (!fence.terms().fences()) {
      return Optional.empty();
    }
    Answer last = answers.get(cluster);
    boolean fresh =
        last != null
            && last.worker() == worker
            && last.taken()
            && fence.clock().instant().isBefore(last.at().plus(fence.terms().renewEvery()));
    boolean fences = fresh || (!refusedLately(cluster, worker) && renewIn(cluster, worker));
    return fences ? Optional.of(fence.terms().stopAfter(grace(workload))) : Optional.empty();
  }

  private boolean refusedLately(String cluster, RemoteClient worker) {
    Answer last = answers.get(cluster);
    return last != null
        && last.worker() == worker
        && !last.taken()
        && fence.clock().instant().isBefore(last.at().plus(REFUSED));
  }

  private static Duration grace(JsonNode workload) {
    long seconds = 0;
    for (JsonNode podSet : workload.path("spec").path("podSets")) {
      JsonNode pods = podSet.path("template").path("spec");
      seconds =
          Math.max(seconds, pods.path("terminationGracePeriodSeconds").asLong(USUAL_GRACE_SECONDS));
    }
    return Duration.ofSeconds(seconds);
  }

  private boolean renewIn(String cluster, RemoteClient worker) throws IOException {
    Instant sent = fence.clock().instant();
    boolean taken = true;
    try {
      write(worker, sent);
    } catch (RemoteClient.RefusedException e) {
      taken = false;
      LOG.warn("cluster={} fenced=false reason=\"{}\"", cluster, e.getMessage());
    }
    answers.put(cluster, new Answer(worker, sent, taken));
    return taken;
  }

  private void write(RemoteClient worker, Instant sent) throws IOException {
    String collection = "apis/coordination.k8s.io/v1/namespaces/" + fence.namespace() + "/leases";
    String path = collection + "/" + FenceAnnotations.lease(origin);
    ObjectNode lease = lease(sent);
    if (worker.patch(path, lease).isEmpty()) {
      lease.put("apiVersion", "coordination.k8s.io/v1").put("kind", "Lease");
      if (!worker.create(collection, lease) && worker.patch(path, lease(sent)).isEmpty()) {
        throw new IOException("the lease is neither there nor can it be made");
      }
    }
  }

  private ObjectNode lease(Instant sent) {
    ObjectNode lease = JsonNodeFactory.instance.objectNode();
    ObjectNode metadata = lease.putObject("metadata");
    metadata.put("name", FenceAnnotations.lease(origin)).put("namespace", fence.namespace());
    metadata.putObject("labels").put(FenceAnnotations.ORIGIN, origin);
    lease
        .putObject("spec")
        .put("holderIdentity", fence.holder())
        .put("leaseDurationSeconds", Math.max(1, fence.terms().lostTimeout().toSeconds()))
        .put("renewTime", MICROS.format(sent));
    return lease;
  }
}
