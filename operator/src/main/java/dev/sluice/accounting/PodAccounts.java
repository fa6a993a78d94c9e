package dev.sluice.accounting;

import dev.sluice.accounting.AdmissionComparison.Charge;
import dev.sluice.accounting.AdmissionComparison.Finding;
import dev.sluice.api.KueueConstants;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Owner;
import dev.sluice.workload.record.WorkloadListener;
import dev.sluice.workload.record.WorkloadLister;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Which pods belong to which Workloads, and what these are charged for. A Workload that has
 * finished or was deleted stays charged as long as pods of it remain that no other Workload is
 * charged for. Usable from any thread.
 */
public final class PodAccounts implements WorkloadListener {

  private final WorkloadLister workloads;
  private final AdmissionComparison comparison;
  private final Consumer<Account> listener;
  private final PodRecords records;
  private final ToleratedTime toleratedTime = new ToleratedTime();
  private volatile Predicate<String> lostNodes = node -> false;
  private volatile Predicate<Account> withoutWorkload = account -> false;
  private volatile Consumer<PodRecord> podListener = pod -> {};

  /**
   * Accounts with a Workload that ended without a word of its job: pods of it may exist that the
   * watch doesn't know yet. It stays charged until all that exist are known.
   */
  private final Set<Account> unverified = ConcurrentHashMap.newKeySet();

  /** How many accounts are remembered that ended without quota, and of which no pods are known. */
  private static final int ENDED_WITHOUT_QUOTA = 1_000;

  /**
   * What is left of an account that nothing is charged for.
   *
   * @param last its last Workload; none if its job ended before it had one
   */
  record Remains(Optional<Ownership> last) {

    private static Remains of(CachedWorkload last) {
      return new Remains(Optional.of(Ownership.of(last).bounded()));
    }

    /** Whether its pods may be deleted; a job that never had a Workload was never admitted. */
    boolean areStoppable(Predicate<Ownership> stoppable) {
      return last.isEmpty() || stoppable.test(last.get());
    }
  }

  /**
   * Accounts whose pods nothing is charged for: their charge ended while pods of them were on lost
   * nodes or gated, or they ended without quota while they had pods. There are no more of them than
   * pods, apart from those that are settled next.
   */
  private final Map<Account, Remains> beyondReach = new ConcurrentHashMap<>();

  /** Accounts that had pods when they were looked at last. */
  private final Set<Account> withPods = ConcurrentHashMap.newKeySet();

  private final ReentrantLock lock = new ReentrantLock();

  // All of these are guarded by the lock. Workloads that are controlled by a job are found by the
  // cache; these are the others.
  private final Map<String, Account> byWorkload = new HashMap<>();
  private final Map<Account, Map<String, WorkloadId>> members = new HashMap<>();
  private final Map<String, Set<Account>> byPod = new HashMap<>();
  private final Map<Account, Set<String>> podsOf = new HashMap<>();
  private final Map<Account, Map<String, CachedWorkload>> held = new HashMap<>();
  private final Set<String> heldUids = new HashSet<>();
  private final Set<String> outlasted = new HashSet<>();

  /**
   * The last accounts that ended without quota: pods of them that the watch doesn't know yet may
   * run, because somebody started the job.
   */
  private final SequencedMap<Account, Remains> endedWithoutQuota = new LinkedHashMap<>();

  /**
   * Without pods and Workloads.
   *
   * @param listener called when something changed that an account depends on
   */
  public PodAccounts(
      WorkloadLister workloads, AdmissionComparison comparison, Consumer<Account> listener) {
    this.workloads = workloads;
    this.comparison = comparison;
    this.listener = listener;
    this.records = new PodRecords(this::podChanged, this::isRoot);
  }

  private void podChanged(PodRecord pod) {
    podListener.accept(pod);
    Set<Account> found = accountsOf(pod);
    (found.isEmpty() ? withoutAny(pod) : found).forEach(listener);
  }

  /**
   * The accounts of a pod that no Workload speaks for: those of jobs that are to be queued and have
   * none. A pod that was to be held, and belongs to nobody, is an account of its own.
   */
  private Set<Account> withoutAny(PodRecord pod) {
    Set<Account> found = withoutAny(pod.namespace(), records.above(pod));
    if (pod.isStray()) {
      found.add(new Account(pod.namespace(), pod.uid().toString()));
    }
    return found;
  }

  private Set<Account> withoutAny(String namespace, Set<String> uids) {
    return uids.stream()
        .map(uid -> new Account(namespace, uid))
        .filter(withoutWorkload)
        .collect(Collectors.toCollection(LinkedHashSet::new));
  }

  /** Whether an object has a Workload of its own. */
  private boolean isRoot(String uid) {
    if (!workloads.ownedBy(uid).isEmpty()) {
      return true;
    }
    lock.lock();
    try {
      return byPod.containsKey(uid);
    } finally {
      lock.unlock();
    }
  }

  /** The pods. */
  public PodRecords records() {
    return records;
  }

  /** From now on this is called after a pod appeared, changed or went, in its last version. */
  void whenPodChanges(Consumer<PodRecord> changed) {
    podListener = changed;
  }

  /**
   * Pods that are bound to one of these nodes don't count: the node doesn't exist any more, or
   * can't be reached.
   */
  public void lostNodes(Predicate<String> nodes) {
    lostNodes = nodes;
  }

  /**
   * Which jobs are to be queued and have no Workload: nothing is charged for their pods, which are
   * looked at all the same.
   */
  public void withoutWorkload(Predicate<Account> jobs) {
    withoutWorkload = jobs;
  }

  /** A job appeared or changed: it, or one above it, may be one without Workload. */
  public void jobChanged(String namespace, String uid) {
    withoutAny(namespace, records.above(uid)).stream().filter(this::isWorthALook).forEach(listener);
  }

  /** An object that is no pod, such as a job, is controlled by another one. */
  public void linked(String uid, String parent) {
    if (records.linked(uid, parent)) {
      accountsAbove("", records.above(uid)).stream().filter(this::isWorthALook).forEach(listener);
    }
  }

  /** The accounts that a pod belongs to: as a rule one, or none. */
  public Set<Account> accountsOf(PodRecord pod) {
    return accountsAbove(pod.namespace(), records.above(pod));
  }

  private Set<Account> accountsAbove(String namespace, Set<String> uids) {
    Set<Account> found = new LinkedHashSet<>();
    for (String uid : uids) {
      workloads.ownedBy(uid).stream()
          .map(workload -> new Account(workload.id().namespace(), uid))
          .forEach(found::add);
    }
    lock.lock();
    try {
      uids.forEach(uid -> found.addAll(byPod.getOrDefault(uid, Set.of())));
      for (String uid : uids) {
        Account account = new Account(namespace, uid);
        if (members.containsKey(account)
            || held.containsKey(account)
            || beyondReach.containsKey(account)
            || endedWithoutQuota.containsKey(account)) {
          found.add(account);
        }
      }
    } finally {
      lock.unlock();
    }
    if (!namespace.isEmpty()) {
      found.removeIf(account -> !account.namespace().equals(namespace));
    }
    return found;
  }

  /** The account of a Workload. */
  public Account accountOf(CachedWorkload workload) {
    lock.lock();
    try {
      Account known = byWorkload.get(workload.id().uid());
      return known == null ? named(workload) : known;
    } finally {
      lock.unlock();
    }
  }

  /** The account that a Workload names: that of its job, or of its pods. */
  private static Account named(CachedWorkload workload) {
    String root =
        workload
            .owner()
            .map(Owner::uid)
            .or(
                () ->
                    workload.coOwners().stream()
                        .filter(owner -> !owner.isPod())
                        .map(Owner::uid)
                        .findFirst())
            .or(
                () ->
                    workload.coOwners().isEmpty()
                        ? Optional.ofNullable(workload.labels().get(KueueConstants.JOB_UID))
                        : Optional.empty())
            .orElse(workload.id().uid());
    return new Account(workload.id().namespace(), root);
  }

  /**
   * Whether a Workload is that of a set of pods, such as a StatefulSet, which it names as owner.
   */
  static boolean isOfSet(CachedWorkload workload) {
    return !workload.coOwners().stream().allMatch(Owner::isPod);
  }

  /** The accounts of all Workloads, also of those that were deleted while pods of them run. */
  public Set<Account> all() {
    Set<Account> all = new LinkedHashSet<>(beyondReach.keySet());
    workloads.all().forEach(workload -> all.add(accountOf(workload)));
    lock.lock();
    try {
      all.addAll(held.keySet());
    } finally {
      lock.unlock();
    }
    return all;
  }

  /** The accounts of all pods that no Workload speaks for. */
  public Set<Account> withoutAny() {
    return records.all().stream()
        .filter(pod -> accountsOf(pod).isEmpty())
        .flatMap(pod -> withoutAny(pod).stream())
        .collect(Collectors.toSet());
  }

  /** Nodes were lost, or are back: accounts of their pods are looked at. */
  public void nodeChanged(String node) {
    records.on(node).forEach(pod -> accountsOf(pod).forEach(listener));
  }

  /** The Workloads of an account. */
  public List<CachedWorkload> workloadsOf(Account account) {
    List<WorkloadId> ids;
    lock.lock();
    try {
      ids = List.copyOf(members.getOrDefault(account, Map.of()).values());
    } finally {
      lock.unlock();
    }
    List<CachedWorkload> found = new ArrayList<>();
    workloads.ownedBy(account.root()).stream()
        .filter(workload -> workload.id().namespace().equals(account.namespace()))
        .forEach(found::add);
    for (WorkloadId id : ids) {
      workloads.get(id).filter(workload -> !found.contains(workload)).ifPresent(found::add);
    }
    return found;
  }

  /** The pods of an account that run, or may run, on nodes that exist. */
  public List<PodRecord> podsOf(Account account) {
    return anywhere(account).stream()
        .filter(pod -> pod.node().isEmpty() || !lostNodes.test(pod.node()))
        .toList();
  }

  /** The pods of an account that run, or may run, also on nodes that can't be reached. */
  private List<PodRecord> anywhere(Account account) {
    return known(account).stream().filter(PodRecord::runs).toList();
  }

  /** The pods of an account, also those that a gate holds: who holds them may let them go later. */
  private List<PodRecord> known(Account account) {
    return records.below(roots(account)).stream()
        .filter(pod -> pod.namespace().equals(account.namespace()))
        // somebody's copy of a pod of a job that goes on is none of the job's
        .filter(pod -> !pod.isOnlyLabelled() || reserving(account).isEmpty())
        .toList();
  }

  /** Whether any pod may belong to an account, gated or not, on any node. */
  private boolean hasPods(Account account) {
    return records.hasBelow(roots(account));
  }

  /** The UIDs below which the pods of an account are found. */
  private Set<String> roots(Account account) {
    lock.lock();
    try {
      Set<String> pods = podsOf.getOrDefault(account, Set.of());
      if (pods.isEmpty()) {
        return Set.of(account.root());
      }
      Set<String> roots = new HashSet<>(pods);
      roots.add(account.root());
      return roots;
    } finally {
      lock.unlock();
    }
  }

  /** How many pods of a job run, or may run, on nodes that exist. */
  public int running(String namespace, String uid) {
    return podsOf(new Account(namespace, uid)).size();
  }

  /** What an account is charged for: its Workloads with quota, and those that pods hold. */
  public Charge charge(Account account) {
    List<CachedWorkload> charged = charged(account);
    return charged.isEmpty() ? Charge.NOTHING : comparison.charge(charged);
  }

  /** The Workloads that are charged for the pods of an account. */
  List<CachedWorkload> charged(Account account) {
    List<CachedWorkload> charged = new ArrayList<>(reserving(account));
    charged.addAll(heldBy(account));
    return charged;
  }

  /** The Workloads of an account that have ended and are charged, because pods of them run. */
  List<CachedWorkload> heldBy(Account account) {
    lock.lock();
    try {
      return List.copyOf(held.getOrDefault(account, Map.of()).values());
    } finally {
      lock.unlock();
    }
  }

  /** Whether another account has quota for a pod: a later job has adopted it. */
  boolean isChargedElsewhere(PodRecord pod, Account account) {
    return !pod.isOnlyLabelled()
        && accountsOf(pod).stream()
            .anyMatch(other -> !other.equals(account) && !reserving(other).isEmpty());
  }

  /** The same without a Workload that pods may hold; it stays held while this is worked out. */
  private Charge chargeBeside(Account account, CachedWorkload last) {
    List<CachedWorkload> charged = new ArrayList<>(reserving(account));
    lock.lock();
    try {
      held.getOrDefault(account, Map.of()).values().stream()
          .filter(workload -> !workload.id().uid().equals(last.id().uid()))
          .forEach(charged::add);
    } finally {
      lock.unlock();
    }
    return charged.isEmpty() ? Charge.NOTHING : comparison.charge(charged);
  }

  /** The Workloads that are charged for a pod, by what is known of its owners. */
  public List<CachedWorkload> charged(PodRecord pod) {
    return accountsOf(pod).stream().flatMap(account -> charged(account).stream()).toList();
  }

  /**
   * What pods request that no Workload is charged for, by node and resource; each is one of {@code
   * pods}, too.
   */
  public Map<String, SortedMap<String, Long>> foreignRequests() {
    Map<String, SortedMap<String, Long>> byNode = new HashMap<>();
    for (PodRecord pod : records.bound()) {
      if (charged(pod).isEmpty()) {
        SortedMap<String, Long> sum = byNode.computeIfAbsent(pod.node(), any -> new TreeMap<>());
        pod.amounts()
            .requested()
            .forEach((resource, amount) -> sum.merge(resource, amount, ResourceAmounts::add));
        sum.merge("pods", 1L, ResourceAmounts::add);
      }
    }
    return byNode;
  }

  /**
   * Compares pods of an account with what it is charged for. Those that terminate count once the
   * account has used all the time for which they may be replaced.
   */
  Finding find(Account account, Collection<PodRecord> pods, Instant now) {
    return find(account, charge(account), pods, releases(account, pods), now);
  }

  private Finding find(
      Account account, Charge charge, Collection<PodRecord> pods, boolean released, Instant now) {
    return !released && toleratedTime.isSpent(account, now)
        ? comparison.findWithTerminating(charge, pods)
        : comparison.find(charge, pods, released, now);
  }

  /**
   * The same of all pods that an account has now: for how long some of them run beside those that
   * terminate counts from now on.
   */
  Finding look(Account account, Collection<PodRecord> pods, Instant now) {
    if (pods.isEmpty()) {
      withPods.remove(account);
      if (!toleratedTime.isUsed(account)) {
        return Finding.NOTHING;
      }
    } else {
      withPods.add(account);
    }
    Charge charge = charge(account);
    boolean released = releases(account, pods);
    int beside = released ? 0 : comparison.beside(charge, pods, now);
    Optional<Instant> spentAt = toleratedTime.observe(account, charge.pods(), beside, now);
    Finding finding = find(account, charge, pods, released, now);
    return new Finding(
        finding.beyond(),
        finding.excess(),
        Stream.concat(finding.lookAgainAt().stream(), spentAt.stream()).min(Instant::compareTo));
  }

  /** Whether the terminating pods of an account have given their quota back. */
  private boolean releases(Account account, Collection<PodRecord> pods) {
    return comparison.releasesFast() && isOfPods(account, pods);
  }

  /** Whether the pods of an account are jobs themselves: what would stop them is above none. */
  private boolean isOfPods(Account account, Collection<PodRecord> pods) {
    List<Ownership> known =
        Stream.concat(
                workloadsOf(account).stream().map(Ownership::of),
                beyondReach(account).flatMap(Remains::last).stream())
            .toList();
    return known.isEmpty()
        ? pods.stream().allMatch(PodRecord::isStray)
        : known.stream().allMatch(Ownership::isOfPods);
  }

  /** The Workloads of an account that have quota. */
  public List<CachedWorkload> reserving(Account account) {
    return workloadsOf(account).stream().filter(PodAccounts::reserves).toList();
  }

  private static boolean reserves(CachedWorkload workload) {
    return workload.quotaReserved()
        && !workload.finished()
        && workload.status().admission().isPresent();
  }

  /**
   * Whether a Workload that has finished or was deleted is still charged, because pods of it run.
   */
  public boolean isHeld(WorkloadId workload) {
    lock.lock();
    try {
      return heldUids.contains(workload.uid());
    } finally {
      lock.unlock();
    }
  }

  /** Whether pods have held a Workload for so long that nobody shall wait for them. */
  public boolean isOutlasted(WorkloadId workload) {
    lock.lock();
    try {
      return outlasted.contains(workload.uid());
    } finally {
      lock.unlock();
    }
  }

  /**
   * Pods have held the Workloads of an account for long.
   *
   * @return those of which that is new
   */
  List<CachedWorkload> outlast(Account account) {
    lock.lock();
    try {
      return heldBy(account).stream()
          .filter(workload -> outlasted.add(workload.id().uid()))
          .toList();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    CachedWorkload workload = after == null ? before : after;
    if (workload == null) {
      return;
    }
    Account account = register(before, workload);
    boolean ends = after == null || after.finished();
    if (ends) {
      charged(before, after)
          .ifPresentOrElse(
              last -> {
                if (after == null || isAbandoned(after)) {
                  unverified.add(account);
                }
                hold(account, last);
              },
              () -> {
                if (after == null) {
                  remember(account, Remains.of(workload));
                }
              });
    } else if (after != null && reserves(after)) {
      release(account, workload.id().uid());
    }
    if (after == null && !isHeld(workload.id())) {
      forget(account, workload.id().uid());
    }
    if (isWorthALook(account)) {
      listener.accept(account);
    }
  }

  /**
   * Whether there is anything to compare, settle or stop. Of an account without pods there isn't,
   * unless it had some at the last look, or has to do with what they did. Asked after everything
   * that leads from a pod to the account is known: so whichever of the two comes last finds the
   * other one.
   */
  private boolean isWorthALook(Account account) {
    return withPods.contains(account)
        || isUnverified(account)
        || beyondReach.containsKey(account)
        || !heldBy(account).isEmpty()
        || toleratedTime.isUsed(account)
        || hasPods(account);
  }

  /** Whether a Workload has ended because its job is gone, not because the job has ended. */
  public static boolean isAbandoned(CachedWorkload workload) {
    return workload
        .status()
        .condition("Finished")
        .filter(finished -> finished.reason().equals(KueueConstants.OWNER_NOT_FOUND))
        .isPresent();
  }

  /**
   * Whether the charge of an account waits for {@link #verified}: the pods that exist are to be
   * listed, and all of them to be known.
   */
  public boolean isUnverified(Account account) {
    return unverified.contains(account);
  }

  /** All pods that existed after a Workload of an account had ended are known. */
  public void verified(Account account) {
    unverified.remove(account);
  }

  /** What was charged of a Workload that has just ended; empty if nothing was. */
  private static Optional<CachedWorkload> charged(
      @Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    if (before != null) {
      return Optional.of(before).filter(PodAccounts::reserves);
    }
    return Optional.ofNullable(after)
        .filter(CachedWorkload::quotaReserved)
        .filter(workload -> workload.status().admission().isPresent());
  }

  /** A Workload without controller is registered; it stays in the account of a former one. */
  private Account register(@Nullable CachedWorkload before, CachedWorkload workload) {
    lock.lock();
    try {
      String uid = workload.id().uid();
      Account known = byWorkload.get(uid);
      Account named = named(workload);
      Account account =
          known != null
              ? known
              : before != null && before.owner().isPresent() ? named(before) : named;
      if (workload.owner().isEmpty() || !account.equals(named)) {
        byWorkload.put(uid, account);
        members.computeIfAbsent(account, any -> new HashMap<>(2)).put(uid, workload.id());
        workload.coOwners().stream()
            .filter(Owner::isPod)
            .forEach(
                pod -> {
                  byPod.computeIfAbsent(pod.uid(), any -> new HashSet<>(2)).add(account);
                  podsOf.computeIfAbsent(account, any -> new HashSet<>()).add(pod.uid());
                });
      }
      return account;
    } finally {
      lock.unlock();
    }
  }

  private void forget(Account account, String workload) {
    lock.lock();
    try {
      byWorkload.remove(workload);
      Map<String, WorkloadId> left = members.get(account);
      if (left == null) {
        return;
      }
      left.remove(workload);
      if (left.isEmpty()) {
        members.remove(account);
        Set<String> pods = podsOf.remove(account);
        for (String pod : pods == null ? Set.<String>of() : pods) {
          byPod.computeIfPresent(
              pod,
              (same, accounts) -> {
                accounts.remove(account);
                return accounts.isEmpty() ? null : accounts;
              });
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Goes on charging a Workload if pods remain that nothing else is charged for. Those on lost
   * nodes and gated ones don't count, but are remembered: such a node may come back with them, and
   * somebody may open their gates. Pods that are jobs themselves, and gated, have their own gate.
   */
  private void hold(Account account, CachedWorkload last) {
    boolean remain = isUnverified(account);
    boolean lost = false;
    if (!remain && hasPods(account)) {
      Charge charge = chargeBeside(account, last);
      remain = !comparison.within(charge, holding(account, last));
      List<PodRecord> later = Ownership.of(last).isOfPods() ? anywhere(account) : known(account);
      lost = !remain && !comparison.within(charge, later);
    }
    lock.lock();
    try {
      if (remain) {
        held.computeIfAbsent(account, any -> new HashMap<>(2)).put(last.id().uid(), last);
        heldUids.add(last.id().uid());
      } else {
        release(account, last.id().uid());
      }
      if (lost) {
        beyondReach.put(account, Remains.of(last));
      }
    } finally {
      lock.unlock();
    }
  }

  /** The pods of an account that keep what a Workload was charged that has ended. */
  private List<PodRecord> holding(Account account, CachedWorkload last) {
    List<PodRecord> pods = podsOf(account);
    return comparison.releasesFast() && Ownership.of(last).isOfPods()
        ? pods.stream().filter(pod -> pod.deletion().isEmpty()).toList()
        : pods;
  }

  /**
   * What is left of an account whose pods are more than what it is charged for: the Workload that
   * was charged last when their node was lost, one that was deleted without quota, one that stays
   * charged although it was deleted, or none of a job that ended before it had one.
   */
  Optional<Remains> beyondReach(Account account) {
    Remains remains = beyondReach.get(account);
    if (remains != null) {
      return Optional.of(remains);
    }
    return heldBy(account).stream().findFirst().map(Remains::of);
  }

  /**
   * A job doesn't exist any more that was to be queued. If it never had a Workload, its pods are
   * found by this: somebody may have started it, and deleted it without them. If its Workload has
   * ended before, pods of it may be left.
   *
   * @param queued whether it was to be queued itself; it may have been once
   */
  public void jobEnded(Account account, boolean queued) {
    if (!heldBy(account).isEmpty()) {
      listener.accept(account);
    } else if (queued
        && workloadsOf(account).isEmpty()
        && beyondReach(account).isEmpty()
        && remember(account, new Remains(Optional.empty()))
        && isWorthALook(account)) {
      listener.accept(account);
    }
  }

  /**
   * Pods of an account that ended without quota are found later, too. When there are too many such
   * accounts, the eldest is settled, which forgets it if it has no pods. A UID longer than any is
   * that of no owner of pods.
   *
   * @return whether this account was not remembered before
   */
  private boolean remember(Account account, Remains remains) {
    if (account.root().length() > PodRecordParser.LONGEST_NAME) {
      return false;
    }
    Optional<Account> eldest = Optional.empty();
    boolean isNew;
    lock.lock();
    try {
      isNew = !endedWithoutQuota.containsKey(account);
      endedWithoutQuota.merge(
          account, remains, (known, now) -> now.last().isPresent() ? now : known);
      if (endedWithoutQuota.size() > ENDED_WITHOUT_QUOTA) {
        eldest = Optional.of(endedWithoutQuota.firstEntry().getKey());
        eldest.ifPresent(this::keep);
      }
    } finally {
      lock.unlock();
    }
    eldest.ifPresent(listener);
    return isNew;
  }

  /**
   * Once pods of a Workload that ended without quota are known, it is remembered for their life.
   */
  private void remember(Account account) {
    boolean ended;
    lock.lock();
    try {
      ended = endedWithoutQuota.containsKey(account);
    } finally {
      lock.unlock();
    }
    // Asked first: this is called for each change of a pod, and few accounts are remembered.
    if (ended && !known(account).isEmpty()) {
      keep(account);
    }
  }

  /** An account that ended without quota is remembered until it is settled without pods. */
  private void keep(Account account) {
    lock.lock();
    try {
      Remains remains = endedWithoutQuota.remove(account);
      if (remains != null) {
        beyondReach.putIfAbsent(account, remains);
      }
    } finally {
      lock.unlock();
    }
  }

  private void release(Account account, String workload) {
    lock.lock();
    try {
      heldUids.remove(workload);
      outlasted.remove(workload);
      held.computeIfPresent(
          account,
          (same, each) -> {
            each.remove(workload);
            return each.isEmpty() ? null : each;
          });
    } finally {
      lock.unlock();
    }
  }

  /**
   * Ends the charge of Workloads of an account that no pods hold any more.
   *
   * @return these Workloads
   */
  public Collection<WorkloadId> settle(Account account) {
    List<CachedWorkload> before = heldBy(account);
    remember(account);
    if (beyondReach.containsKey(account) && comparison.within(charge(account), known(account))) {
      beyondReach.remove(account);
    }
    List<WorkloadId> released = new ArrayList<>();
    for (CachedWorkload workload : before) {
      hold(account, workload);
      if (!isHeld(workload.id())) {
        released.add(workload.id());
        if (workloads.get(workload.id()).isEmpty()) {
          forget(account, workload.id().uid());
        }
      }
    }
    return released;
  }

  /**
   * What owns Workloads, and pods beside them.
   *
   * @param namespace its namespace
   * @param root the UID of the owner; of a group of pods, which own their Workload together, the
   *     UID of the Workload
   */
  public record Account(String namespace, String root) {

    @Override
    public String toString() {
      return namespace + "/" + root;
    }
  }

  /**
   * Whose a Workload is: all that is asked of one that doesn't exist any more, however large it
   * was.
   *
   * @param id the identity of the Workload
   * @param controller the owner that controls it, if one does
   * @param others its other owners
   * @param finished whether it has finished
   * @param remote whether its job is attended to by another cluster
   */
  public record Ownership(
      WorkloadId id,
      Optional<Owner> controller,
      List<Owner> others,
      boolean finished,
      boolean remote) {

    /** As a Workload says. */
    public static Ownership of(CachedWorkload workload) {
      return new Ownership(
          workload.id(),
          workload.owner(),
          workload.coOwners(),
          workload.finished(),
          isRemote(workload));
    }

    /** Whether the job of a Workload is attended to by another cluster. */
    public static boolean isRemote(CachedWorkload workload) {
      return !workload.status().remotePlacement().cluster().isEmpty()
          || workload.labels().containsKey(KueueConstants.MULTIKUEUE_ORIGIN);
    }

    /** With as much of the owners as is remembered of those of a pod. */
    private Ownership bounded() {
      return new Ownership(
          id,
          controller.map(PodRecordParser::bounded),
          others.stream().limit(PodRecord.MOST_OWNERS).map(PodRecordParser::bounded).toList(),
          finished,
          remote);
    }

    /** Whether the Workload is that of a pod, of a group of pods, or of a set that makes such. */
    private boolean isOfPods() {
      return controller.map(Owner::isPod).orElse(!others.isEmpty());
    }
  }
}
