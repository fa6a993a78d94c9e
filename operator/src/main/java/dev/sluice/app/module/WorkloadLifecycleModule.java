package dev.sluice.app.module;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.jobs.policy.WorkloadFactory.WorkloadNames;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ApiRequest;
import dev.sluice.kube.client.ObjectPath;
import dev.sluice.queues.cache.CachedQueues;
import dev.sluice.queues.cache.CachedVariantPolicies;
import dev.sluice.queues.cache.QueueStateNotifier;
import dev.sluice.workload.lifecycle.QueueLookup;
import dev.sluice.workload.lifecycle.VariantLifecycle;
import dev.sluice.workload.lifecycle.WorkloadLifecycle;
import dev.sluice.workload.status.IdleSpreading;
import java.util.Map;
import java.util.Optional;

/** The life cycle of Workloads beside admission: holds, checks, readiness of pods, retention. */
public final class WorkloadLifecycleModule implements OperatorModule {

  private final WorkloadLifecycle lifecycle;
  private final Optional<VariantLifecycle> variants;

  /** Connected to the Workload and queue caches. */
  public WorkloadLifecycleModule(
      OperatorContext context,
      InformerModule informers,
      SchedulerModule scheduler,
      WorkloadModule workloads,
      AccountingModule accounting) {
    AttendedKinds attended = new AttendedKinds(context);
    CachedQueues queues = new CachedQueues(informers.caches());
    boolean ages = context.isEnabled(FeatureGate.PRIORITY_BOOST);
    boolean spreads = context.isEnabled(FeatureGate.TAS_TOPOLOGY_SPREADING);
    lifecycle =
        new WorkloadLifecycle(
            workloads.cache(),
            workloads.writer(),
            workload ->
                ofWorkload(queues.apply(workload), scheduler.families().isParent(workload), ages)
                    .withUnresolvedDevices(
                        workload.quotaReserved()
                            ? Optional.empty()
                            : scheduler.translator().unresolvedDevices(workload))
                    .withUnscheduledPods(accounting.hasUnscheduledPods(workload))
                    .withIdleSpreading(
                        spreads && IdleSpreading.mayBe(workload)
                            ? IdleSpreading.of(workload, informers.caches()::levels)
                            : Map.of()),
            context
                .options()
                .lifecycle()
                .evicting(workload -> attended.test(scheduler.families().first(workload)))
                .replacing(
                    slice ->
                        context.isEnabled(FeatureGate.ELASTIC_JOBS_VIA_WORKLOAD_SLICES)
                            && AttendedKinds.isSliceOfOthers(slice)),
            scheduler.events(),
            context.leadership()::leading,
            context.clock(),
            context.executor(),
            context::schedule);
    QueueStateNotifier.connect(informers.caches(), lifecycle);
    informers.whenDevicesChange(
        namespace -> lifecycle.devicesChanged(namespace, scheduler.translator()::mayUseDevices));
    workloads.reflector().listen(lifecycle);
    variants =
        context.isEnabled(FeatureGate.CONCURRENT_ADMISSION)
            ? Optional.of(variants(context, informers, scheduler, workloads))
            : Optional.empty();
  }

  private static QueueLookup ofWorkload(QueueLookup queueLookup, boolean parent, boolean ages) {
    QueueLookup checkedLookup = parent ? queueLookup.withoutChecks() : queueLookup;
    return ages && !parent ? checkedLookup : checkedLookup.withoutAging();
  }

  private static VariantLifecycle variants(
      OperatorContext context,
      InformerModule informers,
      SchedulerModule scheduler,
      WorkloadModule workloads) {
    ApiClient client = context.requests(1);
    VariantLifecycle variants =
        new VariantLifecycle(
            workloads.cache(),
            workloads.writer(),
            new VariantLifecycle.Options(
                scheduler.variantPolicies()::of,
                id ->
                    client
                        .send(
                            ApiRequest.get(
                                new ObjectPath(
                                        ApiVersions.GROUP + "/v1beta2",
                                        id.namespace(),
                                        "workloads",
                                        id.name())
                                    .object()))
                        .thenApply(outcome -> ofUid(outcome, id.uid())),
                context.options().lifecycle().podsReady().isPresent(),
                context.isEnabled(FeatureGate.SHORT_WORKLOAD_NAMES)
                    ? WorkloadNames.SHORT
                    : WorkloadNames.LONGEST),
            scheduler.events(),
            context.leadership()::leading,
            context.clock(),
            context.executor(),
            context::schedule);
    workloads.reflector().listen(variants);
    informers
        .caches()
        .clusterQueues()
        .observe(
            (before, after) -> {
              if (CachedVariantPolicies.differ(before, after)) {
                variants.queuesChanged();
              }
            });
    informers
        .caches()
        .localQueues()
        .observe(
            (before, after) -> {
              if (before == null) {
                variants.queuesChanged();
              }
            });
    return variants;
  }

  private static Optional<JsonNode> ofUid(ApiOutcome outcome, String uid) {
    return outcome instanceof ApiOutcome.Written written
        ? Optional.<JsonNode>of(written.object())
            .filter(found -> found.path("metadata").path("uid").asText().equals(uid))
        : Optional.empty();
  }

  @Override
  public void leadershipStarted() {
    lifecycle.leadershipStarted();
    variants.ifPresent(VariantLifecycle::leadershipStarted);
  }
}
