package dev.sluice.lab.bench;

import dev.sluice.lab.bench.Scenario.WorkClass;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** When each piece of work is created, in order of time. */
final class Schedule {

  /**
   * One creation.
   *
   * @param ordinal its place in the schedule, from 0
   * @param atMillis when, from the start on
   * @param queue its queue, from 0
   * @param workClass what it is
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
