package dev.sluice.accounting;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.accounting.AdmissionComparison.Finding;
import dev.sluice.accounting.PodAccounts.Account;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Lets pods exist only as far as their accounts are charged for them
 * (docs/pod-accounting.md#prevent). A pod that was let in counts from that moment on, although the
 * watch tells of it later. Usable from any thread.
 */
public final class PodPrevention {

  /**
   * How long a pod that was let in is expected to appear: a little longer than an API server works
   * at one request.
   */
  static final Duration EXPECTED = Duration.ofSeconds(65);

  private final Dependencies dependencies;
  private final PodAccounts accounts;
  private final ReentrantLock lock = new ReentrantLock();

  /** The pods that were let in, and of which the watch hasn't told. Guarded by the lock. */
  private final Map<UUID, Expected> expected = new HashMap<>();

  private record Expected(PodRecord pod, Set<Account> accounts, Instant until) {}

  /**
   * What is read, and by what rules.
   *
   * @param accounts what jobs are charged for, and their pods
   * @param parser makes records of pods
   * @param freshPods reads pods from the API server before one is refused
   * @param owners finds what controls the controller of a pod
   * @param evictable whether a Workload with quota is one that would be evicted for its pods
   * @param stoppable whether pods of a Workload without quota would be deleted
   * @param clock the time
   */
  public record Dependencies(
      PodAccounts accounts,
      PodRecordParser parser,
      FreshPods freshPods,
      OwnerReader owners,
      Predicate<CachedWorkload> evictable,
      Predicate<CachedWorkload> stoppable,
      InstantSource clock) {}

  /** Finds what controls the controller of a pod, also where watches don't know it yet. */
  @FunctionalInterface
  public interface OwnerReader {

    /**
     * Links the controller of a pod with its own controller, and so on.
     *
     * @return why the pod may not run if nothing is charged for it: the job at the top is to be
     *     queued, or one of the controllers doesn't exist; empty if it may
     * @throws IllegalStateException if the API server doesn't answer, or refuses
     */
    Optional<String> read(PodRecord pod) throws InterruptedException;
  }

  /** Without expected pods. */
  public PodPrevention(Dependencies dependencies) {
    this.dependencies = dependencies;
    this.accounts = dependencies.accounts();
    accounts.whenPodChanges(this::seen);
  }

  /**
   * Why a pod may not run as it is to be. If it may, it is expected from now on.
   *
   * @param before the pod as it is; missing if it is to be created
   * @param pod the pod as it is to be
   * @param dryRun whether the pod won't be stored, and so isn't expected
   * @return for people; empty if the pod may run
   * @throws IllegalStateException if the API server doesn't answer, or refuses
   */
  public Optional<String> excessWith(JsonNode before, JsonNode pod, boolean dryRun)
      throws InterruptedException {
    PodRecord record = accounts.records().known(dependencies.parser().of(pod));
    if (!record.runs() || dependencies.parser().ended(pod)) {
      return Optional.empty();
    }
    Optional<String> uncharged = dependencies.owners().read(record);
    Optional<PodRecord> was =
        before.isObject()
            ? Optional.of(accounts.records().known(dependencies.parser().of(before)))
                .filter(PodRecord::runs)
            : Optional.empty();
    Set<Account> compared = new HashSet<>(accounts.accountsOf(record));
    if (compared.isEmpty() && uncharged.isPresent() && was.isEmpty()) {
      return uncharged;
    }
    compared.removeIf(account -> !isCompared(account, !before.isObject()));
    if (was.isPresent()) {
      Set<Account> had = accounts.accountsOf(was.get());
      compared.removeIf(account -> had.contains(account) && !isLarger(record, was.get()));
    }
    if (compared.isEmpty()
        || letIn(record, compared, new Listed(Set.of(), Map.of()), dryRun).isEmpty()) {
      return Optional.empty();
    }
    // The job's controller may know of the end of a pod before this process does.
    Set<UUID> asked =
        compared.stream()
            .flatMap(account -> accounts.podsOf(account).stream())
            .map(PodRecord::uid)
            .collect(Collectors.toSet());
    Map<UUID, PodRecord> living = dependencies.freshPods().living(record.namespace()).pods();
    return letIn(record, compared, new Listed(asked, living), dryRun);
  }

  private static boolean isLarger(PodRecord now, PodRecord before) {
    Map<String, Long> had = before.amounts().counted();
    return now.amounts().counted().entrySet().stream()
        .anyMatch(amount -> amount.getValue() > had.getOrDefault(amount.getKey(), 0L));
  }

  /**
   * Whether something would be done about an account that runs too much.
   *
   * @param created whether a pod is to be created: one that a set lets go was created gated
   */
  private boolean isCompared(Account account, boolean created) {
    List<CachedWorkload> reserving = accounts.reserving(account);
    if (!reserving.isEmpty()) {
      return reserving.stream().allMatch(dependencies.evictable());
    }
    return accounts.workloadsOf(account).stream()
        .allMatch(
            workload ->
                (created || !PodAccounts.isOfSet(workload))
                    && dependencies.stoppable().test(workload));
  }

  /**
   * What a list of pods told.
   *
   * @param asked the pods that were known before it was read
   * @param living all that had not ended then
   */
  private record Listed(Set<UUID> asked, Map<UUID, PodRecord> living) {

    /** The version of a pod in the list, if it is newer than one that was known before. */
    Optional<PodRecord> latest(PodRecord known) {
      if (!asked.contains(known.uid())) {
        return Optional.of(known);
      }
      return Optional.ofNullable(living.get(known.uid())).map(version -> version.after(known));
    }
  }

  /** Expects a pod, unless it is too much for one of the accounts: then says why. */
  private Optional<String> letIn(
      PodRecord pod, Set<Account> compared, Listed listed, boolean dryRun) {
    lock.lock();
    try {
      Instant now = dependencies.clock().instant();
      expected.values().removeIf(each -> now.isAfter(each.until()));
      for (Account account : compared) {
        Finding finding = accounts.find(account, with(pod, account, listed), now);
        if (finding.exceeds()) {
          return Optional.of(message(account, finding));
        }
      }
      if (!dryRun) {
        expected.put(pod.uid(), new Expected(pod, compared, now.plus(EXPECTED)));
      }
      return Optional.empty();
    } finally {
      lock.unlock();
    }
  }

  /** The pods of an account, those that are expected, and another one. */
  private List<PodRecord> with(PodRecord pod, Account account, Listed listed) {
    // Those that are expected are read first: what appears meanwhile is counted all the same.
    List<PodRecord> soon =
        expected.values().stream()
            .filter(each -> each.accounts().contains(account))
            .map(Expected::pod)
            .toList();
    Map<UUID, PodRecord> pods = new LinkedHashMap<>();
    accounts
        .podsOf(account)
        .forEach(known -> listed.latest(known).ifPresent(it -> pods.put(it.uid(), it)));
    soon.forEach(each -> pods.merge(each.uid(), each, PodPrevention::larger));
    pods.put(pod.uid(), pod);
    return new ArrayList<>(pods.values());
  }

  private static PodRecord larger(PodRecord one, PodRecord other) {
    return isLarger(other, one) ? other : one;
  }

  private String message(Account account, Finding finding) {
    String names =
        accounts.workloadsOf(account).stream()
            .map(workload -> "\"" + workload.id().name() + "\"")
            .sorted()
            .collect(Collectors.joining(", "));
    return "with it more would run than Workload "
        + names
        + " was admitted with, "
        + finding.excess();
  }

  /** A pod appeared, changed or went. */
  private void seen(PodRecord pod) {
    lock.lock();
    try {
      Expected awaited = expected.get(pod.uid());
      if (awaited != null
          && (accounts.records().find(pod.uid()).isEmpty()
              || (pod.runs() && !isLarger(awaited.pod(), pod)))) {
        expected.remove(pod.uid());
      }
    } finally {
      lock.unlock();
    }
  }
}
