package dev.sluice.checks.multikueue.sync;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.checks.multikueue.fencing.FenceTimeouts;
import dev.sluice.checks.multikueue.fencing.FencingController.FenceAnnotations;
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
 * Renews a Lease in each connected worker that holds remote Workloads of this manager. A worker
 * stops Workloads whose Lease is not renewed in time, see {@link
 * dev.sluice.checks.multikueue.fencing}. A worker that refuses the Lease does not fence.
 */
public final class LeaseHeartbeat {

  private static final Logger LOG = LoggerFactory.getLogger(LeaseHeartbeat.class);
  private static final DateTimeFormatter MICROS =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);
  private static final Duration RETRY_REFUSED_AFTER = Duration.ofMinutes(1);
  private static final long DEFAULT_GRACE_SECONDS = 30;

  private final Fence fence;
  private final String origin;
  private final RemoteClients remoteClients;
  private final RemoteConnections connections;
  private final ConnectionContext connectionContext;
  private final BooleanSupplier active;
  private final Map<String, Answer> answers = new ConcurrentHashMap<>();
  private final Set<String> inProgress = ConcurrentHashMap.newKeySet();

  /**
   * Settings of the Lease.
   *
   * @param timeouts interval of the renewals and the derived timeouts
   * @param namespace namespace of the operators in the workers
   * @param holder identity of this process
   * @param clock must be monotonic
   */
  public record Fence(
      FenceTimeouts timeouts, String namespace, String holder, InstantSource clock) {}

  /**
   * The last response of a worker.
   *
   * @param at time of the response
   * @param taken whether the worker accepted the renewal
   */
  private record Answer(RemoteClient worker, Instant at, boolean taken) {}

  LeaseHeartbeat(
      Fence fence,
      String origin,
      RemoteClients remoteClients,
      RemoteConnections connections,
      ConnectionContext connectionContext,
      BooleanSupplier active) {
    this.fence = fence;
    this.origin = origin;
    this.remoteClients = remoteClients;
    this.connections = connections;
    this.connectionContext = connectionContext;
    this.active = active;
  }

  /** Starts the renewals, which continue while this process is active. */
  void start() {
    if (!fence.timeouts().fences() || !active.getAsBoolean()) {
      return;
    }
    connectionContext.delays().repeat(fence.timeouts().renewEvery(), active, this::renewAll);
    renewAll();
  }

  private void renewAll() {
    for (Map.Entry<String, Boolean> link : connections.connected().entrySet()) {
      String cluster = link.getKey();
      boolean used = connections.workloads(cluster).filter(it -> !it.keys().isEmpty()).isPresent();
      if (link.getValue() && used && inProgress.add(cluster)) {
        connectionContext.io().execute(() -> renew(cluster));
      }
    }
  }

  private void renew(String cluster) {
    try {
      RemoteClient worker = remoteClients.of(cluster);
      if (!refusedRecently(cluster, worker)) {
        boolean taken = renewIn(cluster, worker);
        LOG.debug("cluster={} lease=renewed taken={}", cluster, taken);
      }
    } catch (IOException e) {
      LOG.info("cluster={} lease=unknown reason=\"{}\"", cluster, e.toString());
    } finally {
      inProgress.remove(cluster);
    }
  }

  /**
   * The fence timeout to write into a remote Workload; called right after a successful renewal.
   * Empty if the worker does not fence.
   */
  Optional<Duration> stopAfter(String cluster, RemoteClient worker, JsonNode workload)
      throws IOException {
    if (!fence.timeouts().fences()) {
      return Optional.empty();
    }
    Answer last = answers.get(cluster);
    boolean fresh =
        last != null
            && last.worker() == worker
            && last.taken()
            && fence.clock().instant().isBefore(last.at().plus(fence.timeouts().renewEvery()));
    boolean fences = fresh || (!refusedRecently(cluster, worker) && renewIn(cluster, worker));
    return fences ? Optional.of(fence.timeouts().stopAfter(grace(workload))) : Optional.empty();
  }

  private boolean refusedRecently(String cluster, RemoteClient worker) {
    Answer last = answers.get(cluster);
    return last != null
        && last.worker() == worker
        && !last.taken()
        && fence.clock().instant().isBefore(last.at().plus(RETRY_REFUSED_AFTER));
  }

  private static Duration grace(JsonNode workload) {
    long seconds = 0;
    for (JsonNode podSet : workload.path("spec").path("podSets")) {
      JsonNode pods = podSet.path("template").path("spec");
      seconds =
          Math.max(
              seconds, pods.path("terminationGracePeriodSeconds").asLong(DEFAULT_GRACE_SECONDS));
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
        .put("leaseDurationSeconds", Math.max(1, fence.timeouts().lostTimeout().toSeconds()))
        .put("renewTime", MICROS.format(sent));
    return lease;
  }
}
