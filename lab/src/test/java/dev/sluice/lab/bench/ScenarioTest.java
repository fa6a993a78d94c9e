package dev.sluice.lab.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import dev.sluice.lab.bench.Scenario.Form;
import dev.sluice.lab.bench.Scenario.PodPlacing;
import dev.sluice.lab.bench.Scenario.WorkClass;
import dev.sluice.lab.bench.Schedule.Creation;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

class ScenarioTest {

  private static final String GOOD =
      """
      description: two queues
      form: Workload
      cohorts: 1
      clusterQueuesPerCohort: 2
      clusterQueue:
        nominalCpu: 10
        borrowingLimitCpu: 5
        reclaimWithinCohort: Any
        withinClusterQueue: Never
      classes:
        - {name: small, count: 3, cpu: 1, priority: -1, runMillis: 200, everyMillis: 100}
        - {name: big, count: 2, cpu: 10, priority: 7, runMillis: 1000, everyMillis: 150}
      """;

  @Test
  void baselineIsTheOneThatIsComparedWith() {
    Scenario baseline = ScenarioReader.find("baseline");

    assertThat(baseline.cohorts()).isEqualTo(5);
    assertThat(baseline.clusterQueuesPerCohort()).isEqualTo(6);
    assertThat(baseline.clusterQueue())
        .isEqualTo(new Scenario.Queue(20, 100, "Any", "LowerPriority"));
    assertThat(baseline.classes())
        .containsExactly(
            new WorkClass("small", 350, 1, 50, 200, 100),
            new WorkClass("medium", 100, 5, 100, 500, 500),
            new WorkClass("large", 50, 20, 200, 1000, 1200));
    assertThat(baseline.size()).isEqualTo(15_000);
    assertThat(baseline.idealSeconds()).isEqualTo(66.0);
  }

  @Test
  void largeHasAThousandQueuesOfFifty() {
    Scenario large = ScenarioReader.find("large");

    assertThat(large.queues()).isEqualTo(1000);
    assertThat(large.size()).isEqualTo(50_000);
    assertThat(large.form()).isEqualTo(Form.WORKLOAD);
  }

  @Test
  void jobsAreTheBaselineWithRealJobs() {
    Scenario jobs = ScenarioReader.find("jobs");
    Scenario baseline = ScenarioReader.find("baseline");

    assertThat(jobs.form()).isEqualTo(Form.JOB);
    assertThat(jobs.classes()).isEqualTo(baseline.classes());
    assertThat(jobs.queues()).isEqualTo(baseline.queues());
    assertThat(jobs.clusterQueue()).isEqualTo(baseline.clusterQueue());
  }

  @Test
  void topologyHasFifteenThousandWorkloadsOfSeveralPodsOnNodesInRacks() {
    Scenario topology = ScenarioReader.find("topology");

    assertThat(topology.size()).isEqualTo(15_000);
    assertThat(topology.nodes()).contains(new Scenario.Nodes(10, 64, 1));
    assertThat(topology.nodes().orElseThrow().count()).isEqualTo(640);
    assertThat(topology.classes())
        .extracting(WorkClass::pods, WorkClass::placement)
        .containsExactly(
            tuple(2, PodPlacing.ANYWHERE),
            tuple(4, PodPlacing.PREFERRED),
            tuple(8, PodPlacing.REQUIRED));
    assertThat(topology.nominalCpu()).isEqualTo(630);
    assertThat(topology.idealSeconds()).isCloseTo(5120 / 21.0, within(1e-9));
    assertThat(ScenarioReader.find("baseline").nodes()).isEmpty();
    assertThat(ScenarioReader.find("mini-topology").idealSeconds()).isLessThan(5);
  }

  @Test
  void idealLastsUntilTheLastOneHasRunWhenQuotaIsPlenty() {
    // given work of 0.6 + 20 CPU-seconds for 10 CPUs
    Scenario busy = ScenarioReader.parse("busy", GOOD);
    // and the same with so much quota that only the schedule counts
    Scenario idle =
        ScenarioReader.parse("idle", GOOD.replace("nominalCpu: 10", "nominalCpu: 1000"));

    assertThat(busy.idealSeconds()).isEqualTo(2.06);
    assertThat(idle.idealSeconds()).isEqualTo(1.15);
  }

  @Test
  void workIsCreatedInTheOrderOfTimeInEveryQueue() {
    List<Creation> creations = Schedule.of(ScenarioReader.parse("good", GOOD));

    assertThat(creations).hasSize(10);
    assertThat(creations).extracting(Creation::atMillis).isSorted();
    assertThat(creations)
        .filteredOn(each -> each.queue() == 1 && each.workClass().name().equals("small"))
        .extracting(Creation::atMillis)
        .containsExactly(0L, 100L, 200L);
    assertThat(creations).extracting(Creation::ordinal).isSorted().doesNotHaveDuplicates();
  }

  @TestFactory
  Stream<DynamicTest> refusalsNameFieldValueAndWhatIsAllowed() {
    return Stream.of(
            new Refusal(
                "form: Workload", "form: Pod", "form is \"Pod\", must be one of Workload, Job"),
            new Refusal(
                "cohorts: 1", "cohorts: 0", "cohorts is \"0\", must be a whole number, 1 to"),
            new Refusal("cohorts: 1", "cohorts: 1.5", "cohorts is \"1.5\""),
            new Refusal("cohorts: 1", "cohorts: many", "cohorts is \"many\""),
            new Refusal("cohorts: 1", "cohort: 1", "cohort: unknown field; known are description"),
            new Refusal("nominalCpu: 10", "nominalCpu: -1", "clusterQueue.nominalCpu is \"-1\""),
            new Refusal("Cohort: Any", "Cohort: All", "must be one of Never, LowerPriority, Any"),
            new Refusal(
                "name: big", "name: Big", "classes[1].name is \"Big\", must be a DNS label"),
            new Refusal(
                "form: Workload", "nodes: {}\nform: Workload", "nodes.racks is \"nothing\""),
            new Refusal("count: 2", "count: 2, placement: near", "must be one of unconstrained,"),
            new Refusal("count: 2", "count: 2, pods: 0", "classes[1].pods is \"0\""),
            new Refusal("name: big", "name: small", "classes[1].name is \"small\""),
            new Refusal("count: 2", "count: 0", "classes[1].count is \"0\""),
            new Refusal("runMillis: 1000, ", "", "classes[1].runMillis is \"nothing\""),
            new Refusal("form: Workload", "form: [", "is no YAML"))
        .map(refusal -> DynamicTest.dynamicTest(refusal.message(), refusal::check));
  }

  private record Refusal(String part, String replacement, String message) {
    void check() {
      assertThat(GOOD).contains(part);
      String yaml = GOOD.replace(part, replacement);

      assertThatExceptionOfType(BenchException.class)
          .isThrownBy(() -> ScenarioReader.parse("it", yaml))
          .withMessageStartingWith("scenario it")
          .withMessageContaining(message);
    }
  }

  @Test
  void anUnknownScenarioIsToldTheKnownOnes() {
    assertThatExceptionOfType(BenchException.class)
        .isThrownBy(() -> ScenarioReader.find("huge"))
        .withMessageContaining("\"huge\"")
        .withMessageContaining("baseline, large, jobs");
  }
}
