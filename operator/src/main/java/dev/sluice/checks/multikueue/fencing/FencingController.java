package dev.sluice.checks.multikueue.fencing;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.checks.multikueue.remote.ConnectionContext;
import dev.sluice.kube.reflect.GuardedEventHandler;
import dev.sluice.kube.reflect.InformerSupervisor;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadListener;
import dev.sluice.workload.record.WorkloadReader;
import dev.sluice.workload.writing.WorkloadWriter;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Enforces fences in a worker cluster: deactivates Workloads whose manager has not renewed its
 * Lease within the time that the Workload's annotation allows. Every replica reads the Leases; only
 * the leader deactivates.
 */
public final class FencingController
    implements WorkloadListener, ResourceEventHandler<Lease>, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(FencingController.class);
  private static final Duration CHECK_INTERVAL = Duration.ofMillis(500);

  private final Dependencies dependencies;
  private final Map<String, Fenced> fenced = new ConcurrentHashMap<>();
  private final Map<String, LeaseClock> leases = new ConcurrentHashMap<>();
  private final AtomicBoolean busy = new AtomicBoolean();
  private final SharedIndexInformer<Lease> informer;
  private final LeaseReader reader;
  private volatile boolean listed;
  private volatile boolean closed;

  /**
   * Dependencies.
   *
   * @param client client of this cluster
   * @param namespace the operator's own namespace, which holds the managers' Leases
   * @param reader reader of Workloads, not started yet
   * @param writer writer of Workloads
   * @param leading whether this process is the leader
   * @param io runs blocking calls
   * @param delays runs delayed tasks
   * @param clock the current time; must be monotonic
   * @param onFenced called with each Workload that was deactivated
   * @param informerSupervisor restarts failed watches
   */
  public record Dependencies(
      KubernetesClient client,
      String namespace,
      WorkloadReader reader,
      WorkloadWriter writer,
      BooleanSupplier leading,
      Executor io,
      ConnectionContext.Delays delays,
      InstantSource clock,
      Consumer<CachedWorkload> onFenced,
      InformerSupervisor informerSupervisor) {}

  private record Fenced(CachedWorkload workload, String origin, Duration after) {}

  /** Creates a controller that does nothing before {@link #start}. */
  public FencingController(Dependencies dependencies) {
    this.dependencies = dependencies;
    this.reader =
        new LeaseReader(dependencies.client(), dependencies.namespace(), dependencies.clock());
    this.informer =
        dependencies
            .client()
            .leases()
            .inNamespace(dependencies.namespace())
            .withLabel(FenceAnnotations.ORIGIN)
            .runnableInformer(0);
    dependencies.informerSupervisor().keep("fences", informer);
    GuardedEventHandler.add(informer, this);
    dependencies.reader().listen(this);
  }

  /** Starts reading Leases and Workloads and checking deadlines. */
  public void start() {
    var unused = informer.start().thenRun(() -> listed = true);
    tick();
  }

  @Override
  public void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    if (after != null) {
      String key = key(after);
      Optional<Duration> limit =
          after.finished() || !after.spec().active() || after.deleting()
              ? Optional.empty()
              : FenceAnnotations.after(after);
      limit.ifPresentOrElse(
          it ->
              fenced.put(
                  key,
                  new Fenced(after, after.labels().getOrDefault(FenceAnnotations.ORIGIN, ""), it)),
          () -> fenced.remove(key));
    } else if (before != null) {
      fenced.remove(key(before));
    }
  }

  private static String key(CachedWorkload workload) {
    return workload.id().namespace() + "/" + workload.id().name();
  }

  @Override
  public void onAdd(Lease lease) {
    renewed(lease);
  }

  @Override
  public void onUpdate(Lease before, Lease after) {
    renewed(after);
  }

  /** A deleted Lease changes nothing: the last renewal stays valid. */
  @Override
  public void onDelete(Lease lease, boolean unknown) {
    LOG.info("lease={} deleted=true", lease.getMetadata().getName());
  }

  private void renewed(Lease lease) {
    String origin = lease.getMetadata().getLabels().get(FenceAnnotations.ORIGIN);
    if (origin == null || lease.getSpec() == null || lease.getSpec().getRenewTime() == null) {
      return;
    }
    String holder = Optional.ofNullable(lease.getSpec().getHolderIdentity()).orElse("");
    Instant sent = lease.getSpec().getRenewTime().toInstant();
    Instant now = dependencies.clock().instant();
    LeaseClock after =
        leases.computeIfPresent(origin, (any, known) -> known.renewed(holder, sent, now));
    if (after == null) {
      dependencies.io().execute(() -> readFirst(origin));
    }
  }

  /**
   * Reads a new Lease to learn the age of its renewal, which a watch event does not contain. If the
   * read fails, {@link #evaluate} reads again.
   */
  private void readFirst(String origin) {
    try {
      read(origin);
    } catch (IOException e) {
      LOG.warn("lease={} age=unknown reason=\"{}\"", FenceAnnotations.lease(origin), e.toString());
    }
  }

  private void read(String origin) throws IOException {
    reader
        .read(FenceAnnotations.lease(origin))
        .ifPresent(
            it ->
                leases.compute(
                    origin,
                    (any, known) ->
                        known == null
                            ? LeaseClock.listed(it.holder(), it.sent(), it.earliest(), it.latest())
                            : known.renewed(it.holder(), it.sent(), it.responseTime())));
  }

  private void tick() {
    if (closed) {
      return;
    }
    if (listed && dependencies.leading().getAsBoolean() && !overdue().isEmpty()) {
      dependencies.io().execute(this::evaluate);
    }
    dependencies.delays().after(CHECK_INTERVAL, this::tick);
  }

  private List<Fenced> overdue() {
    Instant now = dependencies.clock().instant();
    return fenced.values().stream()
        .filter(
            each ->
                !now.isBefore(
                    FencePolicy.deadline(
                        Optional.ofNullable(leases.get(each.origin())),
                        each.workload().createdAt(),
                        each.after())))
        .toList();
  }

  /**
   * Reads overdue Leases again before deactivating: a renewal may exist that the watch has not
   * delivered yet.
   */
  private void evaluate() {
    if (!busy.compareAndSet(false, true)) {
      return;
    }
    try {
      for (String origin : overdue().stream().map(Fenced::origin).collect(Collectors.toSet())) {
        read(origin);
      }
      overdue().forEach(this::stop);
    } catch (IOException e) {
      LOG.warn("fence=unknown reason=\"{}\"", e.toString());
    } finally {
      busy.set(false);
    }
  }

  private void stop(Fenced fencedWorkload) {
    CachedWorkload workload = fencedWorkload.workload();
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    patch.putObject("spec").put("active", false);
    fenced.remove(key(workload), fencedWorkload);
    var unused =
        dependencies
            .writer()
            .patch(workload.id(), 0, patch)
            .whenComplete(
                (outcome, failure) -> {
                  if (outcome instanceof WorkloadWriter.Outcome.Written) {
                    LOG.warn(
                        "workload={} fenced=true origin={} after={}",
                        workload.id(),
                        fencedWorkload.origin(),
                        fencedWorkload.after());
                    dependencies.onFenced().accept(workload);
                  } else if (!(outcome instanceof WorkloadWriter.Outcome.Gone)) {
                    LOG.warn(
                        "workload={} fenced=false outcome={} failure={}",
                        workload.id(),
                        outcome,
                        String.valueOf(failure));
                    fenced.putIfAbsent(key(workload), fencedWorkload);
                  }
                });
  }

  @Override
  public void close() {
    closed = true;
    informer.stop();
  }

  /** Computes when a fenced Workload is deactivated. */
  static final class FencePolicy {

    private FencePolicy() {}

    /**
     * The time at which the Workload must be deactivated.
     *
     * @param lease the Lease of its manager; empty if this process never saw one
     * @param made when the Workload was created here, which was after a renewal
     * @param after the time allowed after the last renewal
     */
    static Instant deadline(Optional<LeaseClock> lease, Instant made, Duration after) {
      return lease.map(LeaseClock::lastRenewal).orElse(made).plus(after);
    }
  }
}
