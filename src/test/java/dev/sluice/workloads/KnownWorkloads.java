package dev.sluice.workloads;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A store of what a test puts into {@code known}, by name; all of it is in any queue. */
record KnownWorkloads(Map<String, Workload> known) implements WorkloadStore {

  @Override
  public Optional<Workload> get(String namespace, String name) {
    return Optional.ofNullable(known.get(name));
  }

  @Override
  public Collection<Workload> ownedBy(String ownerUid) {
    return List.of();
  }

  @Override
  public Collection<Workload> inQueue(String namespace, String queueName) {
    return known.values();
  }

  @Override
  public Collection<Workload> reservingIn(String clusterQueue) {
    return List.of();
  }

  @Override
  public Iterable<Workload> all() {
    return List.copyOf(known.values());
  }

  @Override
  public int size() {
    return known.size();
  }
}
