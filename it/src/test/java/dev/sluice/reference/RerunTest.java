package dev.sluice.reference;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LabelSelector.LabelRequirement;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.reference.ReferenceEngine.Waking;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Do the engine and the reference have the same cycles, whatever the engine finds in them? */
class RerunTest {

  private static final LabelSelector ALL = new LabelSelector.Requirements(List.of());
  private static final LabelSelector TEAM_B =
      new LabelSelector.Requirements(
          List.of(new LabelRequirement("team", LabelRequirement.Operator.IN, List.of("b"))));

  @Test
  void aCycleInWhichTheEngineLooksAtNobodyIsOneOfTheReference() {
    Rerun rerun = new Rerun(Rerun.reference(Waking.HELPED), true);
    rerun.play(
        List.of(
            declare(new SchedulerEvent.NamespaceChanged("ns-a", Map.of("team", "a"))),
            declare(new SchedulerEvent.NamespaceChanged("ns-b", Map.of("team", "b"))),
            declare(
                new SchedulerEvent.FlavorChanged(new Flavor("f", Map.of(), List.of(), List.of()))),
            queue(new LabelSelector.Nothing(), StopPolicy.NONE),
            localQueue("ns-a"),
            localQueue("ns-b"),
            submit(1, "ns-a"),
            submit(2, "ns-b"),
            new Step.Cycle(),
            new Step.Cycle(),
            // both come back in line in a cycle that looks at nobody
            queue(ALL, StopPolicy.HOLD),
            new Step.Cycle(),
            // so that the first one is the head when its namespace doesn't match any more
            queue(TEAM_B, StopPolicy.NONE)));
    assertThat(rerun.admissions()).isEqualTo(1);
  }

  private static Step declare(SchedulerEvent schedulerEvent) {
    return new Step.Declare(schedulerEvent);
  }

  private static Step queue(LabelSelector namespaceSelector, StopPolicy stopPolicy) {
    return declare(
        new SchedulerEvent.ClusterQueueChanged(
            new ClusterQueueSpec(
                "q",
                "",
                List.of(new ResourceGroup(List.of("cpu"), List.of(SmallWorld.flavor("f", 5)))),
                QueueingStrategy.STRICT_FIFO,
                namespaceSelector,
                stopPolicy,
                false,
                PreemptionPolicies.NEVER,
                FlavorFungibility.DEFAULT,
                List.of(),
                List.of())));
  }

  private static Step localQueue(String namespace) {
    return declare(
        new SchedulerEvent.LocalQueueChanged(
            new LocalQueueSpec(new LocalQueueId(namespace, "lq"), "q", StopPolicy.NONE)));
  }

  private static Step submit(int number, String namespace) {
    return new Step.Submit(
        number, namespace, "lq", RandomWorld.single("cpu", 1), 0, number, false, 0, false, false);
  }
}
