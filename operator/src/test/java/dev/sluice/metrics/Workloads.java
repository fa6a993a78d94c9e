package dev.sluice.metrics;

import dev.sluice.api.KueueConstants;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Admission;
import dev.sluice.workload.record.CachedWorkload.Condition;
import dev.sluice.workload.record.CachedWorkload.EvictionCount;
import dev.sluice.workload.record.CachedWorkload.History;
import dev.sluice.workload.record.CachedWorkload.Owner;
import dev.sluice.workload.record.CachedWorkload.PriorityClassRef;
import dev.sluice.workload.record.CachedWorkload.RemotePlacement;
import dev.sluice.workload.record.CachedWorkload.Spec;
import dev.sluice.workload.record.CachedWorkload.Status;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Workloads of queue {@code team/lq}, created at {@link #CREATED}, by their conditions. */
public final class Workloads {

  static final Instant CREATED = Instant.parse("2030-01-01T00:00:00Z");

  private Workloads() {}

  /** A condition that is True. */
  public static Condition is(String type, String reason, Instant since) {
    return new Condition(type, "True", reason, "", since, 1);
  }

  static Condition isNot(String type, String reason, Instant since) {
    return new Condition(type, "False", reason, "", since, 1);
  }

  static CachedWorkload pending(Condition... conditions) {
    return workload(Optional.empty(), conditions);
  }

  /** One with quota of a ClusterQueue. */
  public static CachedWorkload admittedBy(String clusterQueue, Condition... conditions) {
    return workload(Optional.of(new Admission(clusterQueue, List.of())), conditions);
  }

  /** The same after evictions. */
  static CachedWorkload evicted(CachedWorkload workload, EvictionCount... evictions) {
    Status status = workload.status();
    return workload.with(
        new Status(
            status.conditions(),
            status.admission(),
            List.of(),
            Map.of(),
            Optional.empty(),
            new History(0, List.of(evictions)),
            false));
  }

  /** The same in a worker cluster. */
  static CachedWorkload inCluster(String cluster, CachedWorkload workload) {
    Status status = workload.status();
    return workload.with(
        new Status(
            status.conditions(),
            status.admission(),
            status.admissionChecks(),
            status.reclaimablePods(),
            status.requeueState(),
            status.history(),
            status.requestsWritten(),
            new RemotePlacement(cluster, List.of()),
            status.gates()));
  }

  /** A Workload that has variants. */
  static CachedWorkload parent(CachedWorkload workload) {
    return of(
        workload,
        "wl",
        Optional.empty(),
        Map.of(KueueConstants.CONCURRENT_ADMISSION_PARENT, "true"),
        Map.of());
  }

  /** A variant of the Workload that is called {@code wl}. */
  static CachedWorkload variant(CachedWorkload workload) {
    return of(
        workload,
        "wl-variant-spot",
        Optional.of(new Owner("kueue.x-k8s.io/v1beta2", "Workload", "wl", "uid")),
        Map.of(),
        Map.of(KueueConstants.ALLOWED_RESOURCE_FLAVORS, "spot"));
  }

  private static CachedWorkload of(
      CachedWorkload workload,
      String name,
      Optional<Owner> owner,
      Map<String, String> labels,
      Map<String, String> annotations) {
    return new CachedWorkload(
        new WorkloadId("uid-" + name, "team", name),
        1,
        1,
        CREATED,
        false,
        List.of(KueueConstants.RESOURCE_IN_USE),
        true,
        owner,
        labels,
        annotations,
        workload.spec(),
        workload.status());
  }

  private static CachedWorkload workload(Optional<Admission> admission, Condition... conditions) {
    return new CachedWorkload(
        new WorkloadId("uid", "team", "wl"),
        1,
        1,
        CREATED,
        false,
        List.of(KueueConstants.RESOURCE_IN_USE),
        true,
        Optional.empty(),
        Map.of(),
        Map.of(),
        new Spec("lq", List.of(), 0, Optional.of(new PriorityClassRef("", "", "high")), true, 0),
        new Status(
            new ArrayList<>(List.of(conditions)),
            admission,
            List.of(),
            Map.of(),
            Optional.empty(),
            History.NONE,
            false));
  }
}
