package dev.sluice.workload;

import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadLister;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A store of what a test puts into {@code known}, by name; all of it is in any queue. */
public record KnownWorkloads(Map<String, CachedWorkload> known) implements WorkloadLister {

  /** An empty one, to which Workloads are added. */
  public KnownWorkloads() {
    this(new LinkedHashMap<>());
  }

  /** Adds a Workload, in place of one of its name. */
  public void add(CachedWorkload workload) {
    known.put(workload.id().name(), workload);
  }

  @Override
  public Optional<CachedWorkload> get(String namespace, String name) {
    return Optional.ofNullable(known.get(name));
  }

  @Override
  public Collection<CachedWorkload> ownedBy(String ownerUid) {
    return known.values().stream()
        .filter(it -> it.owner().filter(owner -> owner.uid().equals(ownerUid)).isPresent())
        .toList();
  }

  @Override
  public Collection<CachedWorkload> inQueue(String namespace, String queueName) {
    return known.values();
  }

  @Override
  public Collection<CachedWorkload> reservingIn(String clusterQueue) {
    return List.of();
  }

  @Override
  public Iterable<CachedWorkload> all() {
    return List.copyOf(known.values());
  }

  @Override
  public int size() {
    return known.size();
  }
}
