package dev.sluice.checks.provisioning;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.queueing.NodeCapacityAnnotations;
import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.api.v1beta2.AdmissionCheck.AdmissionCheckSpec;
import dev.sluice.api.v1beta2.ProvisioningRequestConfig;
import dev.sluice.checks.controller.ActiveCondition;
import dev.sluice.checks.controller.CheckConditionReconciler;
import dev.sluice.checks.controller.CheckConditionReconciler.AdmissionCheckController;
import dev.sluice.checks.controller.CheckStateWriter;
import dev.sluice.checks.provisioning.ProvisioningPolicy.ParameterResolution;
import dev.sluice.checks.provisioning.RequestInformers.RequestAvailability;
import dev.sluice.jobs.policy.FlavorLookup;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.controller.ControllerRegistration;
import dev.sluice.kube.controller.ObservableItemStore;
import dev.sluice.kube.controller.ReconcileTrigger;
import dev.sluice.kube.controller.WorkQueueSettings;
import dev.sluice.kube.controller.WorkQueueSettings.GroupKindConcurrency;
import dev.sluice.kube.definitions.ServedDefinitions;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.kube.reflect.InformerSupervisor;
import dev.sluice.kube.reflect.Reflectors;
import dev.sluice.queues.mapping.CheckControllerDescription;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadListener;
import dev.sluice.workload.record.WorkloadLister;
import dev.sluice.workload.writing.WorkloadWriter;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.javaoperatorsdk.operator.Operator;
import java.time.InstantSource;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The reconcilers of provisioning checks and of Workloads that have one, with their event sources:
 * changes of the checks, their configurations, Workloads and requests, and the start of leadership.
 */
public final class ProvisioningControllers implements AutoCloseable {

  private static final long PAGE_SIZE = 500;

  private final GroupKindConcurrency concurrency;
  private final ObservableItemStore<AdmissionCheck> checks = new ObservableItemStore<>();
  private final ObservableItemStore<ProvisioningRequestConfig> configs =
      new ObservableItemStore<>();
  private final ReconcileTrigger<AdmissionCheck> checkTrigger =
      new ReconcileTrigger<>("provisioning");
  private final SharedIndexInformer<ProvisioningRequestConfig> configInformer;
  private final RequestInformers requests;
  private final ProvisioningReconciler workloads;
  private final CheckConditionReconciler conditions;
  private volatile boolean configsListed;
  private volatile boolean leading;

  /**
   * Dependencies of the reconcilers.
   *
   * @param leadership only the leader writes
   * @param requests writes requests and conditions
   * @param mapper reads and writes statuses
   * @param definitions which kinds the API server serves; started when a check needs to know
   * @param options how requests are kept
   */
  public record Dependencies(
      Reflectors reflectors,
      InformerSupervisor informerSupervisor,
      Leadership leadership,
      ApiClient requests,
      ObjectMapper mapper,
      ServedDefinitions definitions,
      WorkloadLister workloads,
      WorkloadWriter writer,
      FlavorLookup flavors,
      ProvisioningEvents events,
      RequestOptions options,
      InstantSource clock,
      WorkQueueSettings queue) {}

  /** Creates the reconcilers and informers without registering or starting them. */
  public ProvisioningControllers(Dependencies dependencies) {
    concurrency = dependencies.queue().concurrency();
    requests =
        new RequestInformers(
            dependencies.reflectors(), dependencies.definitions(), new RequestEvents());
    workloads =
        new ProvisioningReconciler(
            new ProvisioningReconciler.Dependencies(
                checks::find,
                configs::find,
                dependencies.workloads(),
                dependencies.flavors(),
                new CheckStateWriter(dependencies.writer()),
                dependencies.events(),
                dependencies.options(),
                () -> leading && configsListed && dependencies.leadership().leading(),
                dependencies.clock(),
                dependencies.queue()),
            requests,
            new RequestWriter(dependencies.requests()));
    conditions =
        new CheckConditionReconciler(
            new ProvisioningCheckController(
                configs::find,
                () ->
                    configsListed && leading
                        ? requests.availability()
                        : RequestAvailability.UNKNOWN),
            dependencies.leadership(),
            checkTrigger,
            dependencies.requests(),
            dependencies.mapper(),
            dependencies.clock());
    configInformer =
        dependencies
            .reflectors()
            .client()
            .resources(ProvisioningRequestConfig.class)
            .withLimit(PAGE_SIZE)
            .runnableInformer(0)
            .itemStore(configs);
    dependencies.informerSupervisor().keep("provisioningrequestconfigs", configInformer);
    configs.observe((before, after) -> reconcileAll());
    checks.observe(this::checkChanged);
  }

  private void checkChanged(@Nullable AdmissionCheck before, @Nullable AdmissionCheck after) {
    if (after != null
        && ProvisioningChecks.DESCRIPTION.isOf(after)
        && (before == null || !Objects.equals(before.getSpec(), after.getSpec()))) {
      requests.need();
      workloads.enqueueAll();
    }
  }

  private void reconcileAll() {
    checks.all().stream()
        .filter(ProvisioningChecks.DESCRIPTION::isOf)
        .forEach(check -> checkTrigger.signal(check.getMetadata().getName()));
    workloads.enqueueAll();
  }

  /** The listener that the reader of Workloads is to call. */
  public WorkloadListener workloadListener() {
    return workloads;
  }

  /** Registers the reconciler of checks. */
  public void register(Operator operator) {
    ControllerRegistration.register(
        operator,
        "provisioning-admissioncheck",
        conditions,
        checks,
        concurrency.limit(AdmissionCheck.class));
  }

  /** Starts reading configurations; the reconcilers wait until they are listed. */
  public void start() {
    var unused =
        configInformer
            .start()
            .thenRun(
                () -> {
                  configsListed = true;
                  reconcileAll();
                });
  }

  /** Called when this process becomes leader: reconciles every object once. */
  public void leadershipStarted() {
    leading = true;
    reconcileAll();
  }

  /** Called when this process ends or doesn't lead any more. */
  public void leadershipEnded() {
    leading = false;
  }

  /** Waits for writes for a limited time; nothing is written any more. */
  public void stop() {
    workloads.close();
  }

  /** Stops the informers; the operator stops the reconciler of checks. */
  @Override
  public void close() {
    configInformer.stop();
    requests.close();
  }

  private final class RequestEvents implements RequestInformers.Listener {

    @Override
    public void requestChanged(@Nullable CachedRequest before, @Nullable CachedRequest after) {
      workloads.requestChanged(before, after);
    }

    @Override
    public void templateRemoved(String namespace, String request) {
      workloads.templateRemoved(namespace, request);
    }

    @Override
    public void availabilityChanged() {
      reconcileAll();
    }
  }

  /**
   * Says which checks of the controller of ProvisioningRequests can be used. The states of its
   * checks are written by {@link ProvisioningReconciler}, because they depend on requests.
   */
  static final class ProvisioningCheckController implements AdmissionCheckController {

    private final Function<String, Optional<ProvisioningRequestConfig>> configs;
    private final Supplier<RequestAvailability> availability;

    /**
     * A controller of checks.
     *
     * @param configs finds a ProvisioningRequestConfig by name
     * @param availability whether the cluster has ProvisioningRequests
     */
    ProvisioningCheckController(
        Function<String, Optional<ProvisioningRequestConfig>> configs,
        Supplier<RequestAvailability> availability) {
      this.configs = configs;
      this.availability = availability;
    }

    @Override
    public CheckControllerDescription description() {
      return ProvisioningChecks.DESCRIPTION;
    }

    @Override
    public Optional<ActiveCondition> condition(AdmissionCheckSpec check) {
      RequestAvailability requests = availability.get();
      return requests == RequestAvailability.UNKNOWN
          ? Optional.empty()
          : Optional.of(
              of(ParameterResolution.of(check, configs), requests != RequestAvailability.ABSENT));
    }

    /** The condition of a check with these parameters. */
    static ActiveCondition of(ParameterResolution parameters, boolean served) {
      if (parameters.config().isEmpty()) {
        return new ActiveCondition(false, "BadParametersRef", parameters.problem());
      }
      return served
          ? new ActiveCondition(true, "Active", "The check can be used")
          : new ActiveCondition(
              false, "ProvisioningRequestsNotServed", ProvisioningPolicy.NOT_SERVED);
    }
  }

  /**
   * How ProvisioningRequests are kept.
   *
   * @param cleansUp whether requests are deleted when their Workload is evicted
   * @param replacesTemplates whether a PodTemplate of somebody else that has the name of one of a
   *     request is deleted
   * @param increments whether a slice of an elastic job requests only the pods that it has more
   */
  public record RequestOptions(boolean cleansUp, boolean replacesTemplates, boolean increments) {}

  /** Records events about the requests of Workloads. Thread-safe. */
  public interface ProvisioningEvents {

    /**
     * Records an event on a Workload.
     *
     * @param reason one word in CamelCase
     * @param note what happened, in one sentence
     */
    void record(CachedWorkload workload, boolean warning, String reason, String note);
  }

  /** The AdmissionChecks that ask an autoscaler for nodes. */
  public static final class ProvisioningChecks {

    /** Any number of such checks may be in one queue, for all flavors or for some. */
    public static final CheckControllerDescription DESCRIPTION =
        CheckControllerDescription.local(KueueConstants.PROVISIONING_REQUEST);

    /** Checks that ask for nodes by CapacityBuffers or placeholder pods. */
    public static final CheckControllerDescription NODE_CAPACITY =
        CheckControllerDescription.local(NodeCapacityAnnotations.CONTROLLER);

    private ProvisioningChecks() {}
  }
}
