package dev.sluice.lab.bench;

import dev.sluice.lab.bench.Schedule.Creation;

/**
 * Where a run's objects are, and how they are called, so that several runs don't meet.
 *
 * @param run the run's own name: a DNS label
 * @param version of the API that is spoken, such as v1beta2
 */
record BenchmarkTarget(String run, String version) {

  static final String GROUP = "kueue.x-k8s.io";

  String namespace() {
    return run;
  }

  String flavor() {
    return run;
  }

  String cohort(int number) {
    return run + "-cohort-" + number;
  }

  /** Also the LocalQueue's name. */
  String queue(int number) {
    return run + "-queue-" + number;
  }

  String priorityClass(int priority) {
    return run + "-priority-" + (priority < 0 ? "minus-" : "") + Math.abs((long) priority);
  }

  /** The name of a piece of work, from which {@link #ordinal} finds it again. */
  String work(Creation creation) {
    return creation.workClass().name() + "-" + creation.ordinal();
  }

  static int ordinal(String name) {
    return Integer.parseInt(name.substring(name.lastIndexOf('-') + 1));
  }

  /** Path of a cluster-wide collection of the served API. */
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
