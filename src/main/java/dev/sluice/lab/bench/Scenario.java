package dev.sluice.lab.bench;

import java.util.List;

/**
 * What a benchmark makes and runs.
 *
 * @param name as on the command line
 * @param description one line for people
 * @param form what is created for each piece of work
 * @param cohorts number of cohorts
 * @param clusterQueuesPerCohort each with one LocalQueue
 * @param clusterQueue what each ClusterQueue says
 * @param classes the work that each queue is given
 */
public record Scenario(
    String name,
    String description,
    Form form,
    int cohorts,
    int clusterQueuesPerCohort,
    Queue clusterQueue,
    List<WorkClass> classes) {

  /** What stands for a piece of work. */
  public enum Form {
    /** A Workload without a job; the benchmark plays the job. */
    WORKLOAD("Workload"),
    /** A batch/v1 Job, whose pods are played by the control plane. */
    JOB("Job");

    private final String word;

    Form(String word) {
      this.word = word;
    }

    /** As in scenario files. */
    public String word() {
      return word;
    }
  }

  /**
   * A ClusterQueue, with CPU as its only resource, on the scenario's only flavor.
   *
   * @param nominalCpu nominal quota, in CPUs
   * @param borrowingLimitCpu most that it borrows, in CPUs
   * @param reclaimWithinCohort the API's word
   * @param withinClusterQueue the API's word
   */
  public record Queue(
      int nominalCpu,
      int borrowingLimitCpu,
      String reclaimWithinCohort,
      String withinClusterQueue) {}

  /**
   * Equal pieces of work that a queue is given one after the other.
   *
   * @param name names it in figures
   * @param count how many, per queue
   * @param cpu what one asks for, in CPUs
   * @param priority of each
   * @param runMillis how long one runs, once it is admitted
   * @param everyMillis time between two creations; the first is made at the start
   */
  public record WorkClass(
      String name, int count, int cpu, int priority, int runMillis, int everyMillis) {}

  /** Copies the list. */
  public Scenario {
    classes = List.copyOf(classes);
  }

  /** All ClusterQueues. */
  public int queues() {
    return cohorts * clusterQueuesPerCohort;
  }

  /** All pieces of work. */
  public int size() {
    return queues() * classes.stream().mapToInt(WorkClass::count).sum();
  }

  /** The nominal quota of all queues, in CPUs. */
  public long nominalCpu() {
    return (long) queues() * clusterQueue.nominalCpu();
  }

  /**
   * Seconds that the work takes when no quota is ever idle and nothing costs time: what all of it
   * asks for, divided by the quota; at least until the last one that is created has run.
   */
  public double idealSeconds() {
    double cpuMillis = 0;
    double lastEnds = 0;
    for (WorkClass each : classes) {
      cpuMillis += (double) each.count() * each.cpu() * each.runMillis();
      lastEnds = Math.max(lastEnds, (each.count() - 1.0) * each.everyMillis() + each.runMillis());
    }
    return Math.max(cpuMillis / clusterQueue.nominalCpu(), lastEnds) / 1000;
  }
}
