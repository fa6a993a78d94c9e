package dev.sluice.checks.provisioning;

import io.fabric8.kubernetes.client.informers.cache.Cache;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The requests by the UID of the Workload that controls them. Readable from any thread. */
final class OwnedRequests {

  private final Map<String, Map<String, CachedRequest>> byOwner = new ConcurrentHashMap<>();

  /** The requests that the Workload of this UID controls. */
  Collection<CachedRequest> of(String workloadUid) {
    Map<String, CachedRequest> owned = byOwner.get(workloadUid);
    return owned == null ? List.of() : List.copyOf(owned.values());
  }

  /** A request appeared ({@code before} is null), changed, or went ({@code after} is null). */
  void changed(@Nullable CachedRequest before, @Nullable CachedRequest after) {
    if (before != null && (after == null || !before.controller().equals(after.controller()))) {
      byOwner.computeIfPresent(
          before.controller(),
          (uid, owned) -> {
            owned.remove(key(before));
            return owned.isEmpty() ? null : owned;
          });
    }
    if (after != null && !after.controller().isEmpty()) {
      byOwner.compute(
          after.controller(),
          (uid, owned) -> {
            Map<String, CachedRequest> result = owned == null ? new ConcurrentHashMap<>() : owned;
            result.put(key(after), after);
            return result;
          });
    }
  }

  private static String key(CachedRequest request) {
    return Cache.namespaceKeyFunc(request.namespace(), request.name());
  }
}
