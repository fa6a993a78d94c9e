package dev.sluice.queues;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.api.queueing.QueueAnnotations;
import dev.sluice.api.v1alpha1.DynamicQuotaOrchestrator.QuotaReference;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.ClusterQueue.ClusterQueueStatus;
import dev.sluice.core.engine.ClusterQueueView;
import dev.sluice.core.engine.SchedulerViews;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ApiRequest;
import dev.sluice.kube.controller.ControllerRegistration.FinalizerEditor;
import dev.sluice.kube.controller.LeaderAwareReconciler;
import dev.sluice.kube.controller.PerGenerationEvents;
import dev.sluice.kube.controller.ReconcileTrigger;
import dev.sluice.kube.events.EventNotifier;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.queues.mapping.EffectiveQuotasPlan;
import dev.sluice.queues.mapping.InactiveReasonText;
import dev.sluice.queues.mapping.LabelSelectorMapper;
import dev.sluice.queues.mapping.UnsupportedFields;
import dev.sluice.queues.status.QueueStatuses;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.Namespace;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reconciles a ClusterQueue: keeps its finalizer while Workloads hold its quota, and writes the
 * status from the scheduler's view.
 */
final class ClusterQueueReconciler extends LeaderAwareReconciler<ClusterQueue> {

  private final SchedulerViews schedulerViews;
  private final Predicate<String> holdsQuota;
  private final ApiClient writer;
  private final LocalQueueCreator creator;
  private final StatusWriter<ClusterQueueStatus> statuses;
  private final PerGenerationEvents perGenerationEvents;
  private final List<ExternalConditions> notes;
  private volatile EffectiveQuotasPlan effectiveQuotas = EffectiveQuotasPlan.KEPT;
  private volatile boolean concurrentAdmission;
  private final InstantSource clock;

  /**
   * Creates a reconciler.
   *
   * @param holdsQuota whether any Workload holds quota of the ClusterQueue of this name, according
   *     to the API server
   * @param notes conditions of ClusterQueues that other controllers compute
   */
  ClusterQueueReconciler(
      Leadership leadership,
      ReconcileTrigger<ClusterQueue> reconcileTrigger,
      SchedulerViews schedulerViews,
      Predicate<String> holdsQuota,
      ApiClient writer,
      LocalQueueCreator creator,
      EventNotifier eventNotifier,
      List<ExternalConditions> notes,
      InstantSource clock) {
    super(leadership, reconcileTrigger);
    this.schedulerViews = schedulerViews;
    this.holdsQuota = holdsQuota;
    this.writer = writer;
    this.creator = creator;
    this.statuses = new StatusWriter<>(JsonMappers.JSON, writer, ClusterQueueStatus.class);
    this.perGenerationEvents = new PerGenerationEvents(eventNotifier);
    this.notes = notes;
    this.clock = clock;
  }

  /** From now on policies of concurrent admission have an effect. */
  void honourConcurrentAdmission() {
    concurrentAdmission = true;
  }

  /** Takes the effective quotas of the status from this plan. */
  void follow(EffectiveQuotasPlan plan) {
    effectiveQuotas = plan;
  }

  @Override
  protected Step reconcileObject(ClusterQueue queue) {
    Optional<ClusterQueueView> view = schedulerViews.clusterQueue(queue.getMetadata().getName());
    if (queue.isMarkedForDeletion()) {
      if (!FinalizerEditor.present(queue)) {
        return new Step.Done();
      }
      if (view.isPresent() && isFree(view.get())) {
        return after(queue, writer.patch(queue, FinalizerEditor.remove(queue)));
      }
    } else {
      perGenerationEvents.emit(
          queue, UnsupportedFields.REASON, UnsupportedFields.in(queue, concurrentAdmission));
      if (!FinalizerEditor.present(queue)
          && after(queue, writer.patch(queue, FinalizerEditor.add(queue)))
              instanceof Step.Requeue requeue) {
        return requeue;
      }
      Step made =
          creator.create(queue).map(outcome -> after(queue, outcome)).orElseGet(Step.Done::new);
      if (made instanceof Step.Requeue) {
        return made;
      }
    }
    return view.map(seen -> writeStatus(queue, seen)).orElseGet(Step.Done::new);
  }

  /**
   * Whether no Workload holds quota of the queue and none can reserve quota any more: the scheduler
   * knows that the queue is terminating.
   */
  private boolean isFree(ClusterQueueView view) {
    boolean closed =
        view.problems().stream()
            .anyMatch(problem -> problem.reason().equals(InactiveReasonText.TERMINATING));
    return closed && view.reserving() == 0 && !holdsQuota.test(view.name());
  }

  private Step writeStatus(ClusterQueue queue, ClusterQueueView view) {
    return statuses
        .write(queue, status -> wanted(queue, view, status))
        .map(outcome -> after(queue, outcome))
        .orElseGet(Step.Done::new);
  }

  private ClusterQueueStatus wanted(
      ClusterQueue queue, ClusterQueueView view, @Nullable ClusterQueueStatus status) {
    Instant now = clock.instant();
    ClusterQueueStatus seen = QueueStatuses.clusterQueue(view, generation(queue), status, now);
    List<Condition> conditions = seen.conditions();
    for (ExternalConditions each : notes) {
      conditions = each.in(conditions, view.name(), generation(queue), now);
    }
    return seen.withConditions(conditions)
        .with(
            effectiveQuotas.wanted(
                new QuotaReference("ClusterQueue", view.name()), seen.effectiveQuotas()));
  }

  @Override
  protected void forget(ClusterQueue queue) {
    statuses.forget(queue);
    perGenerationEvents.forget(queue);
    notes.forEach(each -> each.forget(queue.getMetadata().getName()));
  }

  /**
   * Makes the LocalQueue of a ClusterQueue in each namespace that it selects
   * (docs/queueing-policies.md#a-localqueue-in-each-namespace). One that is there stays as it is;
   * none is deleted.
   */
  static final class LocalQueueCreator {

    private static final String API_VERSION = ApiVersions.GROUP + "/v1beta2";

    private static final Logger LOG = LoggerFactory.getLogger(LocalQueueCreator.class);

    private final InformerCaches informerCaches;
    private final Predicate<Map<String, String>> managedNamespaces;
    private final ApiClient client;

    /**
     * Creates a creator.
     *
     * @param managedNamespaces whether jobs of a namespace with these labels are managed
     */
    LocalQueueCreator(
        InformerCaches informerCaches,
        Predicate<Map<String, String>> managedNamespaces,
        ApiClient client) {
      this.informerCaches = informerCaches;
      this.managedNamespaces = managedNamespaces;
      this.client = client;
    }

    /** Makes what is missing; blocks. Returns an outcome that isn't success, if there is one. */
    Optional<ApiOutcome> create(ClusterQueue queue) {
      Optional<String> name = QueueAnnotations.localQueue(queue.getMetadata().getAnnotations());
      if (name.isEmpty() || queue.getSpec() == null) {
        return Optional.empty();
      }
      LabelSelector selector =
          LabelSelectorMapper.translate(queue.getSpec().namespaceSelector(), "namespaceSelector")
              .value();
      List<CompletableFuture<ApiOutcome>> sent =
          informerCaches.namespaces().all().stream()
              .filter(namespace -> namespace.getMetadata().getDeletionTimestamp() == null)
              .filter(namespace -> isSelected(namespace, selector))
              .map(namespace -> namespace.getMetadata().getName())
              .filter(
                  namespace -> informerCaches.localQueues().find(namespace, name.get()).isEmpty())
              .map(namespace -> create(namespace, name.get(), queue.getMetadata().getName()))
              .toList();
      return sent.stream()
          .map(CompletableFuture::join)
          // somebody else made it
          .filter(
              outcome ->
                  !(outcome instanceof ApiOutcome.Written)
                      && !(outcome instanceof ApiOutcome.Conflict))
          .reduce((first, second) -> first);
    }

    private boolean isSelected(Namespace namespace, LabelSelector selector) {
      Map<String, String> labels = namespace.getMetadata().getLabels();
      Map<String, String> known = labels == null ? Map.of() : labels;
      return selector.matches(known) && managedNamespaces.test(known);
    }

    private CompletableFuture<ApiOutcome> create(String namespace, String name, String queue) {
      LOG.info("localQueue={}/{} made=true clusterQueue={}", namespace, name, queue);
      ObjectNode object = JsonNodeFactory.instance.objectNode();
      object.put("apiVersion", API_VERSION).put("kind", "LocalQueue");
      ObjectNode metadata = object.putObject("metadata").put("name", name);
      metadata.put("namespace", namespace);
      metadata.putObject("annotations").put(QueueAnnotations.MADE_FOR, queue);
      object.putObject("spec").put("clusterQueue", queue);
      return client.send(
          ApiRequest.create(
              "/apis/" + API_VERSION + "/namespaces/" + namespace + "/localqueues", object));
    }
  }
}
