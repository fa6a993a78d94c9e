package dev.sluice.lab.bench;

import dev.sluice.lab.bench.Scenario.WorkClass;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** The creation times of all workloads, in order of time. */
final class Schedule {

  /**
   * One creation.
   *
   * @param ordinal its number in the schedule, from 0
   * @param atMillis time since the start
   * @param queue number of its queue, from 0
   * @param workClass class of the workload
   */
  record Creation(int ordinal, long atMillis, int queue, WorkClass workClass) {}

  private record Moment(long atMillis, int queue, WorkClass workClass) {}

  private Schedule() {}

  /** The creations of a scenario. */
  static List<Creation> of(Scenario scenario) {
    List<Moment> moments = new ArrayList<>(scenario.size());
    for (int queue = 0; queue < scenario.queues(); queue++) {
      for (WorkClass each : scenario.classes()) {
        for (int number = 0; number < each.count(); number++) {
          moments.add(new Moment((long) number * each.everyMillis(), queue, each));
        }
      }
    }
    moments.sort(Comparator.comparingLong(Moment::atMillis));
    List<Creation> creations = new ArrayList<>(moments.size());
    for (Moment moment : moments) {
      creations.add(
          new Creation(creations.size(), moment.atMillis(), moment.queue(), moment.workClass()));
    }
    return creations;
  }
}
