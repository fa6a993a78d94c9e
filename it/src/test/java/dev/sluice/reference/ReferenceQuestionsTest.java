package dev.sluice.reference;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Who may be passed by others? */
class ReferenceQuestionsTest extends SmallWorld {

  ReferenceQuestionsTest() {
    super(0, ReferenceEngine.Waking.ALL);
  }

  @BeforeEach
  void aQueueOfTwoFlavors() {
    engine.fold(
        new SchedulerEvent.FlavorChanged(
            new Flavor("g", Map.of("type", "g"), List.of(), List.of())));
    queue("q", "", PreemptionPolicies.NEVER, flavor("f", 4), flavor("g", 3));
  }

  private static PodSetRequest podSet(String name, long cpu, String type) {
    return new PodSetRequest(
        name,
        1,
        0,
        new TreeMap<>(Map.of("cpu", cpu)),
        new NodeConstraints(type.isEmpty() ? Map.of() : Map.of("type", type), List.of(), List.of()),
        "");
  }

  private List<String> admitted() {
    return engine.cycle().stream().map(decided -> decided.id().name()).toList();
  }

  @Test
  void oneThatFitsIsNotPassed() {
    submit("elder", "q", 1, 0);
    submit("younger", "q", 1, 0);
    assertThat(engine.questions().skippedBy(id("younger"), "q")).containsExactly(id("elder"));
  }

  @Test
  void oneThatFitsOnlySinceOthersTookQuotaMayBePassed() {
    // given one whose first pod set takes of f what the second one needs, which can't use g
    engine.fold(
        new SchedulerEvent.WorkloadPending(
            new PendingWorkload(
                id("competing"),
                1,
                "q",
                new RequestShape(List.of(podSet("one", 3, ""), podSet("two", 2, "f"))),
                1,
                START,
                START,
                Optional.empty(),
                false,
                Optional.empty())));
    assertThat(admitted()).isEmpty();

    // when somebody else takes so much of f that the first pod set would go to g
    submit("other", "q", 2, 0);
    assertThat(admitted()).containsExactly("other");

    // then nobody looks at it before quota is given back
    submit("next", "q", 1, 0);
    assertThat(engine.questions().skippedBy(id("next"), "q")).isEmpty();
  }
}
