package dev.sluice.checks.multikueue.fencing;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.checks.multikueue.remote.ConnectionContext;
import dev.sluice.kube.reflect.GuardedEventHandler;
import dev.sluice.kube.reflect.InformerSupervisor;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadListener;
import dev.sluice.workload.record.WorkloadReader;
import dev.sluice.workload.writing.WorkloadWriter;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.HttpURLConnection;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.OffsetDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.CRC32;
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
    dependencies.delays().repeat(CHECK_INTERVAL, () -> !closed, this::look);
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

  private void look() {
    if (listed && dependencies.leading().getAsBoolean() && !overdue().isEmpty()) {
      dependencies.io().execute(this::evaluate);
    }
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
    } catch (IOException | RuntimeException e) {
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

  /**
   * Computes when a manager last renewed its Lease, in time of this cluster's clock. A renewal
   * carries the time of sending by the manager's clock. The two clocks may differ by any amount as
   * long as both run at the same rate: the smallest difference between sending and arrival seen so
   * far is taken as the offset of the clocks, and any excess over it as delay in transit. So a
   * delayed renewal counts from the time it was sent, not from the time it arrived. The arrival of
   * a renewal that existed before this process started is known only between two bounds; it counts
   * from the earlier bound, and a later renewal replaces it only if its delay is not larger than
   * the delay that the first one may have had.
   *
   * @param holder the manager's process; another process has another clock
   * @param sent when the last renewal was sent, by the manager's clock
   * @param lag the smallest difference between arrival and sending seen so far
   * @param slack upper bound of the error of {@code lag}; zero once an arrival was observed
   */
  record LeaseClock(String holder, Instant sent, Duration lag, Duration slack) {

    /**
     * Creates a clock from a renewal that existed before this process started.
     *
     * @param earliest the earliest possible time of arrival, by the clock here
     * @param latest the latest possible time of arrival, by the clock here
     */
    static LeaseClock listed(String holder, Instant sent, Instant earliest, Instant latest) {
      return new LeaseClock(
          holder, sent, Duration.between(sent, earliest), Duration.between(earliest, latest));
    }

    /**
     * Applies a renewal that arrived now; returns the same clock if the renewal is already known.
     */
    LeaseClock renewed(String otherHolder, Instant otherSent, Instant now) {
      Duration sample = Duration.between(otherSent, now);
      if (!otherHolder.equals(holder)) {
        return new LeaseClock(otherHolder, otherSent, sample, Duration.ZERO);
      }
      if (!otherSent.isAfter(sent)) {
        return this;
      }
      return sample.compareTo(lag.plus(slack)) <= 0
          ? new LeaseClock(holder, otherSent, sample, Duration.ZERO)
          : new LeaseClock(holder, otherSent, lag, slack);
    }

    /** Time of the last renewal, by the clock here. */
    Instant lastRenewal() {
      return sent.plus(lag);
    }
  }

  /**
   * Reads managers' Leases with the age of their last renewal. The age is the difference between
   * two times of the API server's clock: the time of the write, from the managed fields, and the
   * time of the response, from the header {@code Date}. So the clock of this process need not agree
   * with the API server's. The operator's client drops managed fields, therefore this class reads
   * the raw responses.
   */
  static final class LeaseReader {

    private static final long TIMEOUT_SECONDS = 15;

    /** The API server writes both times without fractions of seconds. */
    private static final Duration PRECISION = Duration.ofSeconds(1);

    private final KubernetesClient client;
    private final String namespace;
    private final InstantSource clock;

    /**
     * Creates a reader that uses the client's connection; the caller closes the client.
     *
     * @param clock clock of this process; must be monotonic
     */
    LeaseReader(KubernetesClient client, String namespace, InstantSource clock) {
      this.client = client;
      this.namespace = namespace;
      this.clock = clock;
    }

    /**
     * A Lease as read.
     *
     * @param holder the manager's process
     * @param sent when the last renewal was sent, by the manager's clock
     * @param earliest the earliest possible time of the write, by the clock here
     * @param latest the latest possible time of the write, by the clock here
     * @param responseTime when the response arrived
     */
    record Reading(
        String holder, Instant sent, Instant earliest, Instant latest, Instant responseTime) {}

    /**
     * Reads the Lease of this name; empty if it does not exist or was never renewed. Blocks for
     * fifteen seconds at most.
     *
     * @throws IOException if the API server does not answer as expected
     */
    Optional<Reading> read(String name) throws IOException {
      String url = client.getMasterUrl().toString();
      String path = "apis/coordination.k8s.io/v1/namespaces/" + namespace + "/leases/" + name;
      HttpClient http = client.getHttpClient();
      HttpRequest request =
          http.newHttpRequestBuilder().uri(url + (url.endsWith("/") ? "" : "/") + path).build();
      Instant requestTime = clock.instant();
      HttpResponse<byte[]> answer = send(http, request);
      Instant responseTime = clock.instant();
      if (answer.code() == HttpURLConnection.HTTP_NOT_FOUND) {
        return Optional.empty();
      }
      if (!answer.isSuccessful()) {
        throw new IOException("HTTP " + answer.code());
      }
      return reading(
          JsonMappers.JSON.readTree(answer.body()), date(answer), requestTime, responseTime);
    }

    private static HttpResponse<byte[]> send(HttpClient http, HttpRequest request)
        throws IOException {
      try {
        return http.sendAsync(request, byte[].class).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("interrupted");
      } catch (ExecutionException e) {
        throw new IOException(String.valueOf(e.getCause()), e);
      } catch (TimeoutException e) {
        throw new IOException("no answer within " + TIMEOUT_SECONDS + "s", e);
      }
    }

    private static Optional<Instant> date(HttpResponse<byte[]> answer) {
      return Optional.ofNullable(answer.header("Date"))
          .flatMap(
              text -> {
                try {
                  return Optional.of(
                      Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(text)));
                } catch (DateTimeException unusual) {
                  return Optional.empty();
                }
              });
    }

    /**
     * Evaluates a response.
     *
     * @param date the header of this name; if it is absent, the clocks are assumed to agree
     * @param requestTime when the request was sent, by the clock here
     * @param responseTime when the response arrived, by the clock here
     */
    static Optional<Reading> reading(
        JsonNode lease, Optional<Instant> date, Instant requestTime, Instant responseTime) {
      Optional<Instant> sent = time(lease.path("spec").path("renewTime"));
      if (sent.isEmpty()) {
        return Optional.empty();
      }
      Instant there = date.orElse(requestTime);
      // a Lease without a renewal time in its managed fields was renewed after its creation
      Optional<Instant> written = written(lease);
      Instant from =
          written
              .or(() -> time(lease.path("metadata").path("creationTimestamp")))
              .orElse(Instant.EPOCH);
      Instant earliest = requestTime.minus(Duration.between(from, there)).minus(PRECISION);
      Instant latest =
          written
              .map(it -> responseTime.minus(Duration.between(it, there)).plus(PRECISION))
              .filter(it -> it.isBefore(responseTime))
              .orElse(responseTime);
      return Optional.of(
          new Reading(
              lease.path("spec").path("holderIdentity").asText(""),
              sent.get(),
              earliest.isBefore(latest) ? earliest : latest,
              latest,
              responseTime));
    }

    /** When the field {@code renewTime} was written, by the API server's clock. */
    private static Optional<Instant> written(JsonNode lease) {
      return lease
          .path("metadata")
          .path("managedFields")
          .valueStream()
          .filter(each -> each.path("fieldsV1").path("f:spec").has("f:renewTime"))
          .flatMap(each -> time(each.path("time")).stream())
          .min(Comparator.naturalOrder());
    }

    private static Optional<Instant> time(JsonNode text) {
      return Stream.of(text)
          .filter(JsonNode::isTextual)
          .map(it -> OffsetDateTime.parse(it.asText()).toInstant())
          .findFirst();
    }
  }

  /** Names and annotations of fences in a worker cluster. */
  public static final class FenceAnnotations {

    /**
     * Annotation of a remote Workload: how long after the manager's last renewal the Workload is
     * deactivated, such as PT14M10S.
     */
    public static final String AFTER = "sluice.dev/fence-after";

    /** Label of a manager's Lease: the origin of the manager. */
    public static final String ORIGIN = KueueConstants.MULTIKUEUE_ORIGIN;

    /** No manager waits for longer; a time so far ahead can be reckoned with. */
    private static final Duration LONGEST = Duration.ofDays(3650);

    private static final String PREFIX = "sluice-fence-";

    private FenceAnnotations() {}

    /** The name of a manager's Lease in the operator's namespace of its workers. */
    public static String lease(String origin) {
      String name = origin.toLowerCase(Locale.ROOT).replace('_', '-');
      if (name.equals(origin)) {
        return PREFIX + name;
      }
      CRC32 sum = new CRC32();
      sum.update(origin.getBytes(StandardCharsets.UTF_8));
      return PREFIX + name + "-" + HexFormat.of().toHexDigits((int) sum.getValue());
    }

    /**
     * How long after its manager's last renewal a Workload is deactivated, ten years at most; empty
     * if it is not fenced.
     */
    static Optional<Duration> after(CachedWorkload workload) {
      String text = workload.annotations().getOrDefault(AFTER, "");
      if (text.isEmpty() || !workload.labels().containsKey(ORIGIN)) {
        return Optional.empty();
      }
      try {
        return Optional.of(Duration.parse(text))
            .filter(after -> !after.isNegative())
            .map(after -> after.compareTo(LONGEST) < 0 ? after : LONGEST);
      } catch (DateTimeParseException notOurs) {
        return Optional.empty();
      }
    }
  }
}
