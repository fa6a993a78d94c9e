package dev.sluice.checks.multikueue.sending;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.checks.multikueue.fencing.FenceTerms;
import dev.sluice.checks.multikueue.fencing.Fences;
import dev.sluice.checks.multikueue.link.Around;
import dev.sluice.checks.multikueue.link.ClusterLinks;
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
public final class Renewals {

  private static final Logger LOG = LoggerFactory.getLogger(Renewals.class);
  private static final DateTimeFormatter MICROS =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);
  private static final Duration REFUSED = Duration.ofMinutes(1);
  private static final long USUAL_GRACE_SECONDS = 30;

  private final Fence fence;
  private final String origin;
  private final Workers workers;
  private final ClusterLinks links;
  private final Around around;
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
  public record Fence(FenceTerms terms, String namespace, String holder, InstantSource clock) {}

  /** The last answer of a worker. */
  private record Answer(Server worker, Instant at, boolean taken) {}

  Renewals(
      Fence fence,
      String origin,
      Workers workers,
      ClusterLinks links,
      Around around,
      BooleanSupplier active) {
    this.fence = fence;
    this.origin = origin;
    this.workers = workers;
    this.links = links;
    this.around = around;
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
        around.io().execute(() -> renew(cluster));
      }
    }
    around.delays().after(fence.terms().renewEvery(), this::start);
  }

  private void renew(String cluster) {
    try {
      Server worker = workers.of(cluster);
      if (!refusedLately(cluster, worker)) {
        boolean taken = tell(cluster, worker);
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
  Optional<Duration> stopAfter(String cluster, Server worker, JsonNode workload)
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
    boolean fences = fresh || (!refusedLately(cluster, worker) && tell(cluster, worker));
    return fences ? Optional.of(fence.terms().stopAfter(grace(workload))) : Optional.empty();
  }

  private boolean refusedLately(String cluster, Server worker) {
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

  private boolean tell(String cluster, Server worker) throws IOException {
    Instant sent = fence.clock().instant();
    boolean taken = true;
    try {
      write(worker, sent);
    } catch (Server.RefusedException e) {
      taken = false;
      LOG.warn("cluster={} fenced=false reason=\"{}\"", cluster, e.getMessage());
    }
    answers.put(cluster, new Answer(worker, sent, taken));
    return taken;
  }

  private void write(Server worker, Instant sent) throws IOException {
    String collection = "apis/coordination.k8s.io/v1/namespaces/" + fence.namespace() + "/leases";
    String path = collection + "/" + Fences.lease(origin);
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
    metadata.put("name", Fences.lease(origin)).put("namespace", fence.namespace());
    metadata.putObject("labels").put(Fences.ORIGIN, origin);
    lease
        .putObject("spec")
        .put("holderIdentity", fence.holder())
        .put("leaseDurationSeconds", Math.max(1, fence.terms().lostTimeout().toSeconds()))
        .put("renewTime", MICROS.format(sent));
    return lease;
  }
}
