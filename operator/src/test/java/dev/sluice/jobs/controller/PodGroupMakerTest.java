package dev.sluice.jobs.controller;

import static dev.sluice.jobs.GivenJob.job;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.GivenWorkload;
import dev.sluice.jobs.ScriptedApi;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kinds.batch.BatchJob;
import dev.sluice.jobs.policy.JobAction;
import dev.sluice.jobs.policy.JobAction.MakePodGroup;
import dev.sluice.jobs.policy.JobAction.Start;
import dev.sluice.kube.client.ApiOutcome;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A PodGroup is there before its job starts, and is one that nobody has used up. */
class PodGroupMakerTest {

  private static final String COLLECTION =
      "/apis/scheduling.k8s.io/v1alpha2/namespaces/team/podgroups";
  private static final MakePodGroup MAKE = new MakePodGroup(COLLECTION, podGroup("w-uid", 4));

  private final ScriptedApi api = new ScriptedApi();
  private final JobExecutor executor = new JobExecutor(new BatchJob(), api.dependencies());

  private static ObjectNode podGroup(String owner, int minCount) {
    ObjectNode podGroup = JsonNodeFactory.instance.objectNode().put("kind", "PodGroup");
    ObjectNode metadata = podGroup.putObject("metadata").put("name", "g").put("uid", "g-uid");
    metadata.putArray("ownerReferences").addObject().put("uid", owner);
    podGroup.withObject("/spec/schedulingPolicy/gang").put("minCount", minCount);
    return podGroup;
  }

  private void given(ObjectNode podGroup) {
    api.objects.put(COLLECTION + "/g", podGroup);
  }

  /** What is done until the job is started, or isn't. */
  private List<String> start(Duration again) throws InterruptedException {
    api.store(job());
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    body.putObject("spec").put("suspend", false);
    List<JobAction> actions =
        List.of(
            MAKE,
            new Start(
                GivenWorkload.workloadOf(job()).admitted("plain").get(),
                List.of(new JobPatch(false, body)),
                "go"));
    assertThat(executor.execute(job().view(), actions).orElse(Duration.ZERO)).isEqualTo(again);
    return api.calls.stream().map(call -> call.replaceFirst(" Job .*", "")).toList();
  }

  @Test
  void itIsMadeBeforeTheStart() throws InterruptedException {
    assertThat(start(Duration.ZERO)).containsExactly("create PodGroup g", "patch");
  }

  @Test
  void oneThatAnEarlierAttemptMadeIsTaken() throws InterruptedException {
    given(podGroup("w-uid", 4));
    assertThat(start(Duration.ZERO)).containsExactly("create PodGroup g", "patch");
  }

  @ParameterizedTest
  @ValueSource(strings = {"PodGroupScheduled", "PodGroupInitiallyScheduled"})
  void oneThatWasScheduledIsReplacedFirst(String condition) throws InterruptedException {
    ObjectNode used = podGroup("w-uid", 4);
    used.withObject("/status")
        .putArray("conditions")
        .addObject()
        .put("type", condition)
        .put("status", "True");
    given(used);
    assertThat(start(Duration.ofSeconds(1)))
        .containsExactly("create PodGroup g", "delete g of UID g-uid");
    api.calls.clear();
    assertThat(start(Duration.ZERO)).containsExactly("create PodGroup g", "patch");
  }

  @Test
  void oneOfAnotherSizeIsReplacedFirst() throws InterruptedException {
    given(podGroup("w-uid", 3));
    assertThat(start(Duration.ofSeconds(1)))
        .containsExactly("create PodGroup g", "delete g of UID g-uid");
  }

  @Test
  void oneThatGoesIsWaitedFor() throws InterruptedException {
    ObjectNode leaving = podGroup("w-uid", 4);
    leaving.withObject("/metadata").put("deletionTimestamp", "2026-11-29T13:00:00Z");
    given(leaving);
    assertThat(start(Duration.ofSeconds(1))).containsExactly("create PodGroup g");
    assertThat(api.events).isEmpty();
  }

  @Test
  void oneOfSomebodyElseIsLeftAndTold() throws InterruptedException {
    given(podGroup("other", 4));
    assertThat(start(Duration.ofSeconds(30))).containsExactly("create PodGroup g");
    assertThat(api.events).containsExactly("Warning WriteRefused");
  }

  @Test
  void whatIsRefusedIsToldAndTheJobIsNotStarted() throws InterruptedException {
    api.jobAnswers.add(new ApiOutcome.Refused(403, "exceeded quota"));
    assertThat(start(Duration.ofSeconds(30))).containsExactly("create PodGroup g");
    assertThat(api.events).containsExactly("Warning WriteRefused");
  }

  @Test
  void withoutAnAnswerTheJobIsNotStarted() {
    api.jobAnswers.add(ApiOutcome.Unreachable.unanswered(null));
    assertThatThrownBy(() -> start(Duration.ZERO)).isInstanceOf(IllegalStateException.class);
    assertThat(api.calls).containsExactly("create PodGroup g");
  }
}
