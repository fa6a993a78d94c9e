package dev.sluice.accounting;

import static dev.sluice.jobs.GivenJob.job;
import static dev.sluice.jobs.GivenWorkload.workloadOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.accounting.AdmissionComparison.Charge;
import dev.sluice.accounting.AdmissionComparison.Finding;
import dev.sluice.accounting.PodAccountant.ExceedingWorkloads;
import dev.sluice.accounting.PodAccounts.Account;
import dev.sluice.accounting.PodAccounts.Ownership;
import dev.sluice.accounting.PodRecord.Amounts;
import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.GivenJob;
import dev.sluice.workload.KnownWorkloads;
import dev.sluice.workload.devices.GivenClaims;
import dev.sluice.workload.feed.AdmittedRequests;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Owner;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which pods belong to which Workloads, what these are charged for, and what is too much. */
class PodAccountsTest {

  private static final YAMLMapper YAML = new YAMLMapper();
  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");
  private static final String ROOT = GivenJob.UID;
  private static final String CHILD = "uid-of-child";

  private final KnownWorkloads workloads = new KnownWorkloads();
  private final List<Account> changed = new ArrayList<>();
  private final AdmissionComparison comparison =
      new AdmissionComparison(AdmittedRequests.PLAIN, any -> false, false);
  private final PodAccounts accounts = new PodAccounts(workloads, comparison, changed::add);
  private final PodRecordParser parser =
      new PodRecordParser(AdmittedRequests.PLAIN, image -> false);
  private final Account account = new Account("team", ROOT);

  private static UUID uid(int number) {
    return new UUID(7, number);
  }

  /** A pod of so many CPUs on a node. */
  private PodRecord pod(int number, String owner, String cpu, String further) {
    try {
      return parser.of(
          YAML.readTree(
              """
              metadata:
                namespace: team
                name: p%d
                uid: %s
                ownerReferences: [%s]
                %s
              spec:
                nodeName: n1
                %s
                containers: [{name: c, resources: {requests: {cpu: "%s"}}}]
              """
                  .formatted(
                      number,
                      uid(number),
                      owner.isEmpty()
                          ? ""
                          : "{apiVersion: batch/v1, kind: Job, name: j, controller: true, uid: "
                              + owner
                              + "}",
                      further.startsWith("spec ") ? "" : further,
                      further.startsWith("spec ") ? further.substring(5) : "",
                      cpu)));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(e);
    }
  }

  private PodRecord pod(int number) {
    return pod(number, ROOT, "1", "");
  }

  private CachedWorkload admitted() {
    CachedWorkload workload = workloadOf(job()).admitted("spot").get();
    workloads.add(workload);
    accounts.changed(null, workload);
    return workload;
  }

  private static CachedWorkload assigned(int pods, int wanted, int reclaimable) {
    return workloadOf(
            job()
                .spec("parallelism", Integer.toString(wanted))
                .spec("completions", Integer.toString(wanted)))
        .admitted("spot", pods)
        .reclaimable(reclaimable)
        .get();
  }

  private CachedWorkload change(CachedWorkload before, CachedWorkload after) {
    workloads.known().remove(before.id().name());
    workloads.add(after);
    accounts.changed(before, after);
    return after;
  }

  private Finding find() {
    return accounts.find(account, accounts.podsOf(account), NOW);
  }

  @Test
  void podsWithinTheAdmissionAreFine() {
    admitted();
    for (int i = 0; i < 3; i++) {
      accounts.records().seen(pod(i));
    }
    assertThat(find()).isEqualTo(new Finding(0, "", Optional.empty()));
    accounts.records().seen(pod(3));
    assertThat(find()).isEqualTo(new Finding(1, "pods: 4 of 3", Optional.empty()));
    accounts.records().gone(uid(0));
    assertThat(find().exceeds()).isFalse();
    assertThat(changed).contains(account);
  }

  /** docs/dynamic-quota.md#nodes-of-this-cluster */
  @Test
  void podsThatNobodyIsChargedForAreForeign() {
    PodRecord daemon = pod(7, "", "2500m", "");
    PodRecord gated = pod(8, "", "1", "spec schedulingGates: [{name: x}]");
    accounts.records().seen(daemon);
    accounts.records().seen(pod(1));
    accounts.records().seen(gated);
    accounts.records().seen(pod(9, "", "1", "spec nodeName: ''"));
    assertThat(accounts.foreignRequests())
        .as("a Job without quota")
        .isEqualTo(Map.of("n1", Map.of("cpu", 4500L, "pods", 3L)));

    accounts.records().gone(gated.uid());
    CachedWorkload workload = admitted();
    assertThat(accounts.foreignRequests())
        .isEqualTo(Map.of("n1", Map.of("cpu", 2500L, "pods", 1L)));
    accounts.records().gone(daemon.uid());
    assertThat(accounts.foreignRequests()).isEmpty();
    assertThat(workload.admitted()).isTrue();
  }

  /** As quota is: five pods with 3 CPUs were assigned, four are wanted, two were given back. */
  @Test
  void aSmallerPodSetIsChargedWithoutItsReclaimablePods() {
    assertThat(comparison.charge(List.of(assigned(5, 4, 0))).pods()).isEqualTo(4);
    Charge charge = comparison.charge(List.of(assigned(5, 4, 2)));
    assertThat(charge.pods()).isEqualTo(2);
    assertThat(charge.amounts()).containsEntry("cpu", 1200L);
    assertThat(comparison.charge(List.of(assigned(5, 9, 2))).pods()).isEqualTo(5);
    assertThat(comparison.charge(List.of(assigned(5, 1, 3))).pods()).isZero();
  }

  /** By its statistics: a message is for people. */
  @Test
  void anEvictionForAnExcessIsKnownByItsCause() {
    String reason = ExceedingWorkloads.REASON;
    assertThat(
            ExceedingWorkloads.isEvicted(
                workloadOf(job())
                    .admitted("spot")
                    .evicted(reason, "any text")
                    .counted(reason, ExceedingWorkloads.CAUSE)
                    .get()))
        .isTrue();
    assertThat(
            ExceedingWorkloads.isEvicted(
                workloadOf(job())
                    .admitted("spot")
                    .evicted(reason, ExceedingWorkloads.message("pods: 2 of 1"))
                    .counted(reason, "")
                    .get()))
        .isFalse();
    assertThat(
            ExceedingWorkloads.isEvicted(
                workloadOf(job()).admitted("spot").counted(reason, ExceedingWorkloads.CAUSE).get()))
        .isFalse();
  }

  @Test
  void amountsAreComparedTogether() {
    admitted();
    accounts.records().seen(pod(1, ROOT, "2500m", ""));
    accounts.records().seen(pod(2, ROOT, "500m", ""));
    assertThat(find().exceeds()).isFalse();
    accounts.records().seen(pod(2, ROOT, "64", ""));
    assertThat(find().excess()).isEqualTo("cpu: 66500 of 3000");
  }

  @Test
  void podsOfASumAreComparedByTheirAmountsOnly() {
    CachedWorkload workload = admitted();
    List<PodRecord> pods = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      pods.add(pod(i, ROOT, "600m", ""));
    }
    assertThat(comparison.find(comparison.charge(List.of(workload)), pods, false, NOW).excess())
        .isEqualTo("pods: 5 of 3");
    AdmissionComparison summed =
        new AdmissionComparison(AdmittedRequests.PLAIN, any -> true, false);
    assertThat(summed.find(summed.charge(List.of(workload)), pods, false, NOW).exceeds()).isFalse();
    pods.add(pod(5, ROOT, "1m", ""));
    assertThat(summed.find(summed.charge(List.of(workload)), pods, false, NOW).excess())
        .isEqualTo("cpu: 3001 of 3000");
  }

  /** A Workload that was admitted without devices, as by a template that was replaced later. */
  @Test
  void devicesOfClaimsAreComparedWhereOtherUndeclaredResourcesAreNot() {
    CachedWorkload workload = admitted();
    AdmittedRequests requests =
        new AdmittedRequests(List.of(), List.of(), true, Map.of())
            .counting(new GivenClaims("gpus", 8, "example.com/gpu"));
    AdmissionComparison devices = new AdmissionComparison(requests, any -> false, false);
    PodRecord pod = pod(1);
    Amounts amounts = pod.amounts();
    PodRecord claiming =
        new PodRecord(
            pod.uid(),
            pod.namespace(),
            pod.name(),
            pod.node(),
            new Amounts(amounts.requested(), amounts.counted(), List.of("c")),
            pod.owners(),
            pod.eligibility(),
            pod.deletion());
    Charge charge = devices.charge(List.of(workload));
    assertThat(devices.find(charge, List.of(pod), false, NOW).exceeds()).isFalse();
    assertThat(devices.find(charge, List.of(claiming), false, NOW).excess())
        .isEqualTo("gpus: 8 of 0");
  }

  @Test
  void gatedPodsAndThoseOfLostNodesDoNotCount() {
    admitted();
    for (int i = 0; i < 6; i++) {
      accounts.records().seen(pod(i, ROOT, "1", "spec schedulingGates: [{name: any}]"));
    }
    assertThat(accounts.podsOf(account)).isEmpty();
    for (int i = 0; i < 6; i++) {
      accounts.records().seen(pod(i));
    }
    assertThat(find().beyond()).isEqualTo(3);
    accounts.lostNodes(node -> node.equals("n1"));
    assertThat(accounts.podsOf(account)).isEmpty();
    assertThat(accounts.running("team", ROOT)).isZero();
  }

  @Test
  void whatWasSeenOfAPodStaysForItsLife() {
    admitted();
    accounts.records().seen(pod(1));
    accounts.records().seen(pod(1, "", "1", ""));
    accounts.records().seen(pod(1, CHILD, "1", ""));
    assertThat(accounts.podsOf(account)).hasSize(1);
    PodRecord pod = accounts.records().find(uid(1)).orElseThrow();
    assertThat(pod.owners()).hasSize(2);
    accounts.records().gone(uid(1));
    assertThat(accounts.podsOf(account)).isEmpty();
    assertThat(accounts.records().size()).isZero();
  }

  @Test
  void aChildBelongsToItsParentEvenAfterTheReferenceIsGone() {
    admitted();
    accounts.linked(CHILD, ROOT);
    accounts.records().seen(pod(1, CHILD, "1", ""));
    accounts.records().ownerGone(CHILD);
    assertThat(accounts.podsOf(account)).hasSize(1);
    assertThat(accounts.accountsOf(pod(1, CHILD, "1", ""))).containsExactly(account);
    accounts.records().gone(uid(1));
    accounts.records().seen(pod(2, CHILD, "1", ""));
    assertThat(accounts.podsOf(account)).isEmpty();
  }

  @Test
  void whatHasAWorkloadOfItsOwnIsNotCountedWithWhatIsAboveIt() {
    admitted();
    CachedWorkload own = workloadOf(job()).named("child").ofJob("child").admitted("spot").get();
    workloads.add(own);
    accounts.changed(null, own);
    accounts.linked(CHILD, ROOT);
    accounts.records().seen(pod(1, CHILD, "1", ""));
    assertThat(accounts.podsOf(account)).isEmpty();
    assertThat(accounts.podsOf(accounts.accountOf(own))).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource({
    // grace of the spec, of the deletion, seconds until its end, pods that terminate, tolerated
    "30, 30, 10, 3, true",
    "30, 30, -9, 3, true",
    "30, 30, -11, 3, false",
    "31, 31, 31, 3, false",
    "86400, 30, 30, 3, false",
    "30, 86400, 9000, 3, false",
    "30, 30, 30, 4, false",
    "30, 0, 0, 1, true",
  })
  void podsThatEndSoonMayBeReplaced(
      int spec, int grace, int left, int terminating, boolean tolerated) {
    admitted();
    for (int i = 0; i < 3; i++) {
      accounts.records().seen(pod(i));
    }
    for (int i = 10; i < 10 + terminating; i++) {
      accounts
          .records()
          .seen(terminating(pod(i), spec, new PodRecord.Deletion(NOW.plusSeconds(left), grace)));
    }
    assertThat(find().exceeds()).isEqualTo(!tolerated);
    assertThat(find().lookAgainAt().isPresent()).isEqualTo(tolerated);
  }

  private static PodRecord terminating(PodRecord pod, int spec, PodRecord.Deletion deletion) {
    return new PodRecord(
        pod.uid(),
        pod.namespace(),
        pod.name(),
        pod.node(),
        pod.amounts(),
        pod.owners(),
        new PodRecord.PodEligibility(false, false, spec, Optional.empty()),
        Optional.of(deletion));
  }

  private Finding look(Instant now) {
    return accounts.look(account, accounts.podsOf(account), now);
  }

  /** All pods of the last time are gone, those of now are deleted, and others take their place. */
  private Finding replaceAll(int time, Instant now) {
    for (int i = 0; i < 3; i++) {
      accounts.records().gone(uid(10 * time - 10 + i));
      accounts
          .records()
          .seen(
              terminating(pod(10 * time + i), 30, new PodRecord.Deletion(now.plusSeconds(30), 30)));
      accounts.records().seen(pod(10 * time + 10 + i));
    }
    return look(now);
  }

  /** Each time is 30 s after the last one, so that twice the charged pods run all the time. */
  @Test
  void podsThatAreReplacedAgainAndAgainCountAfterTwoMinutes() {
    admitted();
    for (int time = 0; time < 5; time++) {
      assertThat(replaceAll(time, NOW.plusSeconds(30L * time)).exceeds()).isFalse();
    }
    Instant spent = NOW.plusMillis(133_334);
    Finding last = look(NOW.plusSeconds(121));
    assertThat(last.exceeds()).isFalse();
    assertThat(Duration.between(last.lookAgainAt().orElseThrow(), spent).abs())
        .as("a tenth was given back meanwhile")
        .isLessThan(Duration.ofMillis(10));

    Instant later = spent.plusSeconds(1);
    assertThat(look(later).excess()).isEqualTo("pods: 6 of 3");
    assertThat(look(later.plus(PodAccountant.CONFIRMATION)).exceeds())
        .as("it goes on, until pods are gone")
        .isTrue();
    assertThat(accounts.find(account, accounts.podsOf(account), later).exceeds())
        .as("a pod that is to come")
        .isTrue();
  }

  /** A pod that has nearly all of what is charged is replaced again and again beside small ones. */
  @Test
  void theTimeOfALargePodCountsByWhatItHasOfTheCharge() {
    admitted();
    accounts.records().seen(pod(100, ROOT, "100m", ""));
    accounts.records().seen(pod(101, ROOT, "100m", ""));
    for (int time = 0; time < 5; time++) {
      Instant now = NOW.plusSeconds(30L * time);
      accounts.records().gone(uid(time - 1));
      PodRecord.Deletion deletion = new PodRecord.Deletion(now.plusSeconds(30), 30);
      accounts.records().seen(terminating(pod(time, ROOT, "2800m", ""), 30, deletion));
      accounts.records().seen(pod(time + 1, ROOT, "2800m", ""));
      assertThat(look(now).exceeds()).isFalse();
    }
    assertThat(look(NOW.plusSeconds(132)).exceeds()).isFalse();
    assertThat(look(NOW.plusSeconds(135)).excess()).isEqualTo("pods: 4 of 3");
  }

  @Test
  void podsThatAreReplacedNowAndThenAreLeftOut() {
    admitted();
    for (int time = 0; time < 100; time++) {
      Instant now = NOW.plusSeconds(600L * time);
      assertThat(replaceAll(time, now).exceeds()).isFalse();
      for (int i = 0; i < 3; i++) {
        accounts.records().gone(uid(10 * time + i));
      }
      assertThat(look(now.plusSeconds(39)).exceeds()).isFalse();
    }
  }

  @Test
  void timeToReplacePodsIsGivenBack() {
    admitted();
    for (int time = 0; time < 5; time++) {
      replaceAll(time, NOW.plusSeconds(30L * time));
    }
    Instant spent = NOW.plusSeconds(135);
    assertThat(look(spent).exceeds()).isTrue();
    for (int i = 40; i < 43; i++) {
      accounts.records().gone(uid(i));
    }
    assertThat(look(spent).exceeds()).isFalse();

    assertThat(replaceAll(5, spent).exceeds()).as("nothing was given back yet").isTrue();
    for (int i = 50; i < 53; i++) {
      accounts.records().gone(uid(i));
    }
    look(spent);
    assertThat(replaceAll(6, spent.plusSeconds(1_200)).exceeds()).isFalse();
  }

  @Test
  void givenBackPodsAreNotCharged() {
    CachedWorkload before = admitted();
    accounts.records().seen(pod(1));
    accounts.records().seen(pod(2));
    change(before, workloadOf(job()).admitted("spot").reclaimable(2).get());
    Charge charge = accounts.charge(account);
    assertThat(charge.pods()).isEqualTo(1);
    assertThat(charge.amounts()).containsEntry("cpu", 1000L);
    assertThat(find().excess()).isEqualTo("pods: 2 of 1");
  }

  @Test
  void aFinishedWorkloadIsChargedUntilItsPodsAreGone() {
    CachedWorkload before = admitted();
    accounts.records().seen(pod(1));
    CachedWorkload after = change(before, workloadOf(job()).admitted("spot").finished().get());
    assertThat(accounts.isHeld(after.id())).isTrue();
    assertThat(accounts.charge(account).pods()).isEqualTo(3);
    assertThat(accounts.settle(account)).isEmpty();
    accounts.records().gone(uid(1));
    assertThat(accounts.settle(account)).containsExactly(after.id());
    assertThat(accounts.charge(account)).isEqualTo(Charge.NOTHING);
  }

  @Test
  void aDeletedWorkloadIsChargedUntilItsPodsAreGone() {
    CachedWorkload before = admitted();
    accounts.records().seen(pod(1));
    workloads.known().remove(before.id().name());
    accounts.changed(before, null);
    accounts.verified(account);
    assertThat(accounts.isHeld(before.id())).isTrue();
    assertThat(accounts.all()).as("who begins to lead looks at it").containsExactly(account);
    accounts.records().gone(uid(1));
    assertThat(accounts.settle(account)).containsExactly(before.id());
    assertThat(accounts.all()).isEmpty();
  }

  @Test
  void aWorkloadThatEndsWithoutItsJobIsChargedUntilAllPodsAreKnown() {
    CachedWorkload before = admitted();
    CachedWorkload after =
        change(
            before,
            workloadOf(job())
                .unowned()
                .admitted("spot")
                .condition("Finished", "True", "OwnerNotFound", "")
                .get());
    assertThat(accounts.isUnverified(account)).isTrue();
    assertThat(accounts.settle(account)).isEmpty();
    assertThat(accounts.isHeld(after.id())).isTrue();

    accounts.records().seen(pod(1));
    accounts.verified(account);
    assertThat(accounts.settle(account)).isEmpty();
    accounts.records().gone(uid(1));
    assertThat(accounts.settle(account)).containsExactly(after.id());
  }

  @Test
  void podsThatComeBackWithTheirNodeAreStillKnown() {
    CachedWorkload before = admitted();
    accounts.records().seen(pod(1));
    workloads.known().remove(before.id().name());
    accounts.changed(before, null);
    accounts.verified(account);
    accounts.lostNodes(node -> true);
    assertThat(accounts.settle(account)).containsExactly(before.id());
    changed.clear();

    accounts.lostNodes(node -> false);
    accounts.nodeChanged("n1");
    assertThat(changed).containsExactly(account);
    assertThat(find().excess()).isEqualTo("pods: 1 of 0");
    assertThat(accounts.beyondReach(account).orElseThrow().last()).contains(Ownership.of(before));

    accounts.records().gone(uid(1));
    assertThat(accounts.settle(account)).isEmpty();
    assertThat(accounts.beyondReach(account)).isEmpty();
    assertThat(accounts.accountsOf(pod(1))).isEmpty();
  }

  @Test
  void podsOfAJobThatEndedBeforeItHadAWorkloadAreKnownForTheirLife() {
    accounts.records().seen(pod(1));
    assertThat(accounts.accountsOf(pod(1))).isEmpty();

    accounts.jobEnded(account, true);
    assertThat(changed).containsExactly(account);
    accounts.settle(account);
    assertThat(find().excess()).isEqualTo("pods: 1 of 0");
    assertThat(accounts.beyondReach(account).orElseThrow().areStoppable(workload -> false))
        .isTrue();

    accounts.records().gone(uid(1));
    assertThat(accounts.settle(account)).isEmpty();
    assertThat(accounts.beyondReach(account)).isEmpty();
  }

  /** A Workload with these pods is deleted, and nothing is charged for them any more. */
  private WeakReference<CachedWorkload> deleted(CachedWorkload workload, PodRecord... pods) {
    workloads.add(workload);
    accounts.changed(null, workload);
    for (PodRecord pod : pods) {
      accounts.records().seen(pod);
    }
    workloads.known().clear();
    accounts.changed(workload, null);
    accounts.verified(accounts.accountOf(workload));
    accounts.settle(accounts.accountOf(workload));
    return new WeakReference<>(workload);
  }

  /** A tenant may make large ones and delete them again and again. */
  @Test
  void theSizeOfADeletedWorkloadIsNotRemembered() {
    List<WeakReference<CachedWorkload>> large =
        List.of(
            deleted(workloadOf(job()).ofJob("waiting").get()),
            deleted(
                workloadOf(job()).ofJob("gated").get(),
                pod(1, "uid-of-gated", "1", "spec schedulingGates: [{name: any}]")),
            deleted(
                workloadOf(job()).admitted("spot").get(),
                pod(2, ROOT, "1", "spec schedulingGates: [{name: any}]")));
    assertThat(accounts.accountsOf(pod(0, "uid-of-waiting", "1", ""))).hasSize(1);
    assertThat(accounts.beyondReach(new Account("team", "uid-of-gated"))).isPresent();
    assertThat(accounts.beyondReach(account)).isPresent();
    await()
        .until(
            () -> {
              System.gc();
              return large.stream().allMatch(workload -> workload.refersTo(null));
            });
  }

  /** The API server takes owners of any length. */
  @Test
  void ofTheOwnersOfADeletedWorkloadOnlyTheFirstAreRememberedAsFarAsNamesGo() {
    String endless = "x".repeat(1_000);
    Owner other = new Owner("v1", "ConfigMap", endless, "uid-of-other");
    deleted(
        workloadOf(job())
            .ownedBy(
                Optional.of(new Owner(endless, endless, endless, ROOT)),
                Collections.nCopies(1_000, other))
            .get(),
        gated(1));
    Ownership last = accounts.beyondReach(account).orElseThrow().last().orElseThrow();
    assertThat(last.others()).hasSize(PodRecord.MOST_OWNERS);
    assertThat(last.others().getFirst().kind()).isEqualTo("ConfigMap");
    assertThat(last.controller().orElseThrow().kind()).as("of nobody").hasSize(254);
    assertThat(last.others().getFirst().name()).hasSize(254);

    accounts.jobEnded(new Account("team", endless), true);
    assertThat(accounts.accountsOf(pod(2, endless, "1", ""))).isEmpty();
  }

  private PodRecord gated(int number) {
    return pod(number, ROOT, "1", "spec schedulingGates: [{name: example.com/later}]");
  }

  /** Jobs end that had no quota: as many as are remembered without pods. */
  private List<Account> manyEnd() {
    List<Account> others =
        IntStream.range(0, 1_000).mapToObj(i -> new Account("team", "uid-of-job-" + i)).toList();
    others.forEach(other -> accounts.jobEnded(other, true));
    return others;
  }

  @Test
  void gatedPodsOfAJobThatEndedWithoutQuotaAreKnownHoweverManyJobsEndLater() {
    accounts.records().seen(gated(1));
    accounts.jobEnded(account, true);
    accounts.settle(account);
    assertThat(find().exceeds()).as("it is gated").isFalse();
    manyEnd().forEach(accounts::settle);

    accounts.records().seen(pod(1));
    assertThat(accounts.accountsOf(pod(1))).containsExactly(account);
    assertThat(find().excess()).isEqualTo("pods: 1 of 0");
    accounts.records().gone(uid(1));
    accounts.settle(account);
    assertThat(accounts.accountsOf(pod(1))).isEmpty();
  }

  @Test
  void ofJobsThatEndedWithoutQuotaOnlyTheEldestWithoutPodsAreForgotten() {
    accounts.records().seen(gated(1));
    accounts.jobEnded(account, true);
    Account empty = new Account("team", "uid-of-none");
    accounts.jobEnded(empty, true);
    List<Account> others = manyEnd();
    assertThat(changed).as("looked at before they are forgotten").contains(account, empty);
    accounts.settle(account);
    accounts.settle(empty);

    assertThat(accounts.accountsOf(pod(1))).containsExactly(account);
    assertThat(accounts.accountsOf(pod(2, empty.root(), "1", ""))).isEmpty();
    assertThat(accounts.accountsOf(pod(3, others.getFirst().root(), "1", "")))
        .containsExactly(others.getFirst());
  }

  /** Also if its Workload had quota: somebody may open their gates later. */
  @Test
  void gatedPodsThatOutliveAnAdmittedJobAreKnown() {
    CachedWorkload before = admitted();
    accounts.records().seen(gated(1));
    workloads.known().remove(before.id().name());
    accounts.changed(before, null);
    accounts.verified(account);
    assertThat(accounts.settle(account)).as("they hold no quota").containsExactly(before.id());

    accounts.records().seen(pod(1));
    assertThat(accounts.accountsOf(pod(1))).containsExactly(account);
    assertThat(find().excess()).isEqualTo("pods: 1 of 0");
    assertThat(accounts.beyondReach(account).orElseThrow().last()).contains(Ownership.of(before));
    accounts.records().gone(uid(1));
    accounts.settle(account);
    assertThat(accounts.beyondReach(account)).isEmpty();
  }

  /** Whether its pods, its job or what links them is known last. */
  @Test
  void podsOfAJobThatIsToBeQueuedAndHasNoWorkloadAreLookedAt() {
    accounts.withoutWorkload(account::equals);
    accounts.records().seen(pod(1, CHILD, "1", ""));
    assertThat(changed).isEmpty();

    accounts.jobChanged("team", ROOT);
    assertThat(changed).as("it has no pods").isEmpty();
    accounts.linked(CHILD, ROOT);
    accounts.jobChanged("team", CHILD);
    assertThat(changed).containsExactly(account);
    assertThat(accounts.withoutAny()).containsExactly(account);

    accounts.records().seen(pod(2, CHILD, "1", ""));
    assertThat(changed).containsExactly(account, account);
  }

  /** Nothing of it is to be compared, settled or stopped. */
  @Test
  void aWorkloadWithoutPodsIsNotLookedAt() {
    CachedWorkload waiting = workloadOf(job()).get();
    workloads.add(waiting);
    accounts.changed(null, waiting);
    CachedWorkload admitted = change(waiting, workloadOf(job()).admitted("spot").get());
    CachedWorkload evicted =
        change(admitted, workloadOf(job()).admitted("spot").evicted("Preempted", "").get());
    CachedWorkload again = change(evicted, workloadOf(job()).admitted("spot").get());
    CachedWorkload finished = change(again, workloadOf(job()).admitted("spot").finished().get());
    assertThat(accounts.isHeld(finished.id())).isFalse();
    workloads.known().clear();
    accounts.changed(finished, null);
    accounts.jobEnded(account, true);
    accounts.jobEnded(new Account("team", "uid-of-none"), true);
    assertThat(changed).isEmpty();

    accounts.records().seen(pod(1));
    assertThat(changed).as("a pod that its job left behind").containsExactly(account);
  }

  /** Pods of it may exist that the watch doesn't tell of yet. */
  @Test
  void aWorkloadThatIsDeletedWithQuotaIsLookedAtAlsoWithoutPods() {
    CachedWorkload admitted = admitted();
    assertThat(changed).isEmpty();
    workloads.known().clear();
    accounts.changed(admitted, null);
    assertThat(changed).containsExactly(account);
    assertThat(accounts.isUnverified(account)).isTrue();
  }

  /** What leads from a pod to its account is told in any order: what is told last finds it. */
  @ParameterizedTest
  @CsvSource({
    "pod link workload",
    "pod workload link",
    "link pod workload",
    "link workload pod",
    "workload pod link",
    "workload link pod"
  })
  void anAccountIsLookedAtAsSoonAsAPodOfItIsKnown(String order) {
    List<String> events = List.of(order.split(" "));
    events.subList(0, 2).forEach(this::tell);
    assertThat(changed).isEmpty();
    tell(events.getLast());
    assertThat(changed).containsExactly(account);
    assertThat(accounts.podsOf(account)).hasSize(1);
  }

  private void tell(String event) {
    switch (event) {
      case "pod" -> accounts.records().seen(pod(1, CHILD, "1", ""));
      case "link" -> accounts.linked(CHILD, ROOT);
      default -> admitted();
    }
  }

  /** The pods own their Workload. */
  @ParameterizedTest
  @CsvSource({"true", "false"})
  void aGroupIsLookedAtAsSoonAsAPodOfItIsKnown(boolean podFirst) {
    CachedWorkload group =
        workloadOf(job())
            .ownedBy(Optional.empty(), List.of(new Owner("v1", "Pod", "p1", uid(1).toString())))
            .get();
    if (podFirst) {
      accounts.records().seen(pod(1, "", "1", ""));
    }
    workloads.add(group);
    accounts.changed(null, group);
    assertThat(changed.isEmpty()).isNotEqualTo(podFirst);
    if (!podFirst) {
      accounts.records().seen(pod(1, "", "1", ""));
    }
    assertThat(changed).containsExactly(new Account("team", group.id().uid()));
  }

  @Test
  void anAccountIsLookedAtWhenAPodAndItsWorkloadAppearAtOnce() throws Exception {
    int rounds = 500;
    KnownWorkloads known = new KnownWorkloads(new ConcurrentHashMap<>());
    Set<Account> woken = ConcurrentHashMap.newKeySet();
    PodAccounts shared = new PodAccounts(known, comparison, woken::add);
    List<PodRecord> pods =
        IntStream.range(0, rounds).mapToObj(i -> pod(i, "uid-of-job-" + i, "1", "")).toList();
    CyclicBarrier next = new CyclicBarrier(2);
    try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
      List<Future<Void>> ends =
          threads.invokeAll(
              List.of(
                  () -> {
                    for (PodRecord pod : pods) {
                      next.await();
                      shared.records().seen(pod);
                    }
                    return null;
                  },
                  () -> {
                    for (int i = 0; i < rounds; i++) {
                      CachedWorkload workload = workloadOf(job()).ofJob("job-" + i).get();
                      next.await();
                      known.add(workload);
                      shared.changed(null, workload);
                    }
                    return null;
                  }));
      for (Future<Void> end : ends) {
        end.get();
      }
    }
    assertThat(woken).hasSize(rounds);
  }

  /**
   * A pod may leave its account without a word, as when what made it gets a Workload of its own.
   */
  @Test
  void anAccountThatHadPodsAtItsLastLookIsLookedAtOnceMore() {
    CachedWorkload before = admitted();
    accounts.linked(CHILD, ROOT);
    accounts.records().seen(pod(1, CHILD, "1", ""));
    look(NOW);
    CachedWorkload own =
        workloadOf(job())
            .named("own")
            .ownedBy(Optional.of(new Owner("batch/v1", "Job", "child", CHILD)), List.of())
            .get();
    workloads.add(own);
    accounts.changed(null, own);
    assertThat(accounts.podsOf(account)).isEmpty();
    changed.clear();

    CachedWorkload after = change(before, workloadOf(job()).get());
    assertThat(changed).containsExactly(account);
    look(NOW);
    change(after, workloadOf(job()).admitted("spot").get());
    assertThat(changed).containsExactly(account);
  }

  /** How fast time is given back depends on the charge of the meantime. */
  @Test
  void anAccountWithoutPodsIsLookedAtUntilItsTimeToReplacePodsIsGivenBack() {
    CachedWorkload before = admitted();
    replaceAll(0, NOW);
    Instant later = NOW.plusSeconds(30);
    look(later);
    List.copyOf(accounts.podsOf(account)).forEach(pod -> accounts.records().gone(pod.uid()));
    look(later);
    changed.clear();
    CachedWorkload after = change(before, workloadOf(job()).admitted("spot", 1).get());
    assertThat(changed).containsExactly(account);

    look(later);
    look(later.plus(Duration.ofHours(1)));
    change(after, workloadOf(job()).admitted("spot").get());
    assertThat(changed).containsExactly(account);
  }

  @Test
  void nothingIsSummedForAnAccountWithoutPods() {
    AtomicInteger sums = new AtomicInteger();
    PodAccounts counted =
        new PodAccounts(
            workloads,
            new AdmissionComparison(
                AdmittedRequests.PLAIN, any -> sums.incrementAndGet() < 0, false),
            changed::add);
    CachedWorkload admitted = workloadOf(job()).admitted("spot").get();
    workloads.add(admitted);
    counted.changed(null, admitted);
    assertThat(counted.look(account, List.of(), NOW)).isEqualTo(find());
    counted.settle(account);
    CachedWorkload finished = workloadOf(job()).admitted("spot").finished().get();
    workloads.add(finished);
    counted.changed(admitted, finished);
    assertThat(counted.isHeld(finished.id())).isFalse();
    assertThat(sums).hasValue(0);
  }

  @Test
  void aJobThatHasAWorkloadIsRememberedByThat() {
    admitted();
    accounts.records().seen(pod(1));
    accounts.jobEnded(account, true);
    accounts.settle(account);
    assertThat(accounts.beyondReach(account)).isEmpty();
  }

  @Test
  void aWorkloadThatLosesItsOwnerStaysInItsAccount() {
    CachedWorkload before = admitted();
    accounts.records().seen(pod(1));
    CachedWorkload orphan = change(before, workloadOf(job()).unowned().admitted("spot").get());
    assertThat(accounts.accountOf(orphan)).isEqualTo(account);
    change(orphan, workloadOf(job()).unowned().admitted("spot").finished().get());
    assertThat(accounts.isHeld(before.id())).isTrue();
    assertThat(accounts.accountsOf(pod(1))).containsExactly(account);
  }

  /** The garbage collector has taken the reference off that the pod had to its job. */
  @Test
  void afterARestartPodsThatAJobLeftBehindAreFoundByTheLabelOfTheirJob() {
    String labels =
        "labels: {kueue.x-k8s.io/podset: main, batch.kubernetes.io/controller-uid: %s}"
            .formatted(ROOT);
    accounts.records().seen(pod(1, "", "1", labels));
    accounts.records().seen(pod(2, "", "1", labels.replace("kueue.x-k8s.io/podset", "any")));
    accounts.records().seen(pod(3, CHILD, "1", labels));
    CachedWorkload orphan =
        workloadOf(job())
            .unowned()
            .label(KueueConstants.JOB_UID, ROOT)
            .admitted("spot")
            .condition("Finished", "True", "OwnerNotFound", "")
            .get();
    workloads.add(orphan);
    accounts.changed(null, orphan);
    accounts.verified(account);
    assertThat(accounts.settle(account)).isEmpty();
    assertThat(accounts.isHeld(orphan.id())).isTrue();
    assertThat(accounts.podsOf(account)).extracting(PodRecord::name).containsExactly("p1");
    assertThat(accounts.accountsOf(pod(1, "", "1", labels))).containsExactly(account);

    accounts.records().gone(uid(1));
    assertThat(accounts.settle(account)).containsExactly(orphan.id());
  }

  /** A copy for debugging keeps the labels, and isn't the job's. */
  @Test
  void aPodThatOnlyItsLabelsGiveToAJobIsNotCountedWhileThatHasQuota() {
    admitted();
    accounts.records().seen(pod(1));
    accounts
        .records()
        .seen(
            pod(
                2,
                "",
                "1",
                "labels: {kueue.x-k8s.io/podset: main, batch.kubernetes.io/controller-uid: %s}"
                    .formatted(ROOT)));
    assertThat(accounts.podsOf(account)).extracting(PodRecord::name).containsExactly("p1");
  }

  /** Who runs a pod may write its labels. */
  @Test
  void aLabelOfAJobSparesNoPodThatWasToBeHeld() {
    String labels = "labels: {kueue.x-k8s.io/managed: 'true', %s}";
    PodRecord lying =
        pod(
            1,
            "",
            "1",
            labels.formatted(
                "kueue.x-k8s.io/podset: main, batch.kubernetes.io/controller-uid: other"));
    assertThat(lying.isStray()).isTrue();
  }

  @Test
  void aSliceThatAnotherOneReplacesIsNotHeld() {
    CachedWorkload before = admitted();
    accounts.records().seen(pod(1));
    CachedWorkload next = workloadOf(job()).named("next").admitted("spot").get();
    workloads.add(next);
    accounts.changed(null, next);
    change(before, workloadOf(job()).admitted("spot").finished().get());
    assertThat(accounts.isHeld(before.id())).isFalse();
    assertThat(accounts.charge(account).pods()).isEqualTo(3);
  }

  @Test
  void whatAPodSaysOfItselfIsReadWhateverItIs() throws JsonProcessingException {
    for (String text :
        List.of(
            "{}",
            "{metadata: 7, spec: [], status: null}",
            "{metadata: {ownerReferences: {a: b}, uid: x, deletionTimestamp: soon}}",
            "{metadata: {ownerReferences: [7, {controller: true}]}, spec: {schedulingGates: 7}}",
            "{spec: {containers: {a: b}, terminationGracePeriodSeconds: long, nodeName: [n]}}")) {
      PodRecord pod = parser.of(YAML.readTree(text));
      accounts.records().seen(pod);
      assertThat(accounts.accountsOf(pod)).isEmpty();
      accounts.records().gone(pod.uid());
    }
    assertThat(accounts.records().size()).isZero();
  }
}
