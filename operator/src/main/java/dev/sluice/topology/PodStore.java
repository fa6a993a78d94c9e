package dev.sluice.topology;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.accounting.PodRecord;
import dev.sluice.accounting.PodRecordParser;
import dev.sluice.accounting.PodRecords;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;
import dev.sluice.core.engine.SchedulerEventSink;
import dev.sluice.core.model.MapCopies;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.kube.json.WeakInterner;
import dev.sluice.kube.reflect.Reflector;
import dev.sluice.kube.reflect.TolerantDeserializers;
import java.io.IOException;
import java.math.BigInteger;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * The pods of the cluster that have not terminated. Those that say that they are placed by a
 * topology are kept by their Workload, readable from any thread. The engine is told what all pods
 * use of their node but those that run where a Workload was assigned to; it is told of the sums,
 * some time after they changed, so that many changes are one event.
 */
public final class PodStore implements Reflector.Sink<PodStore.ParsedPod> {

  /** The Workload that pods belong to. */
  public record Key(String namespace, String workload) {

    static Key of(TopologyPod pod) {
      return new Key(pod.namespace(), pod.workload());
    }

    @Override
    public String toString() {
      return namespace + "/" + workload;
    }
  }

  private final SchedulerEventSink engine;
  private final Consumer<Runnable> soon;
  private final Consumer<Key> listener;
  private final PodParser parser;
  private final PodRecords records;
  private final Predicate<PodRecord> assigned;
  private final Map<Key, Map<String, TopologyPod>> byWorkload = new ConcurrentHashMap<>();
  private final Map<UUID, TopologyPod> placed = new ConcurrentHashMap<>();
  private final Set<UUID> listed = new HashSet<>();
  private boolean listing;

  /** Guards the fields below. */
  private final ReentrantLock lock = new ReentrantLock();

  private final PodUsage usage = new PodUsage();
  private final Set<String> changedNodes = new LinkedHashSet<>();
  private boolean reportPending;

  /**
   * An empty store.
   *
   * @param soon runs a task after a short time
   * @param listener called with the Workload of each placed pod that changed, after the store has
   *     the change
   * @param parser makes the records of pods
   * @param records gets the record of each pod that has not terminated
   * @param assigned whether a pod runs where a Workload that it belongs to was assigned to; asked
   *     about pods that say so, since what they say may be written by anybody
   */
  public PodStore(
      SchedulerEventSink engine,
      Consumer<Runnable> soon,
      Consumer<Key> listener,
      PodRecordParser parser,
      PodRecords records,
      Predicate<PodRecord> assigned) {
    this.parser = new PodParser(parser);
    this.records = records;
    this.assigned = assigned;
    this.engine = engine;
    this.soon = soon;
    this.listener = listener;
  }

  /** The placed pods of a Workload. */
  public Collection<TopologyPod> of(Key workload) {
    return List.copyOf(byWorkload.getOrDefault(workload, Map.of()).values());
  }

  /** What the pods on a node request together, without those that are gone at this time. */
  SortedMap<String, Long> requestedOn(String node, Instant time) {
    PodUsage sum = new PodUsage();
    records.on(node).stream()
        .filter(pod -> pod.deletion().filter(it -> it.due().isBefore(time)).isEmpty())
        .forEach(sum::put);
    return sum.of(node);
  }

  /** What a pod requests, itself as one of {@code pods} included; empty if it is not known. */
  SortedMap<String, Long> requestsOf(TopologyPod pod) {
    return records
        .find(PodRecordParser.uid(pod.uid()))
        .map(PodUsage::requests)
        .orElse(Collections.emptySortedMap());
  }

  /** The number of pods that are not placed by a topology and are bound to a node. */
  public int others() {
    lock.lock();
    try {
      return usage.size();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public ParsedPod parse(byte[] bytes, int offset, int length) throws IOException {
    return parser.parse(bytes, offset, length);
  }

  @Override
  public void listingBegins() {
    listed.clear();
    listing = true;
  }

  @Override
  public void seen(ParsedPod pod) {
    if (listing) {
      listed.add(pod.uid());
    }
    if (pod.ended()) {
      remove(pod.uid());
      return;
    }
    records.seen(pod.record());
    if (pod.placed().isPresent()) {
      put(pod.uid(), pod.placed().get());
    } else {
      dropPlaced(pod.uid());
    }
    count(pod.uid());
  }

  /** A Workload of a pod changed, or what is known of the pod's owners. */
  public void ownersChanged(PodRecord pod) {
    if (placed.containsKey(pod.uid())) {
      count(pod.uid());
    }
  }

  /** The same of all pods. */
  public void allOwnersChanged() {
    placed.keySet().forEach(this::count);
  }

  private void put(UUID uid, TopologyPod pod) {
    TopologyPod before = placed.put(uid, pod);
    if (before != null && !Key.of(before).equals(Key.of(pod))) {
      drop(before);
    }
    byWorkload.computeIfAbsent(Key.of(pod), any -> new ConcurrentHashMap<>()).put(pod.uid(), pod);
    listener.accept(Key.of(pod));
  }

  private void dropPlaced(UUID uid) {
    TopologyPod before = placed.remove(uid);
    if (before != null) {
      drop(before);
    }
  }

  private void drop(TopologyPod pod) {
    byWorkload.computeIfPresent(
        Key.of(pod),
        (key, pods) -> {
          pods.remove(pod.uid());
          return pods.isEmpty() ? null : pods;
        });
    listener.accept(Key.of(pod));
  }

  /** Counts a pod on its node, unless it was assigned to the node, or is gone. */
  private void count(UUID uid) {
    lock.lock();
    try {
      records
          .find(uid)
          .filter(pod -> !pod.node().isEmpty())
          .filter(pod -> !placed.containsKey(uid) || !assigned.test(pod))
          .map(usage::put)
          .orElseGet(() -> usage.remove(uid))
          .ifPresent(this::changed);
    } finally {
      lock.unlock();
    }
  }

  /** Called with the lock held. */
  private void changed(String node) {
    changedNodes.add(node);
    if (!listing && !reportPending) {
      reportPending = true;
      soon.accept(this::report);
    }
  }

  /** Submits the sums under the lock, so that an older sum never follows a newer one. */
  private void report() {
    lock.lock();
    try {
      reportPending = false;
      for (String node : changedNodes) {
        engine.submit(new SchedulerEvent.NodeUsageChanged(node, usage.of(node)));
      }
      changedNodes.clear();
    } finally {
      lock.unlock();
    }
  }

  private void remove(UUID uid) {
    dropPlaced(uid);
    records.gone(uid);
    count(uid);
  }

  @Override
  public void deleted(ParsedPod last) {
    remove(last.uid());
  }

  @Override
  public void listingEnds() {
    List.copyOf(placed.keySet()).stream()
        .filter(uid -> !listed.contains(uid))
        .forEach(this::dropPlaced);
    records.others(listed).forEach(records::gone);
    lock.lock();
    try {
      usage.others(listed).forEach(uid -> usage.remove(uid).ifPresent(this::changed));
      listing = false;
    } finally {
      lock.unlock();
    }
    listed.clear();
    report();
  }

  /** Forgets all pods, and tells the engine: nobody keeps them up to date any more. */
  public void clear() {
    listingBegins();
    listingEnds();
  }

  /**
   * What pods that are not placed by a topology request on each node, summed. Used by one thread at
   * a time. Sums are exact: anybody may create a pod that requests more than a {@code long} holds
   * of a node, and when it is gone the others count as before.
   */
  private static final class PodUsage {

    private static final String PODS = "pods";

    /** More than any node has, and little enough that thousands of nodes have no more together. */
    private static final BigInteger MOST = BigInteger.TWO.pow(50);

    private final Map<UUID, PodRecord> pods = new HashMap<>();
    private final Map<String, SortedMap<String, BigInteger>> byNode = new HashMap<>();

    /** Counts a pod on its node; returns the node whose sum changed. */
    Optional<String> put(PodRecord pod) {
      PodRecord before = pods.get(pod.uid());
      if (before != null
          && before.node().equals(pod.node())
          && before.amounts().equals(pod.amounts())) {
        return Optional.empty();
      }
      // A pod never moves to another node; its requests may be resized in place.
      remove(pod.uid());
      pods.put(pod.uid(), pod);
      SortedMap<String, BigInteger> sum =
          byNode.computeIfAbsent(pod.node(), any -> new TreeMap<>());
      forEach(
          pod,
          (resource, amount) -> sum.merge(resource, BigInteger.valueOf(amount), BigInteger::add));
      return Optional.of(pod.node());
    }

    /** What a pod requests, itself as one of {@code pods} included. */
    private static void forEach(PodRecord pod, BiConsumer<String, Long> action) {
      SortedMap<String, Long> requested = pod.amounts().requested();
      requested.forEach(
          (resource, amount) -> {
            if (!resource.equals(PODS)) {
              action.accept(resource, amount);
            }
          });
      action.accept(PODS, ResourceAmounts.add(requested.getOrDefault(PODS, 0L), 1L));
    }

    /** What a pod requests, itself as one of {@code pods} included. */
    static SortedMap<String, Long> requests(PodRecord pod) {
      SortedMap<String, Long> requests = new TreeMap<>();
      forEach(pod, requests::put);
      return requests;
    }

    /** Counts a pod no more; returns the node whose sum changed. */
    Optional<String> remove(UUID uid) {
      PodRecord pod = pods.remove(uid);
      if (pod == null) {
        return Optional.empty();
      }
      SortedMap<String, BigInteger> sum = byNode.getOrDefault(pod.node(), new TreeMap<>());
      forEach(
          pod,
          (resource, amount) ->
              sum.computeIfPresent(
                  resource,
                  (same, total) -> {
                    BigInteger left = total.subtract(BigInteger.valueOf(amount));
                    return left.signum() <= 0 ? null : left;
                  }));
      if (sum.isEmpty()) {
        byNode.remove(pod.node());
      }
      return Optional.of(pod.node());
    }

    /** What is used of a node. */
    SortedMap<String, Long> of(String node) {
      SortedMap<String, Long> used = new TreeMap<>();
      byNode
          .getOrDefault(node, Collections.emptySortedMap())
          .forEach((resource, sum) -> used.put(resource, sum.min(MOST).longValueExact()));
      return Collections.unmodifiableSortedMap(used);
    }

    /** The pods that are not among these. */
    List<UUID> others(Set<UUID> these) {
      return pods.keySet().stream().filter(pod -> !these.contains(pod)).toList();
    }

    /** The number of pods. */
    int size() {
      return pods.size();
    }
  }

  /** Parses pods. Values that many pods have in common are shared. */
  private static final class PodParser {

    /** What a template says that is placed by a topology; a start adds one if nothing was said. */
    private static final Set<String> TOPOLOGY_ANNOTATIONS =
        Set.of(
            KueueConstants.PODSET_REQUIRED_TOPOLOGY,
            KueueConstants.PODSET_PREFERRED_TOPOLOGY,
            KueueConstants.PODSET_UNCONSTRAINED_TOPOLOGY,
            KueueConstants.PODSET_SLICE_REQUIRED_TOPOLOGY,
            KueueConstants.PODSET_SLICE_REQUIRED_TOPOLOGY_CONSTRAINTS);

    private static final int LONGEST_INDEX = 9;

    private final ObjectMapper mapper = new ObjectMapper(TolerantDeserializers.json());
    private final PodRecordParser records;
    private final WeakInterner<Map<String, String>> selectors = new WeakInterner<>();
    private final WeakInterner<String> names = new WeakInterner<>();

    PodParser(PodRecordParser records) {
      this.records = records;
    }

    /** Parses the pod in these bytes. */
    ParsedPod parse(byte[] bytes, int offset, int length) throws IOException {
      JsonNode pod = mapper.readTree(bytes, offset, length);
      PodRecord kept = records.of(pod);
      return new ParsedPod(kept, records.ended(pod), placed(pod, kept.node()));
    }

    private Optional<TopologyPod> placed(JsonNode pod, String node) {
      JsonNode metadata = pod.path("metadata");
      JsonNode annotations = metadata.path("annotations");
      String workload = annotations.path(KueueConstants.WORKLOAD).asText();
      if (workload.isEmpty() || TOPOLOGY_ANNOTATIONS.stream().noneMatch(annotations::has)) {
        return Optional.empty();
      }
      String slice = annotations.path(KueueConstants.WORKLOAD_SLICE_NAME).asText();
      JsonNode spec = pod.path("spec");
      return Optional.of(
          new TopologyPod(
              names.of(metadata.path("namespace").asText()),
              metadata.path("name").asText(),
              metadata.path("uid").asText(),
              metadata.path("resourceVersion").asText(),
              names.of(slice.isEmpty() ? workload : slice),
              names.of(metadata.path("labels").path(KueueConstants.PODSET).asText()),
              indexes(metadata.path("labels")),
              number(annotations.path(KueueConstants.POD_INDEX_OFFSET).asText()).orElse(0),
              gates(spec),
              selector(spec),
              new TopologyPod.Binding(
                  names.of(node),
                  node.isEmpty() ? unschedulableSince(pod.path("status")) : Optional.empty()),
              metadata.hasNonNull("deletionTimestamp")));
    }

    /** Users can't write the status of pods: it is the scheduler that says this. */
    private static Optional<Instant> unschedulableSince(JsonNode status) {
      return status
          .path("conditions")
          .valueStream()
          .filter(condition -> condition.path("type").asText().equals("PodScheduled"))
          .filter(condition -> condition.path("status").asText().equals("False"))
          .filter(condition -> condition.path("reason").asText().equals("Unschedulable"))
          .flatMap(condition -> JsonFields.time(condition.path("lastTransitionTime")).stream())
          .findFirst();
    }

    private static List<String> gates(JsonNode spec) {
      List<String> gates = new ArrayList<>(2);
      spec.path("schedulingGates").forEach(gate -> gates.add(gate.path("name").asText()));
      return gates;
    }

    private Map<String, String> selector(JsonNode spec) {
      Map<String, String> selector = new HashMap<>();
      spec.path("nodeSelector")
          .properties()
          .forEach(label -> selector.put(names.of(label.getKey()), label.getValue().asText()));
      return selectors.of(MapCopies.of(selector));
    }

    private Map<String, Integer> indexes(JsonNode labels) {
      Map<String, Integer> result = new HashMap<>();
      labels
          .properties()
          .forEach(
              label ->
                  number(label.getValue().asText())
                      .ifPresent(number -> result.put(names.of(label.getKey()), number)));
      return result;
    }

    private static Optional<Integer> number(String text) {
      boolean digits =
          !text.isEmpty()
              && text.length() <= LONGEST_INDEX
              && text.chars().allMatch(each -> each >= '0' && each <= '9');
      return digits ? Optional.of(Integer.parseInt(text)) : Optional.empty();
    }
  }

  /**
   * What one version of a pod says.
   *
   * @param record what is kept of every pod
   * @param ended whether the pod has terminated
   * @param placed the pod, if it says that it is placed by a topology
   */
  record ParsedPod(PodRecord record, boolean ended, Optional<TopologyPod> placed) {

    /** The UID. */
    UUID uid() {
      return record.uid();
    }
  }
}
