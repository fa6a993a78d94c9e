package dev.sluice.reference;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/**
 * Random worlds of nodes, queues and Workloads, played to the engine. Each admission is judged with
 * the reference's tree: whether its nodes had room for it at that moment, and whether it is as the
 * Workload asked; each preemption, whether it makes room; and in the end, whether nobody waits for
 * whom there is room.
 */
class TopologyWorldsTest {

  private static final int WORLDS = 250;

  private static long worlds() {
    long usual = WORLDS * Long.getLong("sluice.property.factor", 1);
    return Long.getLong("sluice.property.steps", usual);
  }

  @Test
  void nothingIsAssignedTwiceAndNobodyWaitsForFreeRoom() {
    int admissions = 0;
    int waiting = 0;
    for (long seed = 1; seed <= worlds(); seed++) {
      TopologyWorld world = new TopologyWorld(seed, false);
      world.play(60);
      admissions += world.admissions;
      waiting += world.waiting;
    }
    System.out.printf("topology worlds: admissions=%d found waiting=%d%n", admissions, waiting);
    assertThat(admissions).isGreaterThan((int) worlds());
    assertThat(waiting).isGreaterThan((int) worlds());
  }

  @Test
  void preemptionMakesRoomForWhomItIsMeant() {
    int admissions = 0;
    int preemptions = 0;
    for (long seed = 1; seed <= worlds(); seed++) {
      TopologyWorld world = new TopologyWorld(seed, true);
      world.play(60);
      admissions += world.admissions;
      preemptions += world.preemptions;
    }
    System.out.printf("topology worlds: admissions=%d preemptions=%d%n", admissions, preemptions);
    assertThat(preemptions).isGreaterThan((int) worlds() / 2);
  }
}
