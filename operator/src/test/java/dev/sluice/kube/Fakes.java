package dev.sluice.kube;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.core.engine.ClusterQueueView;
import dev.sluice.core.engine.CohortView;
import dev.sluice.core.engine.LocalQueueView;
import dev.sluice.core.engine.SchedulerViews;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.kube.events.EventNotifier;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadLister;
import dev.sluice.workload.writing.WorkloadWriter;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** Neighbours of the reconcilers, as simple as can be. */
public final class Fakes {

  private Fakes() {}

  /** Views that a test sets. */
  public static final class SetViews implements SchedulerViews {

    public final Map<String, ClusterQueueView> clusterQueues = new ConcurrentHashMap<>();
    public final Map<LocalQueueId, LocalQueueView> localQueues = new ConcurrentHashMap<>();

    @Override
    public Optional<ClusterQueueView> clusterQueue(String name) {
      return Optional.ofNullable(clusterQueues.get(name));
    }

    @Override
    public Optional<LocalQueueView> localQueue(LocalQueueId id) {
      return Optional.ofNullable(localQueues.get(id));
    }

    @Override
    public Optional<CohortView> cohort(String name) {
      return Optional.empty();
    }

    @Override
    public Collection<ClusterQueueView> clusterQueues() {
      return clusterQueues.values();
    }

    @Override
    public Collection<LocalQueueView> localQueues() {
      return localQueues.values();
    }

    @Override
    public Collection<CohortView> cohorts() {
      return List.of();
    }
  }

  /** Workloads that a test sets, and what was written to them. */
  public static final class SetWorkloads implements WorkloadLister, WorkloadWriter {

    /** A patch that was written. */
    public record Patch(String name, long version, JsonNode patch) {}

    public final Map<String, CachedWorkload> workloads = new ConcurrentHashMap<>();
    public final List<Patch> patches = Collections.synchronizedList(new ArrayList<>());
    public final Map<String, Outcome> outcomes = new ConcurrentHashMap<>();

    @Override
    public Optional<CachedWorkload> get(String namespace, String name) {
      return Optional.ofNullable(workloads.get(name));
    }

    @Override
    public Collection<CachedWorkload> ownedBy(String ownerUid) {
      return workloads.values().stream()
          .filter(it -> it.owner().filter(owner -> owner.uid().equals(ownerUid)).isPresent())
          .toList();
    }

    @Override
    public Collection<CachedWorkload> inQueue(String namespace, String queueName) {
      return List.of();
    }

    @Override
    public Collection<CachedWorkload> reservingIn(String clusterQueue) {
      return workloads.values().stream()
          .filter(
              workload ->
                  workload
                      .status()
                      .admission()
                      .filter(admission -> admission.clusterQueue().equals(clusterQueue))
                      .isPresent())
          .toList();
    }

    @Override
    public Iterable<CachedWorkload> all() {
      return workloads.values();
    }

    @Override
    public int size() {
      return workloads.size();
    }

    @Override
    public CompletableFuture<Outcome> patchStatus(
        WorkloadId id, long version, JsonNode status, Urgency urgency) {
      throw new AssertionError("no status is written here");
    }

    @Override
    public CompletableFuture<Outcome> patch(WorkloadId id, long version, JsonNode patch) {
      patches.add(new Patch(id.name(), version, patch));
      Outcome outcome = outcomes.remove(id.name());
      return CompletableFuture.completedFuture(
          outcome == null ? new Outcome.Written(version + 1) : outcome);
    }

    @Override
    public CompletableFuture<Outcome> create(String namespace, JsonNode workload) {
      throw new AssertionError("nothing is created here");
    }

    @Override
    public CompletableFuture<Outcome> delete(WorkloadId id) {
      throw new AssertionError("nothing is deleted here");
    }
  }

  /** Notices that were given. */
  public static final class KeptNotices implements EventNotifier {

    /** A notice. */
    public record Notice(String kind, String name, String reason, String note) {}

    public final List<Notice> notices = Collections.synchronizedList(new ArrayList<>());

    @Override
    public void warn(HasMetadata object, String reason, String note) {
      notices.add(new Notice(object.getKind(), object.getMetadata().getName(), reason, note));
    }
  }
}
