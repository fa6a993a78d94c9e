package dev.sluice.endtoend;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Watches the pods of a namespace whose queue has such a quota, and tells when more ran than that,
 * and how long. A pod runs from its node on, and until it has ended. It is taken as stopped when it
 * is being deleted with a grace period of half a minute at most. It knows nothing of jobs and
 * Workloads: what runs on a node is what counts. Thread-safe.
 */
final class QuotaWatch implements AutoCloseable {

  private static final long LONGEST_GRACE_SECONDS = 30;
  private static final int WHOLE = 100;

  private final Map<String, BigDecimal> quota;
  private final InstantSource clock;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, Map<String, BigDecimal>> running = new HashMap<>();
  private final Set<String> everRan = new HashSet<>();
  private final List<Excess> excesses = new ArrayList<>();
  private @Nullable Excess present;
  private final SharedIndexInformer<Pod> pods;

  /**
   * A time in which more ran than the quota.
   *
   * @param since its beginning
   * @param lasted how long
   * @param most the most that ran in it, in percent of the quota
   */
  record Excess(Instant since, Duration lasted, int most) {}

  /** Watches from now on. */
  QuotaWatch(
      KubernetesClient client, String namespace, Map<String, Quantity> quota, InstantSource clock) {
    this.quota = new HashMap<>();
    quota.forEach((resource, amount) -> this.quota.put(resource, amount.getNumericalAmount()));
    this.clock = clock;
    this.pods = client.pods().inNamespace(namespace).inform(new Handler());
  }

  private final class Handler implements ResourceEventHandler<Pod> {
    @Override
    public void onAdd(Pod pod) {
      seen(pod);
    }

    @Override
    public void onUpdate(Pod before, Pod pod) {
      seen(pod);
    }

    @Override
    public void onDelete(Pod pod, boolean unknown) {
      change(pod, false);
    }
  }

  private void seen(Pod pod) {
    String phase = pod.getStatus() == null ? "" : String.valueOf(pod.getStatus().getPhase());
    boolean ended = phase.equals("Succeeded") || phase.equals("Failed");
    boolean bound = pod.getSpec().getNodeName() != null;
    Long grace = pod.getMetadata().getDeletionGracePeriodSeconds();
    boolean stopped =
        pod.getMetadata().getDeletionTimestamp() != null
            && grace != null
            && grace <= LONGEST_GRACE_SECONDS;
    change(pod, bound && !ended && !stopped);
  }

  private void change(Pod pod, boolean runs) {
    lock.lock();
    try {
      String uid = pod.getMetadata().getUid();
      if (runs) {
        Map<String, BigDecimal> requested = new HashMap<>();
        quota.keySet().forEach(resource -> requested.put(resource, requested(pod, resource)));
        running.put(uid, requested);
        everRan.add(uid);
      } else {
        running.remove(uid);
      }
      judge();
    } finally {
      lock.unlock();
    }
  }

  private void judge() {
    int used = quota.keySet().stream().mapToInt(this::used).max().orElse(0);
    Instant now = clock.instant();
    Excess open = present;
    if (used > WHOLE) {
      Instant since = open == null ? now : open.since();
      int most = open == null ? used : Math.max(open.most(), used);
      present = new Excess(since, Duration.between(since, now), most);
    } else if (open != null) {
      excesses.add(new Excess(open.since(), Duration.between(open.since(), now), open.most()));
      present = null;
    }
  }

  /** In percent, rounded up. */
  private int used(String resource) {
    return running.values().stream()
        .map(pod -> pod.getOrDefault(resource, BigDecimal.ZERO))
        .reduce(BigDecimal.ZERO, BigDecimal::add)
        .multiply(BigDecimal.valueOf(WHOLE))
        .divide(quota.getOrDefault(resource, BigDecimal.ONE), 0, RoundingMode.UP)
        .intValue();
  }

  /** What the scheduler counts: containers together, or one container of the beginning. */
  private static BigDecimal requested(Pod pod, String resource) {
    BigDecimal sum =
        pod.getSpec().getContainers().stream()
            .map(container -> requested(container.getResources(), resource))
            .reduce(BigDecimal.ZERO, BigDecimal::add);
    BigDecimal first =
        pod.getSpec().getInitContainers().stream()
            .map(container -> requested(container.getResources(), resource))
            .reduce(BigDecimal.ZERO, BigDecimal::max);
    BigDecimal declared = requested(pod.getSpec().getResources(), resource);
    return declared.signum() > 0 ? declared : sum.max(first);
  }

  private static BigDecimal requested(@Nullable ResourceRequirements of, String resource) {
    Map<String, Quantity> requests = of == null ? null : of.getRequests();
    Quantity amount = requests == null ? null : requests.get(resource);
    return amount == null ? BigDecimal.ZERO : amount.getNumericalAmount();
  }

  /** The times in which more ran, those that are over. */
  List<Excess> excesses() {
    lock.lock();
    try {
      return List.copyOf(excesses);
    } finally {
      lock.unlock();
    }
  }

  /** The time in which more runs, if it isn't over. */
  Optional<Excess> present() {
    lock.lock();
    try {
      return Optional.ofNullable(present)
          .map(
              open ->
                  new Excess(
                      open.since(), Duration.between(open.since(), clock.instant()), open.most()));
    } finally {
      lock.unlock();
    }
  }

  /** How many pods ever ran. */
  int everRan() {
    lock.lock();
    try {
      return everRan.size();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    pods.close();
  }
}
