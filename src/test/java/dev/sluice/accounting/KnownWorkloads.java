package dev.sluice.accounting;

import dev.sluice.workload.CachedWorkload;
import dev.sluice.workload.WorkloadLister;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/** The Workloads of a test. */
public final class KnownWorkloads implements WorkloadLister {

  /** All of them; a test changes the list. */
  public final List<CachedWorkload> all = new ArrayList<>();

  @Override
  public Optional<CachedWorkload> get(String namespace, String name) {
    return all.stream().filter(it -> it.id().name().equals(name)).findFirst();
  }

  @Override
  public Collection<CachedWorkload> ownedBy(String uid) {
    return all.stream()
        .filter(it -> it.owner().filter(owner -> owner.uid().equals(uid)).isPresent())
        .toList();
  }

  @Override
  public Collection<CachedWorkload> inQueue(String namespace, String queueName) {
    return List.of();
  }

  @Override
  public Collection<CachedWorkload> reservingIn(String clusterQueue) {
    return List.of();
  }

  @Override
  public Iterable<CachedWorkload> all() {
    return all;
  }

  @Override
  public int size() {
    return all.size();
  }
}
