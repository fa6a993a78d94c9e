package dev.sluice.lab.bench;

import dev.sluice.lab.bench.Schedule.Creation;

/**
 * Names and paths of a run's objects, distinct for each run.
 *
 * @param run the run's own name: a DNS label
 * @param version version of the API, such as v1beta2
 */
record BenchmarkTarget(String run, String version) {

  static final String GROUP = "kueue.x-k8s.io";

  /** A name for a run that begins now, distinct from those of runs before it. */
  static String newRun() {
    return "bench-" + Long.toString(System.currentTimeMillis(), 36);
  }

  String namespace() {
    return run;
  }

  String flavor() {
    return run;
  }

  /** The name of the Topology, and the value of the label that all nodes of the run have. */
  String topology() {
    return run;
  }

  String node(int rack, int number) {
    return run + "-rack-" + rack + "-node-" + number;
  }

  String cohort(int number) {
    return run + "-cohort-" + number;
  }

  /** The name of a ClusterQueue and of its LocalQueue. */
  String queue(int number) {
    return run + "-queue-" + number;
  }

  String priorityClass(int priority) {
    return run + "-priority-" + (priority < 0 ? "minus-" : "") + Math.abs((long) priority);
  }

  /** The name of a workload, from which {@link #ordinal} derives its number. */
  String work(Creation creation) {
    return creation.workClass().name() + "-" + creation.ordinal();
  }

  static int ordinal(String name) {
    return Integer.parseInt(name.substring(name.lastIndexOf('-') + 1));
  }

  /** Path of a cluster-scoped collection of the served API. */
  String wide(String resource) {
    return "/apis/" + GROUP + "/" + version + "/" + resource;
  }

  /** Path of a collection of the served API in the run's namespace. */
  String namespaced(String resource) {
    return "/apis/" + GROUP + "/" + version + "/namespaces/" + namespace() + "/" + resource;
  }

  /** Path of the Jobs. */
  String jobs() {
    return "/apis/batch/v1/namespaces/" + namespace() + "/jobs";
  }
}
