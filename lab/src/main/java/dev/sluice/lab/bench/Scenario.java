package dev.sluice.lab.bench;

import java.util.List;
import java.util.Optional;

/**
 * Description of a benchmark.
 *
 * @param name as on the command line
 * @param description one line of text
 * @param form the kind of object that is created for each workload
 * @param cohorts number of cohorts
 * @param clusterQueuesPerCohort number of ClusterQueues per cohort, each with one LocalQueue
 * @param clusterQueue settings of each ClusterQueue
 * @param nodes the nodes that pods are placed on; empty if nothing is placed
 * @param classes the work of each queue
 */
public record Scenario(
    String name,
    String description,
    Form form,
    int cohorts,
    int clusterQueuesPerCohort,
    Queue clusterQueue,
    Optional<Nodes> nodes,
    List<WorkClass> classes) {

  /** The kind of object that represents a workload. */
  public enum Form {
    /** A Workload without a job; the benchmark acts as the job's controller. */
    WORKLOAD("Workload", 68),
    /** A batch/v1 Job, whose pods the control plane simulates. */
    JOB("Job", 9.6);

    private final String word;
    private final double perSecondOnTwoCores;

    Form(String word, double perSecondOnTwoCores) {
      this.word = word;
      this.perSecondOnTwoCores = perSecondOnTwoCores;
    }

    /** The name in scenario files. */
    public String word() {
      return word;
    }
  }

  /**
   * Settings of a ClusterQueue, with CPU as its only resource, on the scenario's only flavor.
   *
   * @param nominalCpu nominal quota, in CPUs
   * @param borrowingLimitCpu borrowing limit, in CPUs
   * @param reclaimWithinCohort value of the API field
   * @param withinClusterQueue value of the API field
   */
  public record Queue(
      int nominalCpu,
      int borrowingLimitCpu,
      String reclaimWithinCohort,
      String withinClusterQueue) {}

  /**
   * Nodes in racks, which a topology describes.
   *
   * @param racks number of racks
   * @param perRack number of nodes in each
   * @param cpu what each node has, in CPUs
   */
  public record Nodes(int racks, int perRack, int cpu) {

    /** The number of nodes. */
    public int count() {
      return racks * perRack;
    }
  }

  /** What the pods of a workload ask of the topology, at the level of racks. */
  public enum PodPlacing {
    /** Nothing: each pod may be anywhere, if pods are placed at all. */
    ANYWHERE("unconstrained"),
    /** One rack, if there is room. */
    PREFERRED("preferred"),
    /** One rack. */
    REQUIRED("required");

    private final String word;

    PodPlacing(String word) {
      this.word = word;
    }

    /** The name in scenario files and of the API's field. */
    public String word() {
      return word;
    }
  }

  /**
   * Equal workloads that a queue receives one after the other.
   *
   * @param name name in the figures
   * @param count number per queue
   * @param pods number of pods of each
   * @param placement what the pods ask of the topology
   * @param cpu request of each pod, in CPUs
   * @param priority priority of each
   * @param runMillis run time of each after admission
   * @param everyMillis time between two creations; the first is created at the start
   */
  public record WorkClass(
      String name,
      int count,
      int pods,
      PodPlacing placement,
      int cpu,
      int priority,
      int runMillis,
      int everyMillis) {

    /** Workloads of one pod each. */
    public WorkClass(
        String name, int count, int cpu, int priority, int runMillis, int everyMillis) {
      this(name, count, 1, PodPlacing.ANYWHERE, cpu, priority, runMillis, everyMillis);
    }

    /** The request of all pods, in CPUs. */
    public long totalCpu() {
      return (long) pods * cpu;
    }
  }

  /** A scenario in which nothing is placed. */
  public Scenario(
      String name,
      String description,
      Form form,
      int cohorts,
      int clusterQueuesPerCohort,
      Queue clusterQueue,
      List<WorkClass> classes) {
    this(
        name,
        description,
        form,
        cohorts,
        clusterQueuesPerCohort,
        clusterQueue,
        Optional.empty(),
        classes);
  }

  /** Copies the list. */
  public Scenario {
    classes = List.copyOf(classes);
  }

  /** The same work without jobs, under another name. */
  public Scenario asWorkloads(String otherName) {
    return new Scenario(
        otherName,
        description,
        Form.WORKLOAD,
        cohorts,
        clusterQueuesPerCohort,
        clusterQueue,
        classes);
  }

  /** The number of ClusterQueues. */
  public int queues() {
    return cohorts * clusterQueuesPerCohort;
  }

  /** The number of workloads. */
  public int size() {
    return queues() * classes.stream().mapToInt(WorkClass::count).sum();
  }

  /** The nominal quota of all queues, in CPUs. */
  public long nominalCpu() {
    return (long) queues() * clusterQueue.nominalCpu();
  }

  /**
   * Run time in seconds if quota were never idle and nothing else took time: the sum of all
   * requests divided by the quota, but at least until the last created workload has run.
   */
  public double idealSeconds() {
    double cpuMillis = 0;
    double lastEnds = 0;
    for (WorkClass each : classes) {
      cpuMillis += (double) each.count() * each.totalCpu() * each.runMillis();
      lastEnds = Math.max(lastEnds, (each.count() - 1.0) * each.everyMillis() + each.runMillis());
    }
    return Math.max(cpuMillis / clusterQueue.nominalCpu(), lastEnds) / 1000;
  }

  /**
   * About how many seconds the run takes on a machine with two cores: what API server, operator and
   * the programs for pods together get through there, as measured with the baseline and 1,500 Jobs
   * (docs/performance.md), or longer if the schedule asks for it.
   */
  public double secondsOnTwoCores() {
    return Math.max(idealSeconds(), size() / form.perSecondOnTwoCores);
  }
}
