package dev.sluice.core.engine;

import static dev.sluice.core.engine.SchedulerFixture.quota;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.LabelSelector.LabelRequirement;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.ReservingWorkload;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.JobSlice;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.Variant;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.TopologyRequest;
import dev.sluice.core.model.WorkloadId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** One of the variants of a request has quota at any time (docs/concurrent-admission.md). */
class VariantsTest {

  private static final List<String> FLAVORS = List.of("f", "g", "h");

  private SchedulerFixture world = new SchedulerFixture();

  @BeforeEach
  void flavors() {
    FLAVORS.forEach(world::flavor);
  }

  private static Optional<JobSlice> variant(String family, String flavor, boolean attracts) {
    return Optional.of(
        JobSlice.variant(
            family, family + "-" + flavor, new Variant(FLAVORS.indexOf(flavor), attracts)));
  }

  private void submit(String family, String flavor, long cpu, boolean attracts) {
    List<String> others = FLAVORS.stream().filter(each -> !each.equals(flavor)).toList();
    TreeMap<String, Long> perPod = new TreeMap<>(Map.of("cpu", cpu));
    RequestShape shape =
        new RequestShape(
            List.of(
                new PodSetRequest(
                    "main",
                    1,
                    0,
                    perPod,
                    new NodeConstraints(
                        Map.of(),
                        List.of(
                            List.of(
                                new LabelRequirement(
                                    NodeConstraints.VARIANT,
                                    LabelRequirement.Operator.NOT_IN,
                                    others))),
                        List.of(List.of()),
                        List.of(),
                        List.of()),
                    "",
                    TopologyRequest.NONE,
                    perPod)));
    world.submit(family + "-" + flavor, "q", shape.withSlice(variant(family, flavor, attracts)), 0);
  }

  private void reserving(
      String family, String flavor, long cpu, boolean attracts, boolean evicted) {
    String name = family + "-" + flavor;
    world.engine.apply(
        new SchedulerEvent.WorkloadReserving(
            new ReservingWorkload(
                new WorkloadId("uid-" + name, "ns", name),
                world.nextVersion(),
                "q",
                "q",
                List.of(
                    new PodSetAssignment(
                        "main",
                        new TreeMap<>(Map.of("cpu", flavor)),
                        new TreeMap<>(Map.of("cpu", cpu)),
                        1)),
                0,
                SchedulerFixture.START,
                evicted,
                true,
                true,
                SchedulerFixture.START,
                true,
                false,
                variant(family, flavor, attracts))));
  }

  @Test
  void oneVariantGetsQuotaAndTheOthersWait() {
    world.queue("q", "", quota("f", 10), quota("g", 10), quota("h", 10));
    for (String flavor : FLAVORS) {
      submit("a", flavor, 6, false);
    }

    assertThat(world.admitted()).hasSize(1);
    assertThat(world.preempted()).isEmpty();
  }

  @Test
  void withoutMigrationAPreferredVariantWaitsUntilTheOtherHasFinished() {
    world.queue("q", "", quota("f", 10), quota("g", 10), quota("h", 10));
    reserving("a", "g", 6, false, false);
    submit("a", "f", 6, false);

    assertThat(world.admitted()).isEmpty();
    assertThat(world.preempted()).isEmpty();

    world.finish("a-g");
    assertThat(world.admitted()).containsExactly("a-f");
  }

  @Test
  void aPreferredVariantThatFitsEvictsTheOtherAndGetsQuotaAfterwards() {
    world.queue("q", "", quota("f", 10), quota("g", 10), quota("h", 10));
    reserving("a", "g", 6, true, false);
    submit("a", "f", 6, true);
    submit("a", "h", 6, true);

    assertThat(world.admitted()).isEmpty();
    assertThat(world.preempted()).containsExactly("a-g for a-f: FlavorMigration");

    reserving("a", "g", 6, true, true);
    assertThat(world.admitted()).isEmpty();
    assertThat(world.preempted()).isEmpty();

    world.finish("a-g");
    assertThat(world.admitted()).containsExactly("a-f");
  }

  @Test
  void aPreferredVariantThatDoesntFitLeavesTheOther() {
    world.queue("q", "", quota("f", 5), quota("g", 10), quota("h", 10));
    reserving("a", "g", 6, true, false);
    submit("a", "f", 6, true);

    assertThat(world.admitted()).isEmpty();
    assertThat(world.preempted()).isEmpty();
  }

  @Test
  void whatIsStoredIsChargedAlsoIfTwoVariantsHaveQuota() {
    world.queue("q", "", quota("f", 10), quota("g", 10), quota("h", 10));
    reserving("a", "f", 6, false, false);
    reserving("a", "g", 6, false, false);
    submit("b", "f", 6, false);
    submit("c", "g", 6, false);
    submit("d", "h", 6, false);

    assertThat(world.admitted()).containsExactly("d-h");
  }

  @Test
  void whoIsNoVariantAnyMoreHoldsNoOtherBack() {
    world.queue("q", "", quota("f", 10), quota("g", 10), quota("h", 10));
    reserving("a", "f", 6, false, false);
    submit("a", "g", 6, false);
    assertThat(world.admitted()).isEmpty();

    world.submit("a-f", "q", SchedulerFixture.shape(6), 0);
    assertThat(world.admitted()).containsExactlyInAnyOrder("a-f", "a-g");
  }

  @Test
  void familiesDontMeet() {
    world.queue("q", "", quota("f", 10), quota("g", 10), quota("h", 10));
    submit("a", "f", 6, false);
    submit("b", "g", 6, false);

    assertThat(world.admitted()).containsExactlyInAnyOrder("a-f", "b-g");
  }

  /** Whatever is submitted, withdrawn, evicted and finished: a family has one reservation. */
  @Test
  void aFamilyNeverGetsASecondReservation() {
    Random random = new Random(17);
    int migrations = 0;
    for (int run = 0; run < 40; run++) {
      SchedulerFixture engine = new SchedulerFixture();
      FLAVORS.forEach(engine::flavor);
      engine.queue("q", "", quota("f", 6), quota("g", 9), quota("h", 12));
      world = engine;
      Map<String, String> holders = new TreeMap<>();
      for (int step = 0; step < 60; step++) {
        String family = "family" + random.nextInt(4);
        String flavor = FLAVORS.get(random.nextInt(3));
        String name = family + "-" + flavor;
        boolean holds = name.equals(holders.get(family));
        if (random.nextInt(4) == 0) {
          engine.finish(name);
          holders.remove(family, name);
        } else if (!holds) {
          submit(family, flavor, 6, family.compareTo("family2") < 0);
        }
        for (String admitted : engine.admitted()) {
          String of = admitted.substring(0, admitted.indexOf('-'));
          assertThat(holders.put(of, admitted)).as("second reservation of " + of).isNull();
        }
        for (String preempted : engine.preempted()) {
          assertThat(preempted).endsWith("FlavorMigration");
          String evicted = preempted.substring(0, preempted.indexOf(' '));
          assertThat(holders).containsValue(evicted);
          migrations++;
          if (random.nextBoolean()) {
            engine.finish(evicted);
            holders.values().remove(evicted);
          }
        }
      }
    }
    assertThat(migrations).isGreaterThan(20);
  }
}
