package dev.sluice.accounting;

import static dev.sluice.jobs.GivenJob.job;
import static dev.sluice.jobs.GivenWorkload.workloadOf;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.accounting.PodAccounts.Account;
import dev.sluice.accounting.PodAccounts.Ownership;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.jobs.GivenJob;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.controller.WorkQueueSettings;
import dev.sluice.kube.controller.WorkQueueSettings.GroupKindConcurrency;
import dev.sluice.kube.events.EventRecorder;
import dev.sluice.kube.events.EventRecorder.EventSink;
import dev.sluice.kube.leader.ReplicaRole;
import dev.sluice.metrics.EventCounts;
import dev.sluice.testing.PlayedApi;
import dev.sluice.workload.KnownWorkloads;
import dev.sluice.workload.feed.AdmittedRequests;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadParser;
import dev.sluice.workload.writing.StatusWriter;
import dev.sluice.workload.writing.WorkloadWriter;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.events.v1.EventSeries;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** When pods without an admitted Workload are stopped. */
class PodAccountantTest {

  private static final JsonMapper JSON = new JsonMapper();
  private static final Duration LIMIT = Duration.ofMinutes(10);
  private static final Account ACCOUNT = new Account("team", GivenJob.UID);

  private final PlayedApi api = new PlayedApi();
  private final KubernetesClient client = api.client();
  private final ApiClient requests = new ApiClient(client, ApiClient.Options.atATime(4));
  private final EventRecorder events =
      new EventRecorder(
          new ToldNobody(),
          InstantSource.system(),
          "pod-1",
          EventRecorder.Budget.DEFAULT,
          new EventCounts(new PrometheusRegistry(), () -> ReplicaRole.LEADER));
  private final KnownWorkloads workloads = new KnownWorkloads();
  private final Map<UUID, String> stored = new LinkedHashMap<>();
  private final Deque<Runnable> later = new ArrayDeque<>();
  private Duration last = Duration.ZERO;
  private boolean gone;
  private boolean beingDeleted;
  private Optional<Duration> withoutWorkload = Optional.empty();
  private boolean jobEnded;
  private final List<Integer> stopped = new ArrayList<>();
  private final List<String> evicted = new ArrayList<>();
  private final List<String> evictions = new ArrayList<>();
  private final Map<String, WorkloadWriter.Outcome> outcomes = new LinkedHashMap<>();
  private final List<WorkloadId> outlasted = new ArrayList<>();
  private final List<CachedWorkload> emptied = new ArrayList<>();
  private final List<WorkloadId> released = new ArrayList<>();
  private final PodRecordParser parser =
      new PodRecordParser(AdmittedRequests.PLAIN, image -> false);
  private final PodAccounts accounts =
      new PodAccounts(
          workloads,
          new AdmissionComparison(AdmittedRequests.PLAIN, workload -> false, false),
          account -> {});
  private Instant now = Instant.parse("2026-03-01T12:00:00Z");
  private final PodAccountant accountant =
      new PodAccountant(
          new PodAccountant.Dependencies(
              new FreshPods(requests, parser),
              new PodStopper(requests, events),
              (StatusWriter)
                  (id, version, status, urgency) -> {
                    evictions.add(id.name());
                    return CompletableFuture.completedFuture(
                        outcomes.getOrDefault(
                            id.name(), new WorkloadWriter.Outcome.Written(version)));
                  },
              new Jobs(),
              new Observed(),
              () -> now,
              () -> true,
              LIMIT),
          accounts,
          released::add,
          new WorkQueueSettings(
              Runnable::run,
              (delay, task) -> {
                last = delay;
                later.add(task);
              },
              () -> now.toEpochMilli() * 1_000_000,
              1,
              Duration.ofMillis(500),
              Duration.ofMinutes(1),
              GroupKindConcurrency.NONE));

  private static final class ToldNobody implements EventSink {
    @Override
    public void create(Event event) {}

    @Override
    public void update(Event event, EventSeries series) {}
  }

  private final class Jobs implements PodAccountant.Jobs {
    @Override
    public boolean isEvictable(CachedWorkload workload) {
      return true;
    }

    @Override
    public boolean isStoppable(Ownership ownership) {
      return true;
    }

    @Override
    public Optional<Duration> withoutWorkload(Account account) {
      return withoutWorkload;
    }

    @Override
    public boolean isBeingDeleted(CachedWorkload workload) {
      return beingDeleted;
    }

    @Override
    public boolean hasEnded(CachedWorkload workload) {
      return jobEnded;
    }

    @Override
    public boolean isGone(CachedWorkload workload) {
      return gone;
    }
  }

  private final class Observed implements PodAccountant.Observer {
    @Override
    public void evicted(CachedWorkload workload, int beyond, String message) {
      evicted.add(message);
    }

    @Override
    public void exceeds(CachedWorkload workload, int beyond, String message) {}

    @Override
    public void stopped(int pods) {
      stopped.add(pods);
    }

    @Override
    public void outlasted(CachedWorkload workload) {
      outlasted.add(workload.id());
    }

    @Override
    public void empty(List<CachedWorkload> empty) {
      emptied.addAll(empty);
    }
  }

  PodAccountantTest() throws IOException {
    api.play(
        request ->
            new PlayedApi.Answer(
                200,
                request.method().equals("GET")
                    ? stored.values().stream()
                        .collect(Collectors.joining(",", "{\"items\":[", "]}"))
                    : "{}"));
    become(workloadOf(job()).get());
  }

  private void become(CachedWorkload workload) {
    workloads.add(workload);
    accounts.changed(null, workload);
  }

  @AfterEach
  void close() {
    accountant.close();
    events.close();
    client.close();
    api.close();
  }

  private void pod(int number) throws JsonProcessingException {
    exists(number);
    accounts.records().seen(parser.of(JSON.readTree(stored.get(new UUID(7, number)))));
    accountant.changed(ACCOUNT);
  }

  /** A pod that is being deleted with this grace period. */
  private void terminates(int number, Instant asked, long grace) throws JsonProcessingException {
    exists(
        number,
        GivenJob.UID,
        ", 'deletionTimestamp': '%s', 'deletionGracePeriodSeconds': %d"
            .formatted(asked.plusSeconds(grace), grace));
    accounts.records().seen(parser.of(JSON.readTree(stored.get(new UUID(7, number)))));
    accountant.changed(ACCOUNT);
  }

  /** A pod that the watch doesn't know yet. */
  private void exists(int number) throws JsonProcessingException {
    exists(number, GivenJob.UID, "");
  }

  private void exists(int number, String job, String metadata) throws JsonProcessingException {
    JsonNode pod =
        JSON.readTree(
            """
            {'metadata': {'namespace': 'team', 'name': 'p%d', 'uid': '%s', 'ownerReferences':
              [{'apiVersion': 'batch/v1', 'kind': 'Job', 'name': 'j', 'controller': true, 'uid': '%s'}]%s},
             'spec': {'nodeName': 'n1', 'containers': [{'name': 'c'}]}}
            """
                .formatted(number, new UUID(7, number), job, metadata)
                .replace('\'', '"'));
    stored.put(new UUID(7, number), pod.toString());
  }

  /** What was to be done later is done now. */
  private void after(Duration time) {
    now = now.plus(time);
    List<Runnable> due = List.copyOf(later);
    later.clear();
    due.forEach(Runnable::run);
  }

  private List<String> deleted() {
    return stored.keySet().stream()
        .map(uid -> "p" + uid.getLeastSignificantBits())
        .filter(name -> !api.asked("DELETE", "/pods/" + name).isEmpty())
        .toList();
  }

  @Test
  void aPodIsStoppedAfterItsOwnTimeNotAfterThatOfThoseBeforeIt() throws Exception {
    pod(1);
    after(PodAccountant.UNADMITTED.minusMillis(100));
    assertThat(deleted()).isEmpty();

    pod(2);
    after(Duration.ofMillis(200));
    assertThat(deleted()).containsExactly("p1");
    assertThat(last).as("the second pod is due").isLessThan(Duration.ofMillis(900));

    after(PodAccountant.UNADMITTED);
    assertThat(deleted()).containsExactly("p1", "p2");
    assertThat(stopped).isNotEmpty();
  }

  @Test
  void aPodThatComesBackWithItsNodeAfterItsWorkloadIsStopped() throws Exception {
    CachedWorkload admitted = workloadOf(job()).admitted("spot").get();
    become(admitted);
    pod(1);
    accounts.lostNodes(node -> true);
    workloads.known().clear();
    accounts.changed(admitted, null);
    accountant.changed(ACCOUNT);
    after(Duration.ofHours(1));
    assertThat(deleted()).isEmpty();

    accounts.lostNodes(node -> false);
    accountant.changed(ACCOUNT);
    after(PodAccountant.UNADMITTED);
    assertThat(deleted()).containsExactly("p1");
  }

  /** It waits for ever: for a Workload that nobody makes, or a class that doesn't exist. */
  @Test
  void podsOfAJobThatWaitsWithoutWorkloadAreStopped() throws Exception {
    workloads.known().clear();
    pod(1);
    after(Duration.ofHours(1));
    assertThat(deleted()).as("its job may be about to be suspended, or isn't queued").isEmpty();

    withoutWorkload = Optional.of(PodAccountant.LEFT_BEHIND);
    after(Duration.ofSeconds(2));
    after(PodAccountant.LEFT_BEHIND.minusMillis(100));
    assertThat(deleted()).as("its controller may be about to delete them").isEmpty();
    after(Duration.ofMillis(200));
    assertThat(deleted()).containsExactly("p1");
  }

  /** An orphan of such a job that a later job adopted. */
  @Test
  void aPodOfAJobWithoutWorkloadThatAnotherOneHasQuotaForGoesOn() throws Exception {
    become(workloadOf(job()).admitted("spot").get());
    withoutWorkload = Optional.of(PodAccountant.LEFT_BEHIND);
    Account waiting = new Account("team", "waiting");
    exists(1, "waiting", "");
    accounts.records().seen(parser.of(JSON.readTree(stored.get(new UUID(7, 1)))));
    pod(1);
    accountant.changed(waiting);
    after(Duration.ofHours(1));
    after(Duration.ofHours(1));
    assertThat(deleted()).isEmpty();
  }

  /** Its job was started by hand, and deleted without its pods. */
  @Test
  void podsOfAWorkloadThatIsDeletedWithoutQuotaAreStopped() throws Exception {
    pod(1);
    CachedWorkload waiting = workloads.known().values().iterator().next();
    workloads.known().clear();
    accounts.changed(waiting, null);
    accountant.changed(ACCOUNT);
    pod(2);
    after(PodAccountant.UNADMITTED);

    assertThat(deleted()).containsExactly("p1", "p2");
  }

  /** Somebody opens their gates when their job is gone, and so many others are, too. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void gatedPodsThatOutliveTheirJobAreStoppedOnceTheyRun(boolean admitted) throws Exception {
    CachedWorkload last =
        admitted ? workloadOf(job()).admitted("spot").get() : workloadOf(job()).get();
    become(last);
    exists(1);
    stored.computeIfPresent(
        new UUID(7, 1),
        (same, pod) ->
            pod.replace(
                "\"nodeName\":\"n1\"", "\"schedulingGates\":[{\"name\":\"example.com/later\"}]"));
    accounts.records().seen(parser.of(JSON.readTree(stored.get(new UUID(7, 1)))));
    workloads.known().clear();
    accounts.changed(last, null);
    accountant.changed(ACCOUNT);
    for (int i = 0; i < 1_000; i++) {
      accounts.jobEnded(new Account("team", "uid-of-job-" + i), true);
    }
    after(Duration.ofHours(1));
    assertThat(deleted()).isEmpty();

    pod(1);
    Set<Account> found = accounts.accountsOf(accounts.records().find(new UUID(7, 1)).orElseThrow());
    found.forEach(accountant::changed);
    after(PodAccountant.UNADMITTED);
    assertThat(deleted()).containsExactly("p1");
  }

  /** Also those that a rollout lets go, which have the label of managed pods. */
  @Test
  void ofASetThatWaitsPodsAreStoppedThatWereNotReadyBeforeItHadAWorkload() throws Exception {
    become(
        new WorkloadParser()
            .parse(
                """
                {"metadata": {"namespace": "team", "name": "w", "uid": "w-uid",
                  "creationTimestamp": "2026-03-01T11:59:00Z", "ownerReferences":
                  [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "set", "uid": "set-uid"}]}}
                """
                    .getBytes(StandardCharsets.UTF_8)));
    podOfSet(1, "", "2026-03-01T11:59:00Z");
    podOfSet(2, "'labels': {'kueue.x-k8s.io/managed': 'true'},", "");
    podOfSet(3, "", "");
    podOfSet(4, "", "2026-03-01T11:58:59Z");
    accountant.changed(new Account("team", "set-uid"));
    after(PodAccountant.UNADMITTED);

    assertThat(deleted()).containsExactly("p1", "p2", "p3");
  }

  private void podOfSet(int number, String labels, String readySince) throws Exception {
    String status =
        readySince.isEmpty()
            ? ""
            : ", 'status': {'conditions': [{'type': 'Ready', 'status': 'True', 'lastTransitionTime': '%s'}]}"
                .formatted(readySince);
    String pod =
        """
        {'metadata': {'namespace': 'team', 'name': 'p%d', 'uid': '%s', %s 'ownerReferences':
          [{'apiVersion': 'apps/v1', 'kind': 'StatefulSet', 'name': 'set', 'controller': true,
            'uid': 'set-uid'}]},
         'spec': {'nodeName': 'n1', 'containers': [{'name': 'c'}]}%s}
        """
            .formatted(number, new UUID(7, number), labels, status)
            .replace('\'', '"');
    stored.put(new UUID(7, number), pod);
    accounts.records().seen(parser.of(JSON.readTree(pod)));
  }

  /** Three pods were admitted. */
  @Test
  void podsBeyondWhatADeletedWorkloadHoldsAreStopped() throws Exception {
    CachedWorkload admitted = workloadOf(job()).admitted("spot").get();
    become(admitted);
    for (int i = 1; i <= 3; i++) {
      pod(i);
    }
    workloads.known().clear();
    accounts.changed(admitted, null);
    accountant.changed(ACCOUNT);
    after(PodAccountant.UNADMITTED);
    assertThat(deleted()).isEmpty();

    pod(4);
    after(PodAccountant.UNADMITTED);
    assertThat(deleted()).contains("p4");
  }

  /** The job is deleted without its pods: its Workload loses its owner, and is finished. */
  private void leaveBehind(CachedWorkload admitted) {
    gone = true;
    CachedWorkload orphan = workloadOf(job()).unowned().admitted("spot").get();
    workloads.add(orphan);
    accounts.changed(admitted, orphan);
    CachedWorkload finished =
        workloadOf(job())
            .unowned()
            .admitted("spot")
            .condition("Finished", "True", "OwnerNotFound", "")
            .get();
    workloads.add(finished);
    accounts.changed(orphan, finished);
    accountant.changed(ACCOUNT);
  }

  @Test
  void podsThatAJobLeavesBehindAreStoppedAfterAWhileAndKeepTheQuotaUntilThen() throws Exception {
    CachedWorkload admitted = workloadOf(job()).admitted("spot").get();
    become(admitted);
    pod(1);
    pod(2);
    leaveBehind(admitted);
    after(PodAccountant.LEFT_BEHIND.minusMillis(100));
    assertThat(deleted()).isEmpty();

    after(Duration.ofMillis(200));
    assertThat(deleted()).containsExactly("p1", "p2");
    assertThat(accounts.isHeld(admitted.id())).isTrue();

    stored.clear();
    accounts.records().gone(new UUID(7, 1));
    accounts.records().gone(new UUID(7, 2));
    accountant.changed(ACCOUNT);
    assertThat(released).containsExactly(admitted.id());
  }

  /** A job that completes while pods terminate, or that keeps some of its pods, as a RayJob may. */
  @Test
  void podsOfAFinishedWorkloadWhoseJobExistsRunOnUntilItIsGone() throws Exception {
    CachedWorkload admitted = workloadOf(job()).admitted("spot").get();
    become(admitted);
    pod(1);
    CachedWorkload finished = workloadOf(job()).admitted("spot").finished().get();
    workloads.add(finished);
    accounts.changed(admitted, finished);
    accountant.changed(ACCOUNT);
    assertThat(outlasted).isEmpty();
    after(PodAccountant.AWAITED);
    after(Duration.ofHours(1));
    assertThat(deleted()).isEmpty();
    assertThat(accounts.isHeld(admitted.id())).isTrue();
    assertThat(outlasted).as("nobody waits for them").containsExactly(admitted.id());
    assertThat(accounts.isOutlasted(admitted.id())).isTrue();

    gone = true;
    accountant.changed(ACCOUNT);
    after(PodAccountant.LEFT_BEHIND);
    assertThat(deleted()).containsExactly("p1");
  }

  /** The garbage collector deletes them: they have the grace period that they asked for. */
  @Test
  void podsOfADeletedJobThatTerminateAreLeftToThat() throws Exception {
    CachedWorkload admitted = workloadOf(job()).admitted("spot").get();
    become(admitted);
    pod(1);
    pod(2);
    gone = true;
    workloads.known().clear();
    accounts.changed(admitted, null);
    accountant.changed(ACCOUNT);
    after(Duration.ofSeconds(2));
    Instant asked = now;
    terminates(1, asked, 30);
    terminates(2, asked, 86_400);
    after(PodAccountant.LEFT_BEHIND.multipliedBy(2));
    assertThat(deleted()).isEmpty();

    now = asked.plus(LIMIT).minusSeconds(1);
    accountant.changed(ACCOUNT);
    assertThat(deleted()).isEmpty();
    after(Duration.ofSeconds(1));
    assertThat(deleted()).as("its grace period is longer than any may be").containsExactly("p2");
  }

  @Test
  void podsThatALaterJobWithQuotaHasAdoptedAreLeftToIt() throws Exception {
    CachedWorkload admitted = workloadOf(job()).admitted("spot").get();
    become(admitted);
    pod(1);
    pod(2);
    CachedWorkload later = workloadOf(job()).named("later").ofJob("later").admitted("spot").get();
    become(later);
    leaveBehind(admitted);
    exists(1, later.owner().orElseThrow().uid(), "");
    accounts.records().seen(parser.of(JSON.readTree(stored.get(new UUID(7, 1)))));
    after(PodAccountant.LEFT_BEHIND);

    assertThat(deleted()).containsExactly("p2");
  }

  private CachedWorkload becomeEvicted() throws Exception {
    CachedWorkload evicted =
        workloadOf(job()).admitted("spot").evicted("Preempted", "by another").get();
    become(evicted);
    return evicted;
  }

  private static Instant evictedAt(CachedWorkload evicted) {
    return evicted.status().condition("Evicted").orElseThrow().lastTransitionTime();
  }

  @Test
  void podsOfAnEvictedWorkloadMayTakeSoLongAndNoLonger() throws Exception {
    CachedWorkload evicted = becomeEvicted();
    Instant evictedAt = evictedAt(evicted);
    now = evictedAt.plusSeconds(60);
    terminates(1, now, 31_536_000);
    terminates(2, now, 30);
    pod(3);
    after(LIMIT.minusSeconds(61));
    assertThat(deleted()).isEmpty();

    after(Duration.ofSeconds(1));
    assertThat(deleted()).as("nobody has asked it to end").containsExactly("p3");
    after(Duration.ofSeconds(60));
    assertThat(deleted()).containsExactly("p1", "p3");
  }

  /** Somebody makes one after the other in the name of the job, which would keep its quota. */
  @Test
  void podsThatAreMadeLongAfterAnEvictionKeepNoQuota() throws Exception {
    CachedWorkload evicted = becomeEvicted();
    Instant evictedAt = evictedAt(evicted);
    now = evictedAt.plus(LIMIT).plus(PodAccountant.AWAITED);
    pod(1);
    assertThat(accountant.isOverdue(ACCOUNT)).isFalse();
    assertThat(emptied).isEmpty();

    now = now.plusSeconds(1);
    pod(2);
    assertThat(accountant.isOverdue(ACCOUNT)).isTrue();
    assertThat(emptied).containsExactly(evicted);
    become(workloadOf(job()).admitted("spot").get());
    assertThat(accountant.isOverdue(ACCOUNT)).isFalse();
  }

  /** The Job controller stops no pods of a Job that somebody's finalizer keeps from going. */
  @Test
  void podsOfAnEvictedWorkloadWhoseJobIsBeingDeletedAreAskedToEndAfterAMinute() throws Exception {
    CachedWorkload evicted = becomeEvicted();
    beingDeleted = true;
    now = evictedAt(evicted);
    terminates(1, now, 31_536_000);
    pod(2);
    after(PodAccountant.AWAITED.minusSeconds(1));
    assertThat(deleted()).isEmpty();

    after(Duration.ofSeconds(1));
    assertThat(deleted()).as("p1 has its grace period, up to the limit").containsExactly("p2");
  }

  /** Nobody preempts a Workload that has ended, and no time limit or budget reaches it. */
  @Test
  void podsThatRunOnAfterTheirJobHasEndedMayTakeSoLongAndNoLonger() throws Exception {
    CachedWorkload admitted = workloadOf(job()).admitted("spot").get();
    become(admitted);
    pod(1);
    CachedWorkload finished = workloadOf(job()).admitted("spot").finished().get();
    workloads.add(finished);
    accounts.changed(admitted, finished);
    accountant.changed(ACCOUNT);
    after(LIMIT.minusSeconds(1));
    assertThat(deleted()).isEmpty();

    jobEnded = true;
    accountant.changed(ACCOUNT);
    assertThat(accounts.isHeld(admitted.id())).isTrue();
    assertThat(deleted()).isEmpty();
    after(Duration.ofSeconds(1));
    assertThat(deleted()).containsExactly("p1");
  }

  /** The API server binds no pod to a node that is being deleted. */
  @Test
  void aPodThatWasDeletedBeforeItHadANodeHoldsNoQuota() throws Exception {
    CachedWorkload admitted = workloadOf(job()).admitted("spot").get();
    become(admitted);
    unbound(1, now);
    assertThat(accounts.podsOf(ACCOUNT)).isEmpty();
    workloads.known().clear();
    accounts.changed(admitted, null);
    assertThat(accounts.isHeld(admitted.id())).isTrue();
    accountant.changed(ACCOUNT);

    assertThat(accounts.isHeld(admitted.id())).isFalse();
    assertThat(released).containsExactly(admitted.id());
  }

  /** A pod without a node that is being deleted, and that a finalizer keeps. */
  private void unbound(int number, Instant asked) throws JsonProcessingException {
    exists(
        number,
        GivenJob.UID,
        ", 'finalizers': ['example.com/mine'], 'deletionTimestamp': '%s', 'deletionGracePeriodSeconds': 0"
            .formatted(asked));
    ObjectNode pod = (ObjectNode) JSON.readTree(stored.get(new UUID(7, number)));
    pod.withObjectProperty("spec").remove("nodeName");
    stored.put(new UUID(7, number), pod.toString());
    accounts.records().seen(parser.of(pod));
  }

  /** Nobody sets a bound to the grace period of a pod. */
  @Test
  void aPodThatAsksForMoreTimeThanThereIsIsStopped() throws Exception {
    CachedWorkload evicted = becomeEvicted();
    now = evictedAt(evicted);
    exists(
        1,
        GivenJob.UID,
        ", 'deletionTimestamp': '%s', 'deletionGracePeriodSeconds': %d"
            .formatted(now, Long.MAX_VALUE));
    accounts.records().seen(parser.of(JSON.readTree(stored.get(new UUID(7, 1)))));
    accountant.changed(ACCOUNT);
    after(LIMIT);
    assertThat(deleted()).containsExactly("p1");
  }

  @Test
  void podsOfAWorkloadThatIsNotEvictedMayTakeAsLongAsTheyLike() throws Exception {
    become(workloadOf(job()).admitted("spot").get());
    terminates(1, now, 31_536_000);
    after(Duration.ofDays(1));
    assertThat(deleted()).isEmpty();
  }

  /** Each half minute, so that as many terminate as run. */
  @Test
  void aJobWhosePodsAreReplacedAllTheTimeIsEvicted() throws Exception {
    become(workloadOf(job()).admitted("spot").get());
    for (int i = 0; i < 15; i++) {
      if (i % 3 == 0) {
        after(Duration.ofSeconds(30));
      }
      if (i >= 3) {
        stored.remove(new UUID(7, i - 3));
        accounts.records().gone(new UUID(7, i - 3));
      }
      terminates(i, now, 30);
      pod(i + 3);
    }
    assertThat(evicted).isEmpty();

    after(Duration.ofSeconds(20));
    after(PodAccountant.CONFIRMATION.plusMillis(1));
    assertThat(evicted).singleElement().asString().contains("pods: 6 of 3");
  }

  /**
   * A webhook of the cluster may refuse it; the other Workload of the job is evicted all the same.
   */
  @Test
  void anEvictionThatIsRefusedIsTriedAgainLessAndLessOften() throws Exception {
    CachedWorkload refused = workloadOf(job()).admitted("spot", 1).get();
    CachedWorkload other = workloadOf(job()).named("other").admitted("spot", 1).get();
    become(refused);
    become(other);
    outcomes.put(refused.id().name(), new WorkloadWriter.Outcome.Refused(403, "not today"));
    for (int i = 1; i <= 3; i++) {
      pod(i);
    }
    after(PodAccountant.CONFIRMATION.plusMillis(1));
    assertThat(evictions).containsExactly(refused.id().name(), "other");
    workloads.known().remove("other");

    List<Duration> pauses = new ArrayList<>(List.of(last));
    for (int i = 0; i < 8; i++) {
      after(last);
      pauses.add(last);
    }
    assertThat(pauses)
        .extracting(Duration::toMillis)
        .containsExactly(500L, 1_000L, 2_000L, 4_000L, 8_000L, 16_000L, 32_000L, 60_000L, 60_000L);
    assertThat(evictions).hasSize(10);

    outcomes.clear();
    after(last);
    assertThat(evicted).hasSize(2);
    assertThat(last).isEqualTo(Duration.ofSeconds(1));
  }

  @Test
  void quotaOfADeletedJobIsGivenBackWhenThePodsThatExistAreKnownAndGone() throws Exception {
    CachedWorkload admitted = workloadOf(job()).admitted("spot").get();
    become(admitted);
    exists(1);
    workloads.known().clear();
    accounts.changed(admitted, null);
    accountant.changed(ACCOUNT);
    assertThat(accounts.isHeld(admitted.id())).isTrue();

    pod(1);
    after(Duration.ofSeconds(1));
    assertThat(accounts.isUnverified(ACCOUNT)).isFalse();
    assertThat(accounts.isHeld(admitted.id())).isTrue();
    assertThat(released).isEmpty();

    stored.clear();
    accounts.records().gone(new UUID(7, 1));
    accountant.changed(ACCOUNT);
    assertThat(released).containsExactly(admitted.id());
  }

  @Test
  void quotaIsNotKeptForEverForPodsThatNobodyKnows() throws Exception {
    CachedWorkload admitted = workloadOf(job()).admitted("spot").get();
    become(admitted);
    exists(1);
    workloads.known().clear();
    accounts.changed(admitted, null);
    accountant.changed(ACCOUNT);
    assertThat(released).isEmpty();

    after(PodAccountant.LONGEST_BEHIND);
    assertThat(released).containsExactly(admitted.id());
  }

  @Test
  void nothingIsStoppedThatIsAdmittedMeanwhile() throws Exception {
    pod(1);
    become(workloadOf(job()).admitted("spot").get());
    after(PodAccountant.UNADMITTED.multipliedBy(2));

    assertThat(deleted()).isEmpty();
  }
}
