package dev.sluice.checks.multikueue.capacity;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.Quantities;
import dev.sluice.checks.multikueue.remote.ConnectionScope;
import dev.sluice.checks.multikueue.remote.RemoteCollection;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import dev.sluice.checks.multikueue.remote.WorkerReader;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.queues.capacity.CapacityControllers.WorkerCapacity;
import dev.sluice.workload.record.CachedWorkload;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Watches the queues of all connected workers. If a worker does not permit reading its queues, its
 * capacity is unknown.
 */
public final class WorkerQueues implements CapacityEstimator, AutoCloseable {

  private final List<Runnable> observers = new CopyOnWriteArrayList<>();
  private final ConnectionScope<RemoteQueueInformer> informers =
      new ConnectionScope<>(
          reader -> new RemoteQueueInformer(reader, this::changed), RemoteQueueInformer::stop);

  /**
   * Registers an observer that runs whenever the spec of a worker's queue changes; the observer
   * must return quickly.
   */
  public void observe(Runnable observer) {
    observers.add(observer);
  }

  private void changed() {
    observers.forEach(Runnable::run);
  }

  /**
   * Watches the cluster's queues over this connection from now on; stops watching if there is none.
   */
  public void follow(String cluster, Supplier<Optional<WorkerReader>> reader) {
    informers.follow(cluster, reader);
  }

  @Override
  public Set<String> of(CachedWorkload workload) {
    Map<String, BigDecimal> requests = requests(workload);
    String queue = workload.id().namespace() + "/" + workload.spec().queueName();
    return informers.now().entrySet().stream()
        .filter(each -> fits(each.getValue(), queue, requests))
        .map(Map.Entry::getKey)
        .collect(Collectors.toSet());
  }

  private static boolean fits(
      RemoteQueueInformer worker, String queue, Map<String, BigDecimal> requests) {
    return worker
        .clusterQueueOf(queue)
        .flatMap(worker::clusterQueue)
        .filter(found -> AvailableQuota.of(found).fits(requests))
        .isPresent();
  }

  /**
   * The nominal quota of the ClusterQueues behind these LocalQueues of a connected worker; each
   * ClusterQueue counts once.
   *
   * @param localQueues as {@code namespace/name}
   */
  public NominalQuota nominal(String cluster, Collection<String> localQueues) {
    RemoteQueueInformer worker = informers.now().get(cluster);
    if (worker == null) {
      return new NominalQuota.NotYet();
    }
    if (!worker.listed()) {
      return worker
          .lastFailure()
          .<NominalQuota>map(NominalQuota.Unreadable::new)
          .orElseGet(NominalQuota.NotYet::new);
    }
    return sum(
        localQueues.stream()
            .flatMap(queue -> worker.clusterQueueOf(queue).stream())
            .distinct()
            .flatMap(name -> worker.clusterQueue(name).stream()));
  }

  /** The nominal quota of all ClusterQueues of a connected worker, by flavor and resource. */
  public WorkerCapacity.ClusterQuota byFlavor(String cluster) {
    RemoteQueueInformer worker = informers.now().get(cluster);
    if (worker == null) {
      return new WorkerCapacity.ClusterQuota.Unknown("it is not connected");
    }
    if (!worker.listed()) {
      return new WorkerCapacity.ClusterQuota.Unknown(
          worker.lastFailure().orElse("its queues aren't listed yet"));
    }
    Map<String, Map<String, Long>> byFlavor = new HashMap<>();
    try {
      worker
          .allClusterQueues()
          .forEach(
              queue ->
                  eachQuota(
                      queue,
                      (flavor, resource, amount) ->
                          byFlavor
                              .computeIfAbsent(flavor, any -> new HashMap<>())
                              .merge(resource, amount, ResourceAmounts::addQuota)));
    } catch (IllegalArgumentException e) {
      return new WorkerCapacity.ClusterQuota.Unknown(String.valueOf(e.getMessage()));
    }
    return new WorkerCapacity.ClusterQuota.Known(byFlavor);
  }

  /** Is told of a nominal quota. */
  @FunctionalInterface
  private interface QuotaVisitor {
    void visit(String flavor, String resource, long amount);
  }

  /** The resource groups of a ClusterQueue that count: those that follow capacity, if any do. */
  private static JsonNode countingGroups(JsonNode clusterQueue) {
    JsonNode effective = clusterQueue.at("/status/effectiveQuotas/resourceGroups");
    return effective.isArray() ? effective : clusterQueue.at("/spec/resourceGroups");
  }

  /**
   * Visits the nominal quotas of a ClusterQueue that count.
   *
   * @throws IllegalArgumentException if an amount can't be read
   */
  private static void eachQuota(JsonNode clusterQueue, QuotaVisitor visitor) {
    for (JsonNode group : countingGroups(clusterQueue)) {
      for (JsonNode flavor : group.path("flavors")) {
        for (JsonNode resource : flavor.path("resources")) {
          String name = resource.path("name").asText();
          visitor.visit(
              flavor.path("name").asText(),
              name,
              Quantities.amount(name, resource.path("nominalQuota").asText("0")));
        }
      }
    }
  }

  /** The nominal quota of these ClusterQueues together; unreadable if one amount of them is. */
  static NominalQuota sum(Stream<JsonNode> clusterQueues) {
    Map<String, Long> sum = new HashMap<>();
    try {
      clusterQueues.forEach(
          queue ->
              eachQuota(
                  queue,
                  (flavor, resource, amount) -> sum.merge(resource, amount, ResourceAmounts::add)));
    } catch (IllegalArgumentException e) {
      return new NominalQuota.Unreadable(String.valueOf(e.getMessage()));
    }
    return new NominalQuota.Known(sum);
  }

  /** The Workload requests from the worker the amounts that it was assigned in the manager. */
  private static Map<String, BigDecimal> requests(CachedWorkload workload) {
    Map<String, BigDecimal> total = new HashMap<>();
    workload
        .status()
        .admission()
        .ifPresent(
            admission ->
                admission
                    .podSetAssignments()
                    .forEach(
                        podSet ->
                            podSet
                                .resourceUsage()
                                .forEach(
                                    (resource, quantity) ->
                                        total.merge(resource, amount(quantity), BigDecimal::add))));
    return total;
  }

  /** Treats an invalid quantity as zero; the API server rejects such quantities. */
  private static BigDecimal amount(String quantity) {
    try {
      return Quantities.parse(quantity);
    } catch (IllegalArgumentException e) {
      return BigDecimal.ZERO;
    }
  }

  @Override
  public void close() {
    informers.close();
  }

  /** Watches the queues of one worker for the lifetime of one connection. */
  private static final class RemoteQueueInformer {

    private static final String API = "apis/kueue.x-k8s.io/v1beta2/";

    private final RemoteCollection localQueues;
    private final RemoteCollection clusterQueues;

    /**
     * Starts watching.
     *
     * @param changed runs when the spec of a queue changed
     */
    RemoteQueueInformer(WorkerReader reader, Runnable changed) {
      this.localQueues = reader.read(API + "localqueues", "", any -> "", new SpecChanges(changed));
      this.clusterQueues =
          reader.read(API + "clusterqueues", "", any -> "", new SpecChanges(changed));
    }

    /** Whether all queues were listed once. */
    boolean listed() {
      return localQueues.isListed() && clusterQueues.isListed();
    }

    /** The message of the last failure to read the queues. */
    Optional<String> lastFailure() {
      return localQueues.lastFailure().or(clusterQueues::lastFailure);
    }

    /** The name of the ClusterQueue of a LocalQueue ({@code namespace/name}). */
    Optional<String> clusterQueueOf(String localQueue) {
      int slash = localQueue.indexOf('/');
      Key key =
          new Key(localQueue.substring(0, Math.max(0, slash)), localQueue.substring(slash + 1));
      return localQueues
          .objects()
          .find(key)
          .map(queue -> queue.path("spec").path("clusterQueue").asText())
          .filter(name -> !name.isEmpty());
    }

    /** The ClusterQueue of this name. */
    Optional<JsonNode> clusterQueue(String name) {
      return clusterQueues.objects().find(new Key("", name));
    }

    Stream<JsonNode> allClusterQueues() {
      return clusterQueues.objects().keys().stream()
          .flatMap(key -> clusterQueues.objects().find(key).stream());
    }

    void stop() {
      localQueues.close();
      clusterQueues.close();
    }

    /** Reports changes of quotas only: the rest of the status changes with every Workload. */
    private record SpecChanges(Runnable changed) implements RemoteCollection.Listener {

      @Override
      public void stateChanged() {
        changed.run();
      }

      @Override
      public void changed(Key key, @Nullable JsonNode before, @Nullable JsonNode after) {
        if (before == null
            || after == null
            || !generation(before).equals(generation(after))
            || !effective(before).equals(effective(after))) {
          changed.run();
        }
      }

      private static JsonNode effective(JsonNode queue) {
        return queue.at("/status/effectiveQuotas");
      }

      private static JsonNode generation(JsonNode queue) {
        return queue.path("metadata").path("generation");
      }
    }
  }

  /**
   * The free quota of a worker's ClusterQueue, read from its object. Quota that the queue could
   * borrow or preempt is not counted: the BestFit dispatcher's fallback covers those cases.
   *
   * @param active whether the queue admits Workloads
   * @param pending how many Workloads are pending there
   * @param groups free quota by resource group
   */
  record AvailableQuota(boolean active, long pending, List<Group> groups) {

    AvailableQuota {
      groups = List.copyOf(groups);
    }

    /**
     * A resource group.
     *
     * @param resources the resources that the group covers
     * @param free the free amount of each resource, one map per flavor, in the order of the flavors
     */
    record Group(Set<String> resources, List<Map<String, BigDecimal>> free) {

      Group {
        resources = Set.copyOf(resources);
        free = List.copyOf(free);
      }

      /** Whether one flavor of the group has enough free quota for the requests. */
      boolean fits(Map<String, BigDecimal> requests) {
        return free.stream()
            .anyMatch(
                flavor ->
                    resources.stream()
                        .allMatch(
                            name ->
                                amount(flavor, name).compareTo(amount(requests, name)) >= 0
                                    || amount(requests, name).signum() == 0));
      }

      private static BigDecimal amount(Map<String, BigDecimal> amounts, String resource) {
        return amounts.getOrDefault(resource, BigDecimal.ZERO);
      }
    }

    /**
     * Reads the object of a ClusterQueue. One with amounts that can't be read has no room: a worker
     * doesn't keep Workloads from others by what it writes.
     */
    static AvailableQuota of(JsonNode clusterQueue) {
      try {
        return read(clusterQueue);
      } catch (IllegalArgumentException e) {
        return new AvailableQuota(false, 0, List.of());
      }
    }

    private static AvailableQuota read(JsonNode clusterQueue) {
      boolean active = true;
      for (JsonNode condition : clusterQueue.path("status").path("conditions")) {
        if (condition.path("type").asText().equals("Active")) {
          active = condition.path("status").asText().equals("True");
        }
      }
      boolean goesOn = clusterQueue.path("spec").path("stopPolicy").asText("None").equals("None");
      List<Group> groups = new ArrayList<>();
      for (JsonNode group : countingGroups(clusterQueue)) {
        groups.add(group(group, clusterQueue.path("status").path("flavorsReservation")));
      }
      return new AvailableQuota(
          active && goesOn, clusterQueue.path("status").path("pendingWorkloads").asLong(), groups);
    }

    private static Group group(JsonNode group, JsonNode reservations) {
      Set<String> resources = new HashSet<>();
      group.path("coveredResources").forEach(each -> resources.add(each.asText()));
      List<Map<String, BigDecimal>> free = new ArrayList<>();
      for (JsonNode flavor : group.path("flavors")) {
        Map<String, BigDecimal> left = new HashMap<>();
        for (JsonNode resource : flavor.path("resources")) {
          String name = resource.path("name").asText();
          left.put(
              name,
              amount(resource.path("nominalQuota"))
                  .subtract(reserved(reservations, flavor.path("name").asText(), name)));
        }
        free.add(left);
      }
      return new Group(resources, free);
    }

    private static BigDecimal reserved(JsonNode reservations, String flavor, String resource) {
      for (JsonNode each : reservations) {
        if (each.path("name").asText().equals(flavor)) {
          for (JsonNode total : each.path("resources")) {
            if (total.path("name").asText().equals(resource)) {
              return amount(total.path("total"));
            }
          }
        }
      }
      return BigDecimal.ZERO;
    }

    private static BigDecimal amount(JsonNode quantity) {
      return quantity.isMissingNode() ? BigDecimal.ZERO : Quantities.parse(quantity.asText());
    }

    /**
     * Whether a Workload would be admitted at once: no Workload is pending before it, and the free
     * quota covers all its requests.
     *
     * @param requests amounts by resource
     */
    boolean fits(Map<String, BigDecimal> requests) {
      return active
          && pending == 0
          && requests.entrySet().stream()
              .allMatch(
                  request ->
                      request.getValue().signum() == 0
                          || groups.stream()
                              .anyMatch(group -> group.resources().contains(request.getKey())))
          && groups.stream().allMatch(group -> group.fits(requests));
    }
  }

  /** The nominal quota of the ClusterQueues of a worker, as far as is known. */
  public sealed interface NominalQuota {

    /**
     * All ClusterQueues were read.
     *
     * @param amounts the sum over all flavors, by resource, in internal units
     */
    record Known(Map<String, Long> amounts) implements NominalQuota {

      /** Copies the map. */
      public Known {
        amounts = Map.copyOf(amounts);
      }
    }

    /** The ClusterQueues are not read yet. */
    record NotYet() implements NominalQuota {}

    /**
     * The ClusterQueues cannot be read.
     *
     * @param why the reason
     */
    record Unreadable(String why) implements NominalQuota {}
  }
}
