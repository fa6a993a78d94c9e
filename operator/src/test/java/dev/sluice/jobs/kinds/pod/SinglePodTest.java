package dev.sluice.jobs.kinds.pod;

import static dev.sluice.jobs.kinds.pod.GivenPod.pod;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.GivenCluster;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.kind.PodSetInfo;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.jobs.kind.StartConflictException;
import dev.sluice.kube.json.JsonMergePatch;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the framework learns of a pod, and what is written on it. */
class SinglePodTest {

  private final SinglePod adapter = new SinglePod();

  @ParameterizedTest
  @CsvSource({
    "true,  Pending,   true,  false, ''",
    "false, Pending,   false, false, ''",
    "false, Running,   false, true,  ''",
    "false, Succeeded, true,  false, succeeded",
    "false, Failed,    true,  false, failed",
    "true,  Running,   true,  true,  ''",
    "true,  Succeeded, true,  false, succeeded",
  })
  void isSuspendedWhileGatedOrEndedAndActiveWhileItRuns(
      boolean gated, String phase, boolean suspended, boolean active, String end) {
    GivenPod given = gated ? pod("p1") : pod("p1").started();
    JobState state = adapter.state(given.phase(phase).object());
    assertThat(state.suspended()).isEqualTo(suspended);
    assertThat(state.active()).isEqualTo(active);
    assertThat(state.end().map(it -> it.succeeded() ? "succeeded" : "failed").orElse(""))
        .isEqualTo(end);
  }

  @Test
  void isReadyByItsCondition() {
    assertThat(adapter.state(pod("p1").running().object()).podsReady()).isTrue();
    assertThat(adapter.state(pod("p1").started().ready(false).object()).podsReady()).isFalse();
  }

  @Test
  void hasOnePodSetOfItsSpec() {
    ObjectNode object = pod("p1").object();
    PodSetTemplate podSet = adapter.podSets(object).getFirst();
    assertThat(adapter.podSets(object)).hasSize(1);
    assertThat(podSet.name()).isEqualTo("main");
    assertThat(podSet.count()).isEqualTo(1);
    assertThat(podSet.template().path("spec")).isEqualTo(object.path("spec"));
  }

  /** docs/topology.md#groups-spread-over-domains */
  @Test
  void saysInItsPodSetHowGroupsAreSpread() {
    String rules = "{\"rules\": []}";
    ObjectNode object =
        pod("p1")
            .annotation(KueueConstants.PODSET_TOPOLOGY_SPREADING, rules)
            .annotation("example.com/other", "x")
            .object();
    assertThat(adapter.podSets(object).getFirst().template().at("/metadata/annotations"))
        .isEqualTo(
            JsonNodeFactory.instance
                .objectNode()
                .put(KueueConstants.PODSET_TOPOLOGY_SPREADING, rules));
  }

  @Test
  void startsWithoutItsTwoGatesAndWithWhatItWasGiven() throws Exception {
    ObjectNode object =
        pod("p1")
            .spec(
                "schedulingGates",
                "[{name: kueue.x-k8s.io/admission}, {name: kueue.x-k8s.io/topology}, {name:"
                    + " other.example/gate}]")
            .object();
    ObjectNode started =
        JsonMergePatch.applied(object, adapter.start(object, List.of(spot())).getFirst().body());
    assertThat(started.at("/spec/schedulingGates").findValuesAsText("name"))
        .containsExactly("other.example/gate");
    assertThat(started.at("/spec/nodeSelector/instance-type").asText()).isEqualTo("spot");
    assertThat(started.at("/spec/tolerations/0/key").asText()).isEqualTo("spot");
    assertThat(started.at("/metadata/labels/kueue.x-k8s.io~1podset").asText()).isEqualTo("main");
    assertThat(started.at("/metadata/labels/kueue.x-k8s.io~1managed").asText()).isEqualTo("true");
    assertThat(started.at("/metadata/annotations/kueue.x-k8s.io~1workload").asText())
        .isEqualTo("pod-p1-73ac2");
  }

  @Test
  void cannotBeStartedAgainstItsOwnNodeSelector() {
    ObjectNode object = pod("p1").spec("nodeSelector", "{instance-type: large}").object();
    assertThatThrownBy(() -> adapter.start(object, List.of(spot())))
        .isInstanceOf(StartConflictException.class)
        .hasMessageContaining("nodeSelector[instance-type]")
        .hasMessageContaining("large")
        .hasMessageContaining("spot");
  }

  @Test
  void saysOnceWhyItIsDeleted() {
    ObjectNode object = pod("p1").running().object();
    JobPatch words =
        adapter
            .ending()
            .orElseThrow()
            .terminationPatch(object, "NotAdmitted", "Preempted", GivenCluster.NOW)
            .orElseThrow();
    assertThat(words.ofStatus()).isTrue();
    assertThat(words.fieldOwner()).isEqualTo("kueue");
    ObjectNode told = JsonMergePatch.applied(object, words.body());
    assertThat(told.at("/status/conditions")).hasSize(2);
    assertThat(told.at("/status/conditions/1").toString())
        .isEqualTo(
            "{\"type\":\"TerminationTarget\",\"status\":\"True\","
                + "\"lastTransitionTime\":\"2026-03-01T12:00:00Z\","
                + "\"reason\":\"NotAdmitted\",\"message\":\"Preempted\"}");
    assertThat(
            adapter
                .ending()
                .orElseThrow()
                .terminationPatch(told, "NotAdmitted", "Preempted", GivenCluster.NOW))
        .isEmpty();
  }

  @Test
  void namesItsGroupByAnnotationOrLabel() {
    assertThat(pod("p1").view().group()).isEmpty();
    assertThat(
            pod("p1")
                .label(KueueConstants.POD_GROUP_NAME, "old")
                .view()
                .group()
                .orElseThrow()
                .name())
        .isEqualTo("old");
    CachedPod.Group group =
        pod("p1")
            .label(KueueConstants.POD_GROUP_NAME, "old")
            .annotation(KueueConstants.POD_GROUP_NAME, "new")
            .annotation(KueueConstants.POD_GROUP_TOTAL_COUNT, "3")
            .annotation(KueueConstants.RETRIABLE_IN_GROUP, "false")
            .view()
            .group()
            .orElseThrow();
    assertThat(group).isEqualTo(new CachedPod.Group("new", 3, false, false, false));
  }

  @Test
  void isKnownInFullOnlyWhileItIsGated() {
    assertThat(pod("p1").view().job().text()).contains("registry.example/work:1");
    assertThat(pod("p1").running().view().job().text()).isEmpty();
  }

  private static PodSetInfo spot() {
    return new PodSetInfo(
        "main",
        1,
        Map.of(KueueConstants.PODSET, "main"),
        Map.of(KueueConstants.WORKLOAD, "pod-p1-73ac2"),
        Map.of("instance-type", "spot"),
        GivenCluster.cluster().find("spot").orElseThrow().tolerations(),
        List.of());
  }

  @Test
  void cannotBeSuspended() {
    assertThat(adapter.nextStopStep(pod("p1").running().object(), Optional.empty())).isEmpty();
  }
}
