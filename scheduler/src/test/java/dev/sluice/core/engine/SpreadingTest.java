package dev.sluice.core.engine;

import static dev.sluice.core.engine.SchedulerFixture.quota;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterNode;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.FlavorRejection;
import dev.sluice.core.model.LabelSelector.LabelRequirement;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.TopologyRequest;
import dev.sluice.core.model.TopologyRequest.Spreading;
import dev.sluice.core.model.TopologyRequest.Spreading.ShareRule;
import dev.sluice.core.model.TopologySpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Groups are spread over racks, each of one node with 10 cpu
 * (docs/topology.md#groups-spread-over-domains). Without a rule, all groups of 1 cpu that must be
 * in one rack are in the first one.
 */
class SpreadingTest {

  private static final String HOST = TopologySpec.HOSTNAME;

  private SchedulerFixture scheduler = new SchedulerFixture();

  @BeforeEach
  void threeRacks() {
    declare();
    List.of("r1", "r2", "r3").forEach(this::rack);
  }

  private void declare() {
    scheduler.engine.apply(
        new SchedulerEvent.TopologyChanged(new TopologySpec("t", List.of("rack", HOST))));
    scheduler.engine.apply(
        new SchedulerEvent.FlavorChanged(new Flavor("f", Map.of(), List.of(), List.of(), "t")));
    scheduler.queue("q", "", quota("f", 100));
    scheduler.queue("other", "", quota("f", 100));
  }

  private void rack(String name) {
    scheduler.engine.apply(
        new SchedulerEvent.NodeChanged(
            new ClusterNode(
                name + "-n",
                Map.of("rack", name, HOST, name + "-n"),
                List.of(),
                new TreeMap<>(Map.of("cpu", 10L, "pods", 100L)),
                true)));
  }

  private static ShareRule required(int maxShare) {
    return new ShareRule("rack", maxShare, true);
  }

  private static ShareRule preferred(int maxShare) {
    return new ShareRule("rack", maxShare, false);
  }

  private static PodSetRequest podSet(String name, String group, long cpu, Spreading spreading) {
    return new PodSetRequest(
        name,
        1,
        0,
        new TreeMap<>(Map.of("cpu", cpu)),
        NodeConstraints.ANYWHERE,
        group,
        TopologyRequest.required("rack").spread(spreading));
  }

  /** The spreading of a group of the service {@code app}. */
  private static Spreading spreading(
      String namespace, String owner, String group, String app, ShareRule... rules) {
    return new Spreading(
        new Spreading.Member(namespace, owner, group, new TreeMap<>(Map.of("app", app))),
        Optional.of(new LabelRequirement("app", LabelRequirement.Operator.IN, List.of("model"))),
        List.of(rules));
  }

  private void submit(String name, String queue, long cpu, ShareRule... rules) {
    submit(name, queue, cpu, spreading("ns", name, "main", "model", rules));
  }

  private void submit(String name, String queue, long cpu, Spreading spreading) {
    scheduler.submit(name, queue, new RequestShape(List.of(podSet("main", "", cpu, spreading))), 0);
  }

  private List<String> racks(String name) {
    return scheduler.admission(name).podSets().stream()
        .flatMap(podSet -> podSet.topology().assignment().orElseThrow().domains().stream())
        .map(domain -> domain.values().getFirst().replace("-n", ""))
        .toList();
  }

  private String placed(String name, ShareRule... rules) {
    submit(name, "q", 1, rules);
    return scheduler.admitted().equals(List.of(name)) ? racks(name).getFirst() : "waits";
  }

  private List<String> placed(int count, ShareRule... rules) {
    List<String> placed = new ArrayList<>();
    for (int i = 1; i <= count; i++) {
      placed.add(placed("g" + i, rules));
    }
    return placed;
  }

  @Test
  void withoutRuleAllGroupsAreInOneRack() {
    assertThat(placed(3)).containsExactly("r1", "r1", "r1");
  }

  /** With 34 % of 3 racks, none is taken twice before all were taken as often. */
  @Test
  void aThirdOfTheGroupsIsInEachRack() {
    assertThat(placed(6, required(34))).containsExactly("r1", "r2", "r3", "r1", "r2", "r3");
  }

  @Test
  void withoutAnotherRackARequiredRuleMakesGroupsWait() {
    assertThat(placed(6, required(25)))
        .containsExactly("r1", "r2", "r3", "waits", "waits", "waits");
    rack("r4");
    assertThat(scheduler.admitted()).containsExactly("g4", "g5", "g6");
    assertThat(racks("g4")).containsExactly("r4");
    assertThat(racks("g5")).containsExactly("r1");
  }

  /** Changes of 0.20, section 4, TASTopologySpreading. */
  @Test
  void itSaysWhyAGroupWaits() {
    placed(4, required(25));
    assertThat(scheduler.waitsFor("g4")).contains(PendingReason.TOPOLOGY_SPREAD_CONSTRAINT_NOT_MET);
    FlavorRejection rejection =
        scheduler
            .explanation("g4")
            .orElseThrow()
            .attempts()
            .getFirst()
            .flavorRejections()
            .getFirst();
    assertThat(rejection)
        .isInstanceOfSatisfying(
            FlavorRejection.NoPlacement.class,
            lacking -> {
              assertThat(lacking.everEmpty()).isFalse();
              assertThat(lacking.crowding())
                  .containsExactly(
                      new FlavorRejection.Crowding(required(25), 3, List.of("r1", "r2", "r3"), 3));
            });
  }

  @Test
  void whatIsPreferredIsGivenUpForTheRackWithFewestGroups() {
    placed(3, required(34));
    assertThat(placed("more")).isEqualTo("r1");
    assertThat(placed("preferring", preferred(20))).isEqualTo("r2");
    assertThat(placed("again", preferred(20))).isEqualTo("r3");
  }

  @Test
  void twoRulesHoldTogetherAndALevelThatIsNotThereHasNoRule() {
    assertThat(placed("a", new ShareRule("zone", 1, true))).isEqualTo("r1");
    assertThat(placed("b", new ShareRule("zone", 1, true))).isEqualTo("r1");
    assertThat(placed("c", preferred(50), new ShareRule(HOST, 99, true))).isEqualTo("r2");
  }

  @Test
  void groupsOfOthersDoNotCount() {
    submit("elsewhere", "q", 1, spreading("another", "u1", "main", "model"));
    submit("unselected", "q", 1, spreading("ns", "u2", "main", "batch"));
    assertThat(scheduler.admitted()).hasSize(2);
    assertThat(placed("a", required(1))).isEqualTo("r1");
  }

  /** Who has no rule counts, too. */
  @Test
  void whoIsSelectedCountsWithoutARule() {
    submit("plain", "q", 1, Spreading.counted(spreading("ns", "u", "main", "model").member()));
    scheduler.admitted();
    assertThat(placed("a", required(50))).isEqualTo("r2");
  }

  @Test
  void podSetsOfAGroupCountOnceAndOthersOneByOne() {
    Spreading group = spreading("ns", "pair", "replica", "model", required(50));
    scheduler.submit(
        "pair",
        "q",
        new RequestShape(
            List.of(podSet("leader", "replica", 1, group), podSet("workers", "replica", 1, group))),
        0);
    scheduler.submit(
        "two",
        "q",
        new RequestShape(
            List.of(
                podSet("x", "", 1, spreading("ns", "two", "x", "model", required(50))),
                podSet("y", "", 1, spreading("ns", "two", "y", "model", required(50))))),
        0);
    scheduler.admitted();
    assertThat(racks("pair")).containsExactly("r1", "r1");
    assertThat(racks("two")).as("of 2 groups, each of the first 2 racks has half").hasSize(2);
    assertThat(racks("two")).containsExactly("r2", "r1");
  }

  @Test
  void headsOfOneCycleAreSpread() {
    for (ShareRule rule : List.of(required(50), preferred(50))) {
      submit("a" + rule.required(), "q", 1, rule);
      submit("b" + rule.required(), "other", 1, rule);
    }
    assertThat(scheduler.admitted()).hasSize(4);
    assertThat(List.of(racks("atrue").getFirst(), racks("btrue").getFirst()))
        .containsExactlyInAnyOrder("r1", "r2");
    assertThat(racks("afalse")).isNotEqualTo(racks("bfalse"));
  }

  /** The share of the first rack is less once another group is elsewhere. */
  @Test
  void aGroupMoreLetsOthersIn() {
    submit("filler-2", "q", 10, spreading("ns", "f2", "main", "batch"));
    submit("filler-3", "q", 10, spreading("ns", "f3", "main", "batch"));
    scheduler.admitted();
    String full = racks("filler-2").getFirst();
    submit("first", "q", 9, required(50));
    scheduler.admitted();
    String rack = racks("first").getFirst();
    submit("second", "other", 1, required(50));
    assertThat(scheduler.admitted()).isEmpty();
    rack("r9");
    submit("third", "q", 10, Spreading.counted(spreading("ns", "u3", "main", "model").member()));
    assertThat(full).isNotEqualTo(rack);
    assertThat(scheduler.admitted()).contains("second");
  }

  @Test
  void whoIsGoneDoesNotCount() {
    placed(4, required(25));
    scheduler.finish("g1");
    assertThat(scheduler.admitted()).containsExactly("g4");
    assertThat(racks("g4")).containsExactly("r1");
  }

  @Test
  void afterARestartTheGroupsAreThose() {
    placed(3, required(34));
    List<Decision.Admit> admitted =
        List.of(scheduler.admission("g1"), scheduler.admission("g2"), scheduler.admission("g3"));
    scheduler = new SchedulerFixture();
    admitted.forEach(each -> scheduler.reserved(each));
    declare();
    List.of("r1", "r2", "r3").forEach(this::rack);
    assertThat(placed("g4", required(34))).isEqualTo("r1");
    assertThat(placed("g5", required(45))).isEqualTo("r2");
    assertThat(placed("g6", required(19))).as("r3 has 20 %").isEqualTo("waits");
  }
}
