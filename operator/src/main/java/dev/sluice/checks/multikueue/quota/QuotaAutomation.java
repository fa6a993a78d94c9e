package dev.sluice.checks.multikueue.quota;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.Quantities;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.MultiKueueConfig;
import dev.sluice.api.v1beta2.MultiKueueConfig.QuotaManagement;
import dev.sluice.api.v1beta2.ResourceGroup;
import dev.sluice.api.v1beta2.ResourceGroup.FlavorQuotas;
import dev.sluice.api.v1beta2.ResourceGroup.ResourceQuota;
import dev.sluice.checks.multikueue.capacity.WorkerQueues.NominalQuota;
import dev.sluice.checks.multikueue.quota.QuotaAutomation.ManagerQuotaPolicy.Outcome;
import dev.sluice.checks.multikueue.remote.ConnectionContext.Delays;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.queues.ExternalConditions;
import dev.sluice.queues.ExternalConditions.Note;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.queues.mapping.ClusterQueueMapper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the sum of the workers' quotas to the manager's ClusterQueues that request it, whenever
 * one of the inputs changes. Several changes in a row are handled in one pass.
 */
public final class QuotaAutomation {

  private static final Logger LOG = LoggerFactory.getLogger(QuotaAutomation.class);
  private static final Duration GATHER = Duration.ofMillis(200);
  private static final Duration LATER = Duration.ofSeconds(2);
  private static final Note NOT_REQUESTED =
      new Note(
          false,
          "NotRequested",
          "The quota is what was written: quotaManagement of the MultiKueueConfig is not"
              + " Automated");

  private final InformerCaches informerCaches;
  private final Dependencies dependencies;
  private final ApiClient apiClient;
  private final ObjectMapper mapper;
  private final Leadership leadership;
  private final ExternalConditions conditions;
  private final Consumer<String> again;
  private final AtomicBoolean due = new AtomicBoolean();
  private volatile boolean open;

  /**
   * Access to the workers.
   *
   * @param config the MultiKueueConfig of a check; the outer Optional is empty if the check is not
   *     a MultiKueue check, the inner one if the config does not exist
   * @param listed whether all configs are known: one that isn't there may just not be listed yet
   * @param worker reads the state of a worker, given names of LocalQueues ({@code namespace/name})
   * @param delays runs a delayed task on another thread
   */
  public record Dependencies(
      Function<String, Optional<Optional<MultiKueueConfig>>> config,
      BooleanSupplier listed,
      Progress worker,
      Delays delays) {}

  /** Reads the state of a worker. */
  @FunctionalInterface
  public interface Progress {

    /** The state of this worker and the quota behind its LocalQueues of these names. */
    WorkerQuotaState of(String worker, List<String> localQueues);
  }

  /**
   * Creates an automation that does nothing before {@link #leadershipStarted}.
   *
   * @param conditions receives the result as a condition of the ClusterQueue
   * @param again requests another reconciliation of a ClusterQueue's status
   */
  public QuotaAutomation(
      InformerCaches informerCaches,
      Dependencies dependencies,
      ApiClient apiClient,
      ObjectMapper mapper,
      Leadership leadership,
      ExternalConditions conditions,
      Consumer<String> again) {
    this.informerCaches = informerCaches;
    this.dependencies = dependencies;
    this.apiClient = apiClient;
    this.mapper = mapper;
    this.leadership = leadership;
    this.conditions = conditions;
    this.again = again;
    informerCaches.clusterQueues().observe(this::changed);
    informerCaches.localQueues().observe(this::changed);
  }

  /** Only changes of spec and metadata count: the status changes with every Workload. */
  private void changed(@Nullable HasMetadata before, @Nullable HasMetadata after) {
    if (before == null
        || after == null
        || !Objects.equals(
            before.getMetadata().getGeneration(), after.getMetadata().getGeneration())) {
      changed();
    }
  }

  /** Called when this process becomes leader. */
  public void leadershipStarted() {
    open = true;
    changed();
  }

  /** Called when an input of the quotas may have changed; returns at once. */
  public void changed() {
    if (open && due.compareAndSet(false, true)) {
      dependencies.delays().after(GATHER, this::evaluate);
    }
  }

  private void evaluate() {
    due.set(false);
    if (open && leadership.leading() && dependencies.listed().getAsBoolean()) {
      informerCaches.clusterQueues().all().forEach(this::evaluate);
    }
  }

  private void evaluate(ClusterQueue queue) {
    Optional<Optional<MultiKueueConfig>> config =
        ClusterQueueMapper.admissionChecks(queue).stream()
            .flatMap(check -> dependencies.config().apply(check).stream())
            .findFirst();
    if (config.isEmpty() || queue.isMarkedForDeletion()) {
      report(queue, Optional.empty());
      return;
    }
    config
        .get()
        .map(MultiKueueConfig::getSpec)
        .filter(spec -> spec.quotaManagement() == QuotaManagement.AUTOMATED)
        .ifPresentOrElse(
            spec -> keep(queue, ManagerQuotaPolicy.of(queue, workers(queue, spec.clusters()))),
            () -> report(queue, Optional.of(NOT_REQUESTED)));
  }

  private Map<String, WorkerQuotaState> workers(ClusterQueue queue, List<String> clusters) {
    String name = queue.getMetadata().getName();
    List<String> localQueues =
        informerCaches.localQueues().all().stream()
            .filter(each -> each.getSpec() != null && name.equals(each.getSpec().clusterQueue()))
            .map(each -> each.getMetadata().getNamespace() + "/" + each.getMetadata().getName())
            .sorted()
            .toList();
    Map<String, WorkerQuotaState> workerQuotaStates = new LinkedHashMap<>();
    clusters.forEach(
        cluster -> workerQuotaStates.put(cluster, dependencies.worker().of(cluster, localQueues)));
    return workerQuotaStates;
  }

  private void keep(ClusterQueue queue, Outcome outcome) {
    switch (outcome) {
      case Outcome.Wait wait -> {}
      case Outcome.Unsupported(String why) -> unsupported(queue, why);
      case Outcome.Sum sum -> {
        if (sum.same() || write(queue, sum)) {
          report(queue, Optional.of(new Note(true, "QuotaAutomated", sum.message())));
        }
      }
    }
  }

  private void unsupported(ClusterQueue queue, String why) {
    report(queue, Optional.of(new Note(false, "UnsupportedConfiguration", why)));
  }

  private boolean write(ClusterQueue queue, Outcome.Sum sum) {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    patch.putObject("metadata").put("resourceVersion", queue.getMetadata().getResourceVersion());
    patch.putObject("spec").set("resourceGroups", mapper.valueToTree(sum.groups()));
    switch (apiClient.patch(queue, patch)) {
      case ApiOutcome.Written written -> {
        LOG.info(
            "clusterQueue={} quota={} reason=\"{}\"",
            queue.getMetadata().getName(),
            sum.groups().getFirst().flavors().getFirst().resources(),
            sum.message());
        return true;
      }
      case ApiOutcome.Refused(int code, String message) -> {
        unsupported(queue, "the quota can't be written: " + message);
        return false;
      }
      case ApiOutcome.Gone gone -> {
        return false;
      }
      case ApiOutcome.Conflict conflict -> {
        dependencies.delays().after(GATHER, this::changed);
        return false;
      }
      case ApiOutcome.Unreachable unreachable -> {
        dependencies.delays().after(LATER, this::changed);
        return false;
      }
    }
  }

  private void report(ClusterQueue queue, Optional<Note> note) {
    String name = queue.getMetadata().getName();
    if (conditions.set(name, note)) {
      again.accept(name);
    }
  }

  /** Stops the automation. */
  public void close() {
    open = false;
  }

  /**
   * Computes the quota of a ClusterQueue from the quotas of its workers
   * (docs/scheduling-semantics.md#multikueue).
   */
  static final class ManagerQuotaPolicy {

    private ManagerQuotaPolicy() {}

    /** The result for one ClusterQueue. */
    sealed interface Outcome {

      /** The present quota stays until the state of all workers is known. */
      record Wait() implements Outcome {}

      /**
       * The quota cannot be computed.
       *
       * @param why the reason
       */
      record Unsupported(String why) implements Outcome {}

      /**
       * The computed quota.
       *
       * @param groups the resource groups with the computed quota
       * @param same whether the ClusterQueue already has this quota
       * @param message the result, for users
       */
      record Sum(List<ResourceGroup> groups, boolean same, String message) implements Outcome {}
    }

    /**
     * Computes the result for a ClusterQueue.
     *
     * @param workerQuotaStates state of each worker by name, in the order of the config
     */
    static Outcome of(ClusterQueue queue, Map<String, WorkerQuotaState> workerQuotaStates) {
      List<ResourceGroup> groups = queue.getSpec().resourceGroups();
      long flavors = groups.stream().mapToLong(group -> group.flavors().size()).sum();
      if (flavors != 1) {
        return new Outcome.Unsupported(
            "spec.resourceGroups has " + flavors + " flavors; allowed with quotaManagement: 1");
      }
      SortedMap<String, Long> sum = new TreeMap<>();
      for (Map.Entry<String, WorkerQuotaState> workerQuotaState : workerQuotaStates.entrySet()) {
        switch (workerQuotaState.getValue()) {
          case WorkerQuotaState.Connected(NominalQuota.Known(Map<String, Long> amounts)) ->
              amounts.forEach(
                  (resource, amount) -> sum.merge(resource, amount, ResourceAmounts::add));
          case WorkerQuotaState.Connected(NominalQuota.Unreadable(String why)) -> {
            return new Outcome.Unsupported(
                "the queues of worker cluster \"%s\" can't be read: %s"
                    .formatted(workerQuotaState.getKey(), why));
          }
          case WorkerQuotaState.Connected(NominalQuota.NotYet notYet) -> {
            return new Outcome.Wait();
          }
          case WorkerQuotaState.Unknown unknown -> {
            return new Outcome.Wait();
          }
          case WorkerQuotaState.Away away -> {}
        }
      }
      ResourceGroup group = groups.getFirst();
      TreeSet<String> uncovered = new TreeSet<>(sum.keySet());
      group.coveredResources().forEach(uncovered::remove);
      if (!uncovered.isEmpty()) {
        return new Outcome.Unsupported(
            "worker clusters have quota for %s, which spec.resourceGroups[0].coveredResources doesn't list; it lists %s"
                .formatted(
                    String.join(", ", uncovered), String.join(", ", group.coveredResources())));
      }
      return sum(group, sum, workerQuotaStates);
    }

    private static Outcome sum(
        ResourceGroup group,
        Map<String, Long> sum,
        Map<String, WorkerQuotaState> workerQuotaStates) {
      FlavorQuotas flavor = group.flavors().getFirst();
      List<ResourceQuota> quotas = new ArrayList<>();
      boolean same = true;
      for (ResourceQuota present : flavor.resources()) {
        long amount = sum.getOrDefault(present.name(), 0L);
        same =
            same
                && present.borrowingLimit() == null
                && present.lendingLimit() == null
                && Quantities.amount(present.name(), present.nominalQuota().toString()) == amount;
        quotas.add(
            new ResourceQuota(
                present.name(),
                Quantity.parse(Quantities.format(present.name(), amount)),
                null,
                null));
      }
      ResourceGroup wanted =
          new ResourceGroup(
              group.coveredResources(), List.of(new FlavorQuotas(flavor.name(), quotas)));
      return new Outcome.Sum(List.of(wanted), same, message(workerQuotaStates));
    }

    private static String message(Map<String, WorkerQuotaState> workerQuotaStates) {
      List<String> counted =
          names(
              workerQuotaStates,
              workerQuotaState -> workerQuotaState instanceof WorkerQuotaState.Connected);
      List<String> away =
          names(
              workerQuotaStates,
              workerQuotaState -> workerQuotaState instanceof WorkerQuotaState.Away);
      return "The quota is the sum over worker clusters "
          + counted
          + (away.isEmpty() ? "" : "; not connected, and not counted: " + away);
    }

    private static List<String> names(
        Map<String, WorkerQuotaState> workerQuotaStates, Predicate<WorkerQuotaState> which) {
      return workerQuotaStates.entrySet().stream()
          .filter(workerQuotaState -> which.test(workerQuotaState.getValue()))
          .map(Map.Entry::getKey)
          .toList();
    }
  }

  /** State of a worker when quotas are summed up. */
  public sealed interface WorkerQuotaState {

    /**
     * The worker is connected.
     *
     * @param quota its nominal quota
     */
    record Connected(NominalQuota quota) implements WorkerQuotaState {}

    /** The worker is not connected, or does not exist. */
    record Away() implements WorkerQuotaState {}

    /** The state is not known yet. */
    record Unknown() implements WorkerQuotaState {}
  }
}
