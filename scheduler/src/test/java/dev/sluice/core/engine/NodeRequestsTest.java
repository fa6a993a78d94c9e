package dev.sluice.core.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterNode;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.FlavorRejection;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.ResourceGroup.Quota;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.core.model.TopologyRequest;
import dev.sluice.core.model.TopologySpec;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Quota counts what is charged; flavors and nodes are chosen by what pods request themselves. */
class NodeRequestsTest {

  private static final String DEVICE = "example.com/device";
  private static final String CREDITS = "example.com/credits";

  private final SchedulerFixture scheduler = new SchedulerFixture();

  /** A queue with cpu on nodes of a topology, and with credits, whose flavor has none. */
  private void queueWithCredits() {
    scheduler.engine.apply(
        new SchedulerEvent.TopologyChanged(
            new TopologySpec("t", List.of("rack", TopologySpec.HOSTNAME))));
    scheduler.engine.apply(
        new SchedulerEvent.FlavorChanged(new Flavor("f", Map.of(), List.of(), List.of(), "t")));
    scheduler.flavor("credits");
    for (String name : List.of("n1", "n2")) {
      scheduler.engine.apply(
          new SchedulerEvent.NodeChanged(
              new ClusterNode(
                  name,
                  Map.of("rack", "r1", TopologySpec.HOSTNAME, name),
                  List.of(),
                  new TreeMap<>(Map.of("cpu", 100L, DEVICE, 2L, "pods", 10L)),
                  true)));
    }
    scheduler.engine.apply(
        new SchedulerEvent.ClusterQueueChanged(
            new ClusterQueueSpec(
                "q",
                "",
                List.of(group("cpu", "f", 100), group(CREDITS, "credits", 10)),
                ClusterQueueSpec.QueueingStrategy.BEST_EFFORT_FIFO,
                new LabelSelector.Requirements(List.of()),
                ClusterQueueSpec.StopPolicy.NONE,
                false,
                PreemptionPolicies.NEVER,
                new FlavorFungibility(false, false, false),
                BigDecimal.ONE,
                List.of(),
                List.of(),
                false)));
    scheduler.engine.apply(
        new SchedulerEvent.LocalQueueChanged(
            new LocalQueueSpec(
                new LocalQueueId("ns", "q"), "q", ClusterQueueSpec.StopPolicy.NONE)));
  }

  private static ResourceGroup group(String resource, String flavor, long nominal) {
    Quota quota = new Quota(nominal, ResourceAmounts.UNLIMITED, ResourceAmounts.UNLIMITED);
    return new ResourceGroup(
        List.of(resource),
        List.of(new ResourceGroup.FlavorQuotas(flavor, Map.of(resource, quota))));
  }

  private static RequestShape shape(
      int pods, TopologyRequest topology, Map<String, Long> charged, Map<String, Long> requested) {
    return new RequestShape(
        List.of(
            new PodSetRequest(
                "main",
                pods,
                0,
                new TreeMap<>(charged),
                NodeConstraints.ANYWHERE,
                "",
                topology,
                new TreeMap<>(requested))));
  }

  private List<String> places(String name) {
    List<String> places = new ArrayList<>();
    for (TopologyAssignment.Domain domain :
        scheduler
            .admission(name)
            .podSets()
            .getFirst()
            .topology()
            .assignment()
            .orElseThrow()
            .domains()) {
      places.add(String.join("/", domain.values()) + "=" + domain.count());
    }
    return places;
  }

  @Test
  void aFlavorWithoutTopologyIsFineForWhatPodsDoNotRequestThemselves() {
    queueWithCredits();
    scheduler.submit(
        "a",
        "q",
        shape(
            2, TopologyRequest.required("rack"), Map.of("cpu", 1L, CREDITS, 3L), Map.of("cpu", 1L)),
        0);
    assertThat(scheduler.admitted()).containsExactly("a");
    PodSetAssignment podSet = scheduler.admission("a").podSets().getFirst();
    assertThat(podSet.flavors()).isEqualTo(Map.of("cpu", "f", CREDITS, "credits"));
    assertThat(podSet.usage()).isEqualTo(Map.of("cpu", 2L, CREDITS, 6L));
    assertThat(places("a")).containsExactly("n1=2");
    scheduler.submit(
        "b",
        "q",
        shape(
            2, TopologyRequest.required("rack"), Map.of("cpu", 1L, CREDITS, 3L), Map.of("cpu", 1L)),
        0);
    assertThat(scheduler.admitted()).as("10 credits are not enough for 12").isEmpty();
  }

  @Test
  void butNotForWhatTheyRequestThemselves() {
    queueWithCredits();
    Map<String, Long> both = Map.of("cpu", 1L, CREDITS, 3L);
    scheduler.submit("a", "q", shape(2, TopologyRequest.required("rack"), both, both), 0);
    assertThat(scheduler.admitted()).isEmpty();
    assertThat(scheduler.explanation("a").orElseThrow().attempts().getLast().flavorRejections())
        .containsExactly(new FlavorRejection.NoTopology());
  }

  @Test
  void whatQuotaLeavesOutIsCountedOnNodes() {
    queueWithCredits();
    scheduler.submit(
        "four",
        "q",
        shape(4, TopologyRequest.unconstrained(), Map.of("cpu", 1L), Map.of("cpu", 1L, DEVICE, 1L)),
        0);
    assertThat(scheduler.admitted()).containsExactly("four");
    assertThat(places("four")).containsExactly("n1=2", "n2=2");
    assertThat(scheduler.admission("four").podSets().getFirst().usage())
        .isEqualTo(Map.of("cpu", 4L));
    scheduler.submit(
        "one",
        "q",
        shape(1, TopologyRequest.unconstrained(), Map.of("cpu", 1L), Map.of("cpu", 1L, DEVICE, 1L)),
        0);
    assertThat(scheduler.admitted()).as("all devices are taken").isEmpty();
    scheduler.finish("four");
    assertThat(scheduler.admitted()).containsExactly("one");
  }
}
