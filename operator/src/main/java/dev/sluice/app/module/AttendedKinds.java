package dev.sluice.app.module;

import dev.sluice.accounting.PodAccounts.Ownership;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.config.Configuration;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.config.KubeQueue;
import dev.sluice.api.queueing.PreemptibleLabels;
import dev.sluice.jobs.controller.Integration;
import dev.sluice.jobs.controller.IntegrationRegistry;
import dev.sluice.jobs.kind.AddedKinds;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobKindDescription;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import dev.sluice.jobs.kinds.pod.PodIndex;
import dev.sluice.kubequeue.ForeignQueueUnit;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Owner;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Workloads whose job somebody attends to: an integration that is turned on, another controller
 * that the configuration names, a worker cluster, a manager cluster, or, without an owner that is a
 * job, whoever made the Workload. For any other Workload nobody stops pods or reports that they are
 * ready.
 */
final class AttendedKinds implements Predicate<CachedWorkload> {

  private static final List<JobKind> BUILT_IN =
      BuiltInIntegrations.descriptions().stream().map(JobKindDescription::kind).toList();

  private static final List<JobKind> RESIZABLE =
      BuiltInIntegrations.descriptions().stream()
          .filter(JobKindDescription::canBeElastic)
          .map(JobKindDescription::kind)
          .toList();

  private final List<JobKind> integrated;
  private final List<JobKind> turnedOff;
  private final List<JobKind> external;

  AttendedKinds(OperatorContext context) {
    this(context.configuration(), context::isEnabled);
  }

  AttendedKinds(Configuration configuration, Predicate<FeatureGate> gates) {
    List<Integration> all = BuiltInIntegrations.all(new PodIndex());
    integrated =
        Stream.concat(
                new IntegrationRegistry(all, configuration.integrations().frameworks(), gates)
                    .enabled().stream().map(Integration::kind),
                Stream.concat(
                    AddedKinds.of(configuration).stream().map(JobKindDescription::kind),
                    configuration.kubeQueue().enabled()
                        ? ofKubeQueue(configuration)
                        : Stream.empty()))
            .toList();
    turnedOff =
        all.stream().map(Integration::kind).filter(kind -> !integrated.contains(kind)).toList();
    external =
        configuration.integrations().externalFrameworks().stream().map(JobKind::parse).toList();
  }

  private static Stream<JobKind> ofKubeQueue(Configuration configuration) {
    return Stream.concat(
        BuiltInIntegrations.ofKubeQueue(InstantSource.system()).stream().map(Integration::kind),
        acceptsUnits(configuration) ? Stream.of(ForeignQueueUnit.KIND) : Stream.empty());
  }

  /** Whether the configuration has QueueUnits queued that others make. */
  static boolean acceptsUnits(Configuration configuration) {
    KubeQueue kubeQueue = configuration.kubeQueue();
    return kubeQueue.enabled() && kubeQueue.units().foreign() == KubeQueue.ForeignUnits.ACCEPT;
  }

  /**
   * Whether somebody stops the job if the Workload is preempted. Extensions of Kube Queue don't
   * know preemption by others, so their QueueUnits have to say that they may be preempted.
   */
  boolean mayBePreempted(CachedWorkload workload) {
    boolean unit =
        workload
            .owner()
            .filter(owner -> ForeignQueueUnit.KIND.is(owner.apiVersion(), owner.kind()))
            .isPresent();
    return test(workload) && (!unit || PreemptibleLabels.isPreemptible(workload.labels()));
  }

  @Override
  public boolean test(CachedWorkload workload) {
    return Ownership.isRemote(workload) || attends(workload.owner(), workload.coOwners());
  }

  /** The same of a Workload that may not exist any more. */
  boolean attends(Ownership ownership) {
    return ownership.remote() || attends(ownership.controller(), ownership.others());
  }

  private boolean attends(Optional<Owner> controller, List<Owner> others) {
    return controller
        .map(this::isAttended)
        .orElseGet(() -> others.stream().noneMatch(owner -> isOneOf(turnedOff, owner)));
  }

  private boolean isAttended(Owner owner) {
    return isOneOf(integrated, owner) || isExternal(owner);
  }

  /**
   * Whether a Workload belongs to a job whose size may change while it runs: of a kind with an
   * integration that knows how, or of no such kind. In that case, and without an owner, whoever
   * made the Workload resizes it.
   */
  static boolean isResizable(CachedWorkload workload) {
    return workload
        .owner()
        .map(owner -> isOneOf(RESIZABLE, owner) || !isBuiltIn(owner))
        .orElse(true);
  }

  /**
   * Whether no integration replaces the slices of an elastic job: it is of another kind, or the
   * Workload has no owner. The slices that a manager cluster sent are replaced with their jobs.
   */
  static boolean isSliceOfOthers(CachedWorkload workload) {
    return workload.elastic()
        && !workload.labels().containsKey(KueueConstants.MULTIKUEUE_ORIGIN)
        && workload.owner().map(owner -> !isBuiltIn(owner)).orElse(true);
  }

  private static boolean isBuiltIn(Owner owner) {
    return isOneOf(BUILT_IN, owner);
  }

  private static boolean isOneOf(List<JobKind> kinds, Owner owner) {
    return kinds.stream().anyMatch(kind -> kind.is(owner.apiVersion(), owner.kind()));
  }

  /** Whether an owner is of a kind that another controller of this cluster handles. */
  boolean isExternal(Owner owner) {
    return external.stream()
        .anyMatch(
            kind ->
                owner.kind().equalsIgnoreCase(kind.kind())
                    && owner.apiVersion().startsWith(kind.group() + "/"));
  }
}
