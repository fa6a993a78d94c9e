package dev.sluice.queues;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.TextLimits;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.api.sluice.ReservationReader;
import dev.sluice.api.sluice.ReservationReader.Kind;
import dev.sluice.core.engine.SchedulerEventSink;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Occurrence;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Overstay;
import dev.sluice.core.reservation.Reservations;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ApiRequest;
import dev.sluice.kube.events.EventRecorder;
import dev.sluice.kube.events.EventRecorder.Type;
import dev.sluice.kube.events.ObjectReference;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.kube.reflect.Reflector;
import dev.sluice.kube.reflect.Reflector.Store;
import dev.sluice.kube.reflect.Reflectors;
import dev.sluice.queues.cache.ReservationTargets;
import dev.sluice.queues.cache.ReservationTargets.Comparison;
import dev.sluice.queues.status.ReservationStatus;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the engine what CapacityReservations and MaintenanceWindows keep, and when; evicts what is
 * in the way at their begin, and says in their statuses when they are (docs/reservations.md). Does
 * nothing while there is neither.
 */
public final class ReservationCalendar implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ReservationCalendar.class);

  private static final String PATH =
      "apis/" + ApiVersions.SLUICE_GROUP + "/" + ApiVersions.SLUICE_VERSION + "/";

  private static final Duration TICK = Duration.ofMillis(500);
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  /** After how long an eviction that isn't seen, or a status that was refused, is tried again. */
  private static final Duration RETRY = Duration.ofSeconds(5);

  /** The most characters of what is wrong. */
  private static final int LONGEST = 1024;

  private static final List<String> NONE = List.of();

  /**
   * What this reads and writes with.
   *
   * @param reflectors watch both kinds
   * @param eventSink is told of what is kept
   * @param overstays asks the engine who has to go
   * @param targets what there is of what they name
   * @param apiClient writes the statuses
   * @param leadership only the leader writes and evicts
   * @param evict asks the job of a Workload for a checkpoint, or stops it
   * @param events tells of begins and ends beside the objects
   */
  public record Connections(
      Reflectors reflectors,
      SchedulerEventSink eventSink,
      Supplier<CompletableFuture<List<Overstay>>> overstays,
      ReservationTargets targets,
      ApiClient apiClient,
      Leadership leadership,
      Consumer<Overstay> evict,
      EventRecorder events) {}

  /**
   * An object that keeps capacity now or later.
   *
   * @param current whether it does so now
   */
  public record Keeper(String kind, String name, boolean current) {}

  /** An object as it was seen last, with its spec as it was read then. */
  private record Seen(
      Kind kind, String name, String uid, ReservationReader.Reading reading, JsonNode status) {

    static Seen of(Kind kind, JsonNode object) {
      return new Seen(
          kind,
          object.path("metadata").path("name").asText(),
          object.path("metadata").path("uid").asText(),
          ReservationReader.read(kind, object.path("spec")),
          object.path("status"));
    }

    ObjectReference reference() {
      return new ObjectReference(
          ApiVersions.SLUICE_GROUP + "/" + ApiVersions.SLUICE_VERSION,
          kind.apiName(),
          "",
          name,
          uid);
    }
  }

  private final Connections connections;
  private final InstantSource clock;
  private final Map<Kind, Store<Seen>> stores = new EnumMap<>(Kind.class);
  private final List<Reflector<Store.Item<Seen>>> reflectors = new ArrayList<>();
  private final Map<String, Instant> evicted = new HashMap<>();
  private final Map<String, JsonNode> written = new ConcurrentHashMap<>();

  /** When statuses were refused. */
  private final Map<String, Instant> refused = new HashMap<>();

  private final Thread thread = Thread.ofVirtual().name("reservations").unstarted(this::run);
  private volatile List<ReservedCapacity> told = List.of();
  private volatile Runnable presence = () -> {};
  private volatile boolean listed;
  private volatile boolean closed;

  /** Creates the calendar of an operator; nothing is read yet. */
  public ReservationCalendar(Connections connections, InstantSource clock) {
    this.connections = connections;
    this.clock = clock;
    for (Kind kind : Kind.values()) {
      Store<Seen> store = new Store<>(object -> Seen.of(kind, object));
      stores.put(kind, store);
      reflectors.add(connections.reflectors().of(kind.plural(), PATH + kind.plural(), store));
      store.observe((before, after) -> tellIfListed());
    }
  }

  /** Begins to read; completes when everything that is kept is known to the engine. */
  public CompletableFuture<Void> start() {
    thread.start();
    return CompletableFuture.allOf(
            reflectors.stream().map(Reflector::start).toArray(CompletableFuture<?>[]::new))
        .thenRun(
            () -> {
              listed = true;
              tell();
            });
  }

  /** Calls the listener when something is kept for the first time. */
  public void onPresence(Runnable listener) {
    presence = listener;
  }

  /** Whether nothing is kept, now or later. */
  public boolean isEmpty() {
    return told.isEmpty();
  }

  /** The objects that keep capacity now or later. */
  public List<Keeper> keepers() {
    Instant now = clock.instant();
    List<Keeper> keepers = new ArrayList<>();
    for (Seen each : told.isEmpty() ? List.<Seen>of() : seen()) {
      each.reading()
          .spec()
          .ifPresent(
              spec -> {
                List<Occurrence> occurrences = spec.times().from(now);
                if (!occurrences.isEmpty()) {
                  boolean current =
                      occurrences.getFirst().contains(now)
                          && connections.targets().compare(spec).keeps();
                  keepers.add(new Keeper(each.kind().apiName(), each.name(), current));
                }
              });
    }
    return keepers;
  }

  private void tellIfListed() {
    if (listed) {
      tell();
    }
  }

  private synchronized void tell() {
    List<ReservedCapacity> kept = kept(clock.instant());
    if (!kept.equals(told)) {
      boolean first = told.isEmpty();
      told = kept;
      connections.eventSink().submit(new SchedulerEvent.ReservationsChanged(kept));
      if (first) {
        presence.run();
      }
    }
  }

  private List<ReservedCapacity> kept(Instant now) {
    List<ReservedCapacity> kept = new ArrayList<>();
    for (Seen each : seen()) {
      each.reading()
          .spec()
          .flatMap(spec -> spec.kept(each.name(), connections.targets()::priority, now))
          .ifPresent(kept::add);
    }
    return kept;
  }

  private List<Seen> seen() {
    return stores.values().stream()
        .flatMap(Store::all)
        .sorted(Comparator.comparing(Seen::kind).thenComparing(Seen::name))
        .toList();
  }

  private void run() {
    while (!closed) {
      try {
        Thread.sleep(TICK);
        if (listed
            && stores.values().stream().anyMatch(store -> store.all().findAny().isPresent())) {
          tell();
          if (connections.leadership().leading()) {
            evict();
            writeStatuses();
          }
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      } catch (RuntimeException e) {
        LOG.error("reservations=unwritten", e);
      }
    }
  }

  private void evict() throws InterruptedException {
    Instant now = clock.instant();
    evicted.values().removeIf(at -> !now.isBefore(at.plus(RETRY)));
    Instant soon = now.plus(Reservations.LONGEST_GRACE);
    if (told.stream()
        .flatMap(each -> each.occurrences().stream())
        .allMatch(each -> each.start().isAfter(soon))) {
      return;
    }
    try {
      for (Overstay each : connections.overstays().get().get(PATIENCE.toMillis(), MILLISECONDS)) {
        String attempt = each.id().uid() + (each.from().isAfter(now) ? " " + each.from() : "");
        if (evicted.putIfAbsent(attempt, now) == null) {
          connections.evict().accept(each);
        }
      }
    } catch (ExecutionException | TimeoutException e) {
      throw new IllegalStateException("the engine doesn't say who has to go", e);
    }
  }

  private void writeStatuses() {
    Instant now = clock.instant();
    refused.values().removeIf(at -> !now.isBefore(at.plus(RETRY)));
    Set<String> names = new HashSet<>();
    for (Seen each : seen()) {
      String name = each.kind().plural() + "/" + each.name();
      names.add(name);
      ObjectNode status = status(each, now);
      JsonNode last = written.getOrDefault(name, each.status());
      if (!status.equals(last)
          && !status.equals(each.status())
          && !refused.containsKey(name)
          && write(name, status)) {
        written.put(name, status);
        recordTurn(each, status.path("state").asText(), last.path("state").asText());
      }
    }
    written.keySet().retainAll(names);
  }

  /** Leaves an event when capacity begins to be kept, or is free again. */
  private void recordTurn(Seen seen, String state, String before) {
    if (state.equals(ReservationStatus.CURRENT) && !before.equals(state)) {
      record(seen, "ReservationBegan", "Keeps what it names until the end in its status");
    } else if (before.equals(ReservationStatus.CURRENT) && !before.equals(state)) {
      record(seen, "ReservationEnded", "What it kept may be used by others again");
    }
  }

  private void record(Seen seen, String reason, String note) {
    connections.events().record(seen.reference(), Type.NORMAL, reason, "Reserve", note);
  }

  private ObjectNode status(Seen seen, Instant now) {
    ReservationReader.Reading reading = seen.reading();
    List<Occurrence> occurrences =
        reading.spec().map(spec -> spec.times().from(now)).orElse(List.of());
    Comparison comparison =
        reading.spec().isEmpty()
            ? new Comparison(false, reading.faults().stream().map(Object::toString).toList(), NONE)
            : occurrences.isEmpty()
                ? Comparison.COMPLETE
                : connections.targets().compare(reading.spec().get());
    return ReservationStatus.of(
        occurrences,
        comparison.keeps(),
        TextLimits.shown(comparison.fault(), LONGEST),
        String.join("; ", comparison.excess()),
        seen.status(),
        now);
  }

  private boolean write(String name, ObjectNode status) {
    ObjectNode patch = JsonMappers.JSON.createObjectNode();
    patch.set("status", status);
    ApiOutcome outcome =
        connections.apiClient().send(ApiRequest.patch("/" + PATH + name + "/status", patch)).join();
    if (outcome instanceof ApiOutcome.Refused(int code, String message)) {
      refused.put(name, clock.instant());
      LOG.warn("{} status=refused code={} reason=\"{}\"", name, code, message);
    }
    return outcome instanceof ApiOutcome.Written || outcome instanceof ApiOutcome.Gone;
  }

  @Override
  public void close() {
    closed = true;
    thread.interrupt();
    reflectors.forEach(Reflector::close);
  }
}
